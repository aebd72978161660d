package document

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ax-check/ax-check/internal/effect"
)

// brief writes an effect as "class target before -> after (detail)".
func brief(effects []effect.Effect) []string {
	var lines []string
	for _, e := range effects {
		line := string(e.Class) + " " + e.Target
		if e.Before != nil {
			line += " " + *e.Before + " ->"
		}
		if e.After != nil {
			line += " " + *e.After
		}
		if e.Detail != "" {
			line += " (" + e.Detail + ")"
		}
		if e.Volatile {
			line = "volatile " + line
		}
		lines = append(lines, line)
	}
	return lines
}

func TestCompare(t *testing.T) {
	tests := []struct {
		name          string
		file          string
		before, after string
		want          []string
	}{
		{"equal", "", `{"a":1}`, `{"a":1}`, nil},
		{"member added", "", `{"a":1}`, `{"a":1,"b":{"c":2}}`, []string{`append #/b {"c":2}`}},
		{"member removed", "", `{"a":1,"b":2}`, `{"a":1}`, []string{`delete #/b 2 ->`}},
		{"value replaced", "", `{"a":{"b":1}}`, `{"a":{"b":2}}`, []string{`modify #/a/b 1 -> 2`}},
		{"value to null", "", `{"a":1}`, `{"a":null}`, []string{`modify #/a 1 -> null`}},
		{"type replaced", "", `{"a":[1]}`, `{"a":{"x":1}}`, []string{`modify #/a [1] -> {"x":1}`}},
		{"whole document replaced", "", `{"a":1}`, `[1]`, []string{`modify  {"a":1} -> [1]`}},
		{"escaped key", "", `{}`, `{"a/b~c":1}`, []string{`append #/a~1b~0c 1`}},
		{
			"element added at the end", "", `{"a":[1,2]}`, `{"a":[1,2,3]}`,
			[]string{`append #/a/2 3`},
		},
		{
			"element added in front", "", `[{"x":1},{"x":2}]`, `[{"x":0},{"x":1},{"x":2}]`,
			[]string{`append #/0 {"x":0}`},
		},
		{
			"elements added in several places", "", `[1,2,3,4]`, `[0,1,2,9,3,4,5]`,
			[]string{`append #/0 0`, `append #/3 9`, `append #/6 5`},
		},
		{"element removed", "", `[1,2,3]`, `[1,3]`, []string{`delete #/1 2 ->`}},
		{"element replaced", "", `["a","b","c"]`, `["a","x","c"]`, []string{`modify #/1 "b" -> "x"`}},
		{
			"element replaced beside an addition", "", `["a","b","c"]`, `["a","x","c","d"]`,
			[]string{`modify #/1 "b" -> "x"`, `append #/3 "d"`},
		},
		{
			"element found by id", "",
			`[{"id":1,"s":"new"},{"id":2,"s":"new"}]`,
			`[{"id":3,"s":"new"},{"id":1,"s":"done"},{"id":2,"s":"new"}]`,
			[]string{`modify #/1/s "new" -> "done"`, `append #/0 {"id":3,"s":"new"}`},
		},
		{
			"member added to an element found by id beside a new element", "",
			`[{"id":1}]`, `[{"id":2},{"id":1,"tag":"x"}]`,
			[]string{`append #/1/tag "x"`, `append #/0 {"id":2}`},
		},
		{
			"identity by a member that is no usual one", "",
			`[{"sku":"a","n":1},{"sku":"b","n":1}]`, `[{"sku":"c","n":1},{"sku":"a","n":2},{"sku":"b","n":1}]`,
			[]string{`modify #/1/n 1 -> 2`, `append #/0 {"sku":"c","n":1}`},
		},
		{
			"other id is another element", "", `[{"id":1,"s":"x"}]`, `[{"id":2,"s":"x"}]`,
			[]string{`delete #/0 {"id":1,"s":"x"} ->`, `append #/0 {"id":2,"s":"x"}`},
		},
		{"order of an array", "", `[1,2,3]`, `[3,1,2]`, []string{`modify  [1,2,3] -> [3,1,2] (order only)`}},
		{
			"order and an addition", "", `{"l":[1,2]}`, `{"l":[2,1,3]}`,
			[]string{`append #/l/2 3`, `modify #/l [1,2] -> [2,1,3] (order changed)`},
		},
		{"repeated element added", "", `[1,1,2]`, `[1,1,1,2]`, []string{`append #/2 1`}},
		{
			"formatting only", "", `{"a":1,"b":[1,2]}`, "{\n  \"b\": [1, 2],\n  \"a\": 1\n}\n",
			[]string{`volatile modify  (formatting only)`},
		},
		{"same number", "", `[1,100,0.5,-0]`, `[1.0,1e2,5E-1,0]`, []string{`volatile modify  (formatting only)`}},
		{"another number", "", `[10]`, `[1e2]`, []string{`modify #/0 10 -> 1e2`}},
		{"same string", "", `["\u00e9\/"]`, `["é/"]`, []string{`volatile modify  (formatting only)`}},
		{
			"line added at the end", "", "{\"n\":1}\n{\"n\":2}\n", "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n",
			[]string{`append #/2 {"n":3}`},
		},
		{
			"line added in front", "", "{\"n\":1}\n{\"n\":2}\n", "{\"n\":0}\n{\"n\":1}\n{\"n\":2}\n",
			[]string{`append #/0 {"n":0}`},
		},
		{
			"second line makes JSON Lines", "", "{\"n\":1}", "{\"n\":1}\n{\"n\":2}\n",
			[]string{`append #/1 {"n":2}`},
		},
		{
			"line changed", "", "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n", "{\"n\":1}\n{\"n\":5}\n{\"n\":3}\n",
			[]string{`modify #/1/n 2 -> 5`},
		},
		{"line removed", "", "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n", "{\"n\":1}\n{\"n\":3}\n", []string{`delete #/1 {"n":2} ->`}},
		{
			"line spaced otherwise", "", "{\"n\":1}\n{\"n\":2}\n", "{\"n\": 1}\n\n{\"n\":2}\n",
			[]string{`volatile modify  (formatting only)`},
		},
		{
			"one line of a file that claims to be JSON Lines", "x.jsonl", "{\"n\":1}\n", "{\"n\":2}\n",
			[]string{`modify #/0/n 1 -> 2`},
		},
		{"bare value of a file that claims to be JSON", "x.json", "1", "2", []string{`modify  1 -> 2`}},
		{"byte order mark", "", "\ufeff{\"a\":1}", `{"a":1}`, []string{`volatile modify  (formatting only)`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := Compare([]byte(tt.before), []byte(tt.after), tt.file)
			if !ok {
				t.Fatal("Compare took the texts for no document")
			}
			if diff := cmp.Diff(tt.want, brief(got)); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCompareRefuses(t *testing.T) {
	tests := []struct{ name, before, after string }{
		{"text", "hello", "hello world"},
		{"bare numbers", "1\n2\n", "0\n1\n2\n"},
		{"one side text", `{"a":1}`, "a=1"},
		{"duplicate keys", `{"a":1}`, `{"a":1,"a":2}`},
		{"duplicate keys in an equal line", "{\"a\":1,\"a\":1}\n{}\n", "{\"a\":1,\"a\":1}\n{}\n{}\n"},
		{"truncated", `{"a":1}`, `{"a":1`},
		{"trailing text", `{"a":1}`, `{"a":1} x`},
		{"too deep", `{"a":1}`, strings.Repeat("[", maxDepth+2) + strings.Repeat("]", maxDepth+2)},
		{"empty before", "", `{"a":1}`},
		{"empty after", "{\"a\":1}\n{\"a\":2}\n", "\n"},
		{"invalid UTF-8", `{"a":1}`, "{\"a\":\"\xff\"}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := Compare([]byte(tt.before), []byte(tt.after), ""); ok {
				t.Errorf("Compare gave %q, want a refusal", brief(got))
			}
		})
	}
}

func TestCompareCapsByClass(t *testing.T) {
	build := func(n, last int) []byte {
		var b strings.Builder
		b.WriteString(`{"kept":1`)
		for i := range n {
			fmt.Fprintf(&b, `,"k%03d":%d`, i, i)
		}
		fmt.Fprintf(&b, `,"last":%d}`, last)
		return []byte(b.String())
	}
	before := []byte(`{"kept":1,"last":0}`)
	flood, _ := Compare(before, build(60, 1), "")
	classes := map[effect.Class]int{}
	details := []string{}
	for _, e := range flood {
		classes[e.Class]++
		if e.Detail != "" {
			details = append(details, e.Target+" "+e.Detail)
		}
	}
	if diff := cmp.Diff(map[effect.Class]int{effect.Append: maxEffects, effect.Modify: 1}, classes); diff != "" {
		t.Errorf("effects by class (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"#/k049 and 10 more"}, details); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
	larger, _ := Compare(before, build(61, 1), "")
	if flood[len(flood)-1].Digest == larger[len(larger)-1].Digest {
		t.Error("two floods that differ beyond the cap have the same last digest")
	}
}

func TestExcerptIsShortAndValid(t *testing.T) {
	got, ok := Compare([]byte(`{"a":"x"}`), []byte(`{"a":"`+strings.Repeat("é", 10_000)+`"}`), "")
	if !ok || len(got) != 1 {
		t.Fatalf("Compare gave %d effects, ok %v", len(got), ok)
	}
	if n := len(*got[0].After); n > excerptBytes || !got[0].Truncated || strings.ContainsRune(*got[0].After, '\ufffd') {
		t.Errorf("excerpt of %d bytes, truncated %v", n, got[0].Truncated)
	}
}

func TestCanonicalNumber(t *testing.T) {
	tests := []struct {
		texts []string
		want  string
	}{
		{[]string{"0", "-0", "0.00", "0e9"}, "0"},
		{[]string{"1", "1.0", "10e-1", "0.1E+1"}, "1e0"},
		{[]string{"-1200", "-1.2e3"}, "-12e2"},
		{[]string{"0.05", "5e-2"}, "5e-2"},
		{[]string{"1e99999999999999999999"}, "1e99999999999999999999"},
	}
	for _, tt := range tests {
		for _, text := range tt.texts {
			if got := canonicalNumber(text); got != tt.want {
				t.Errorf("canonicalNumber(%q) = %q, want %q", text, got, tt.want)
			}
		}
	}
}

// A long array whose elements all differ from their neighbours cannot be put
// into one table; the additions must be found all the same.
func TestLongArray(t *testing.T) {
	var before, after []string
	for i := range 5000 {
		if i%1000 == 500 {
			after = append(after, fmt.Sprintf(`{"new":%d}`, i))
		}
		element := fmt.Sprintf(`{"n":%d}`, i)
		before, after = append(before, element), append(after, element)
	}
	got, ok := Compare([]byte("["+strings.Join(before, ",")+"]"), []byte("["+strings.Join(after, ",")+"]"), "")
	if !ok {
		t.Fatal("refused")
	}
	want := []string{
		`append #/500 {"new":500}`, `append #/1501 {"new":1500}`, `append #/2502 {"new":2500}`,
		`append #/3503 {"new":3500}`, `append #/4504 {"new":4500}`,
	}
	if diff := cmp.Diff(want, brief(got)); diff != "" {
		t.Errorf("effects (-want +got):\n%s", diff)
	}
}

// longLog is about size bytes of JSON Lines, and the same with a record more.
func longLog(size int) (before, after []byte) {
	line := `{"time":"2026-01-01T00:00:00Z","level":"info","message":"a line of a log of ordinary length","n":1}` + "\n"
	log := strings.Repeat(line, size/len(line))
	at := len(line) * 1000
	return []byte(log), []byte(log[:at] + `{"n":2}` + "\n" + log[at:])
}

func TestLongLog(t *testing.T) {
	before, after := longLog(1 << 20)
	got, ok := Compare(before, after, "app.log")
	if diff := cmp.Diff([]string{`append #/1000 {"n":2}`}, brief(got)); diff != "" || !ok {
		t.Errorf("ok %v, effects (-want +got):\n%s", ok, diff)
	}
}

func BenchmarkLongLog(b *testing.B) {
	before, after := longLog(50 << 20)
	b.SetBytes(int64(len(after)))
	for b.Loop() {
		Compare(before, after, "app.log")
	}
}

func FuzzCompare(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"a":[1,2,{"id":1}]}`, `{"a":[2,1,{"id":1,"x":null}]}`},
		{"{}\n[]\n", "[]\n{}\n{}\n"},
		{`[1e400,-0.0,"\ud83d\ude00"]`, `[]`},
		{"\ufeff1", "1 "},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]), "x.jsonl")
		f.Add([]byte(seed[0]), []byte(seed[1]), "x")
	}
	f.Fuzz(func(t *testing.T, before, after []byte, name string) {
		if got, _ := Compare(before, before, name); len(got) > 0 {
			t.Errorf("equal texts have effects: %q", brief(got))
		}
		there, ok := Compare(before, after, name)
		back, okBack := Compare(after, before, name)
		if ok != okBack {
			t.Errorf("ok %v one way, %v the other", ok, okBack)
		}
		if (len(there) == 0) != (len(back) == 0) {
			t.Errorf("a change one way (%q) and none the other (%q)", brief(there), brief(back))
		}
		if ok && string(before) != string(after) && len(there) == 0 {
			t.Error("different texts have no effect")
		}
	})
}
