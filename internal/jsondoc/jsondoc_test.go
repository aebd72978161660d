package jsondoc_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ax-check/ax-check/internal/jsondoc"
	"github.com/google/go-cmp/cmp"
)

func parse(t *testing.T, text string) *jsondoc.Doc {
	t.Helper()
	doc, err := jsondoc.Parse([]byte(text), jsondoc.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// walk visits every value of the tree, parents first.
func walk(n *jsondoc.Node, visit func(*jsondoc.Node)) {
	visit(n)
	for _, m := range n.Members {
		walk(m.Value, visit)
	}
	for _, item := range n.Items {
		walk(item, visit)
	}
}

func TestSpansAndPlaces(t *testing.T) {
	doc := parse(t, "{\"a\": [1, true],\n \"é/~\": {\"b\" : \"x\\ny\"}, \"n\":null }\n")
	var got []string
	walk(doc.Root, func(n *jsondoc.Node) {
		line, column := n.LineCol()
		got = append(got, fmt.Sprintf("%d:%d %q %v %.8s", line, column, n.Pointer(), n.Kind, n.Raw()))
	})
	want := []string{
		`1:1 "" an object {"a": [1`,
		`1:7 "/a" an array [1, true`,
		`1:8 "/a/0" a number 1`,
		`1:11 "/a/1" a boolean true`,
		`2:9 "/é~1~0" an object {"b" : "`,
		`2:16 "/é~1~0/b" a string "x\ny"`,
		`2:29 "/n" null null`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestValues(t *testing.T) {
	root := parse(t, `{"s":"a\u00e9\ud800","b":false,"n":-1.5e1,"Key":1,"key":2,"key":3,"huge":1e999}`).Root
	s, _ := root.Get("s").Text()
	b, isBool := root.Get("b").Bool()
	n, _ := root.Get("n").Number()
	last, _ := root.Get("key").Number()
	_, huge := root.Get("huge").Number()
	_, notText := root.Get("n").Text()
	got := []any{s, b, isBool, n, last, huge, notText, root.Get("KEY") == nil, len(root.Members), root.Get("s").Get("x") == nil}
	want := []any{"aé\ufffd", false, true, -15.0, 3.0, false, false, true, 7, true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if m := root.Members[1]; string(`"b"`) != `{"s":"a\u00e9\ud800","b"`[m.KeyStart:m.KeyEnd] {
		t.Errorf("key span is %d to %d", m.KeyStart, m.KeyEnd)
	}
}

func TestToleratesInvalidUTF8AndByteOrderMark(t *testing.T) {
	doc := parse(t, "\xef\xbb\xbf{\"a\xff\": \"b\xfe\"}")
	value, _ := doc.Root.Get("a\ufffd").Text()
	if value != "b\ufffd" {
		t.Errorf("got %q", value)
	}
	if doc.Root.Start != 3 {
		t.Errorf("root starts at %d, want 3", doc.Root.Start)
	}
}

func TestErrorsInPlainWords(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "line 1 column 1: the document is empty"},
		{" \n ", "line 2 column 2: the document is empty"},
		{"{\n\"a\": [1,\n {\"b\": 2", "line 3 column 9: unexpected end of file: the object opened at line 3 column 2 is never closed"},
		{"[1, 2", "line 1 column 6: unexpected end of file: the array opened at line 1 column 1 is never closed"},
		{`{"a": "b`, "line 1 column 9: unexpected end of file: the object opened at line 1 column 1 is never closed"},
		{`"b`, "line 1 column 3: unexpected end of file"},
		{`{"a": 1,}`, "line 1 column 8: a comma before the closing }; remove it"},
		{"[1,\n]", "line 1 column 3: a comma before the closing ]; remove it"},
		{`{'a': 1}`, "line 1 column 2: single quotes are not JSON; use double quotes"},
		{"{ // note\n}", "line 1 column 3: comments are not JSON; remove it"},
		{`{"a": NaN}`, "line 1 column 7: NaN is not a JSON value"},
		{`{"a": True}`, "line 1 column 7: True is not a JSON value"},
		{`{a: 1}`, "line 1 column 2: a key must be a string in double quotes"},
		{`{"a": undefined}`, "line 1 column 7: undefined is not a JSON value"},
		{"{\"a\": tru\n", "line 2 column 1: unexpected end of file: the object opened at line 1 column 1 is never closed"},
		{"[tru\n]", "line 1 column 5: tru is not a JSON value"},
		{"[\"a\nb\"]", "line 1 column 4: a line break or tab inside a string; write \\n or \\t"},
		{"[\"\x01\"]", "line 1 column 3: a control character (U+0001); inside a string write \\u0001"},
		{`{"a": 1 "b": 2}`, `line 1 column 9: invalid character '"' after object value (expecting ',' or '}')`},
		{`{"a" 1}`, `line 1 column 6: invalid character '1' after object name (expecting ':')`},
		{`{"a": 1, b: 2}`, "line 1 column 10: a key must be a string in double quotes"},
		{`{1: 2}`, "line 1 column 2: a key must be a string in double quotes"},
		{`[1}`, "line 1 column 3: unexpected }"},
		{"{}\n{}", "line 2 column 1: a second JSON value after the first; one document holds one value"},
		{"{} x", "line 1 column 4: unexpected text after the end of the JSON value"},
		{"\xff\xfe[\x00]\x00", "line 1 column 1: the text looks like UTF-16; JSON must be UTF-8"},
		{"<html>", "line 1 column 1: invalid character '<' at start of value"},
	} {
		_, err := jsondoc.Parse([]byte(c.text), jsondoc.Limits{})
		if got := fmt.Sprint(err); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

func TestLimits(t *testing.T) {
	limits := jsondoc.Limits{Bytes: 20, Depth: 3, Values: 5}
	for _, c := range []struct{ text, want string }{
		{`[[[1]]]`, "<nil>"},
		{`[[[[1]]]]`, "line 1 column 4: more than 3 arrays and objects inside one another"},
		{`[1,2,3,4]`, "<nil>"},
		{`[1,2,3,4,5]`, "line 1 column 9: more than 5 values in one document"},
		{strings.Repeat(" ", 21), "line 1 column 1: the document has 21 bytes, more than the limit of 20"},
	} {
		_, err := jsondoc.Parse([]byte(c.text), limits)
		if got := fmt.Sprint(err); got != c.want {
			t.Errorf("%q: got %s, want %s", c.text, got, c.want)
		}
	}
}

// A column is found without reading its line from the start.
func TestColumnsOnOneLongLine(t *testing.T) {
	text := `["` + strings.Repeat("é", 5000) + `",` + "\"x\"]"
	doc := parse(t, text)
	if line, column := doc.Root.Items[1].LineCol(); line != 1 || column != 5005 {
		t.Errorf("got %d:%d, want 1:5005", line, column)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"a":[1,true,null,"x"]}`, `[{"a":1,"a":2}]`, "\xef\xbb\xbf[]", `{"a":`, "[\"\xff\"]", `[1,]`, "{\n}x"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := jsondoc.Parse(text, jsondoc.Limits{Depth: 100})
		if err != nil {
			if _, ok := err.(*jsondoc.Error); !ok {
				t.Fatalf("error is a %T", err)
			}
			return
		}
		walk(doc.Root, func(n *jsondoc.Node) { checkNode(t, text, n) })
		if trimmed := bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")); utf8.Valid(trimmed) && !json.Valid(trimmed) {
			t.Errorf("accepted %q, which is not JSON", text)
		}
	})
}

// checkNode holds every value against encoding/json and against a column
// counted the slow way.
func checkNode(t *testing.T, text []byte, n *jsondoc.Node) {
	if utf8.Valid(n.Raw()) && !json.Valid(n.Raw()) {
		t.Fatalf("span %d to %d of %q is not a value", n.Start, n.End, text)
	}
	line, column := n.LineCol()
	before := text[:n.Start]
	lineStart := bytes.LastIndexByte(before, '\n') + 1
	wantLine := bytes.Count(before, []byte("\n")) + 1
	if line != wantLine || utf8.Valid(before) && column != utf8.RuneCount(before[lineStart:])+1 {
		t.Fatalf("%q: value at byte %d is at %d:%d", text, n.Start, line, column)
	}
	for _, m := range n.Members {
		var key string
		if raw := text[m.KeyStart:m.KeyEnd]; utf8.Valid(raw) && (json.Unmarshal(raw, &key) != nil || key != m.Key) {
			t.Fatalf("key %q is not at %d to %d of %q", m.Key, m.KeyStart, m.KeyEnd, text)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	tool := `{"name":"get_invoice","description":"` + strings.Repeat("words ", 80) + `","inputSchema":{"type":"object","properties":{"id":{"type":"string"}}}}`
	text := []byte("[" + strings.Repeat(tool+",", 999) + tool + "]")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := jsondoc.Parse(text, jsondoc.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}
