package toolset_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ax-check/ax-check/internal/hint"
	"github.com/ax-check/ax-check/internal/toolset"
	"github.com/google/go-cmp/cmp"
)

// summary is a tool in one line: index, pointer, name.
func summary(set toolset.Set) []string {
	var lines []string
	for _, tool := range set.Tools {
		lines = append(lines, fmt.Sprintf("%d %s %s", tool.Index, tool.Pointer, tool.Label()))
	}
	return lines
}

func TestParseAcceptsEveryShape(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"array", `[{"name":"a"},{"name":"b"}]`, []string{`0 /0 "a"`, `1 /1 "b"`}},
		{"empty array", `[]`, nil},
		{"one tool", `{"name":"a"}`, []string{`0  "a"`}},
		{"one tool without a name", `{"inputSchema":{}}`, []string{`0  the entry at index 0`}},
		{"result", `{"tools":[{"name":"a"}],"nextCursor":""}`, []string{`0 /tools/0 "a"`}},
		{"response", `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"}]}}`, []string{`0 /result/tools/0 "a"`}},
		{"response without jsonrpc", `{"result":{"tools":[{"name":"a"}]}}`, []string{`0 /result/tools/0 "a"`}},
		{"pages", `[{"tools":[{"name":"a"}]},{"tools":[]},{"tools":[{"name":"b"}]}]`, []string{`0 /0/tools/0 "a"`, `1 /2/tools/0 "b"`}},
		{"responses", `[{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"}]}},{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"b"}]}}]`, []string{`0 /0/result/tools/0 "a"`, `1 /1/result/tools/0 "b"`}},
		{"malformed entries stay", `["x",1,null,{"name":2},{"name":" "},{"name":"a"}]`, []string{
			"0 /0 the entry at index 0", "1 /1 the entry at index 1", "2 /2 the entry at index 2", "3 /3 the entry at index 3", "4 /4 the entry at index 4", `5 /5 "a"`,
		}},
		{"last of duplicate keys", `{"tools":[],"tools":[{"name":"a","name":"b"}]}`, []string{`0 /tools/0 "b"`}},
		{"exact keys", `[{"Name":"a"}]`, []string{"0 /0 the entry at index 0"}},
		{"mixed formats are linted", `[{"name":"a","input_schema":{}},{"name":"b"}]`, []string{`0 /0 "a"`, `1 /1 "b"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			set, err := toolset.Parse("f.json", []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, summary(set)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseNamesWhatItFound(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"truncated", `{"tools": [`, "f.json:1:12: cannot be read as JSON: unexpected end of file: the array opened at line 1 column 11 is never closed"},
		{"number", `3`, "f.json: found a number; accepted is "},
		{"string", `"tools"`, "f.json: found a string; accepted is "},
		{"other object", `{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}`, `f.json: found an object with the keys "a", "b", "c", "d", "e", ...; accepted is `},
		{"empty object", `{}`, "f.json: found an object with no keys; accepted is "},
		{"tools not an array", `{"tools":{"a":{}}}`, `f.json: found an object under "tools"; it must be an array`},
		{"other response", `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`, "f.json: found a JSON-RPC message without result.tools"},
		{"error response", `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`, "f.json: found a JSON-RPC error instead of a tool list: Method not found (code -32601)"},
		{"error without message", `{"jsonrpc":"2.0","id":1,"error":7}`, "f.json: found a JSON-RPC error instead of a tool list: 7"},
		{"broken page", `[{"tools":[]},{"jsonrpc":"2.0","result":{}}]`, "f.json: page 2: found a JSON-RPC message without result.tools"},
		{"tool among pages", `[{"tools":[]},"x"]`, "f.json: found a string at place 2 of an array of result pages"},
		{"OpenAI", `[{"type":"function","function":{"name":"a","parameters":{}}}]`, "f.json: found functions of the OpenAI API (function, parameters), not MCP tools; accepted is "},
		{"OpenAI responses", `[{"type":"function","name":"a","parameters":{}}]`, "f.json: found functions of the OpenAI API"},
		{"Anthropic", `{"tools":[{"name":"a","input_schema":{}}]}`, "f.json: found tools of the Anthropic Messages API (input_schema), not MCP tools"},
		{"one Anthropic tool", `{"name":"a","input_schema":{}}`, "f.json: found tools of the Anthropic Messages API"},
		{"catalogue", `[{"name":"a","arguments":[]}]`, "f.json: found a catalogue listing with an array of arguments"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := toolset.Parse("f.json", []byte(c.text))
			if got := fmt.Sprint(err); !strings.HasPrefix(got, c.want) {
				t.Errorf("got  %s\nwant %s...", got, c.want)
			}
		})
	}
}

func TestHintsAreTriState(t *testing.T) {
	set, err := toolset.Parse("f.json", []byte(`[{"name":"a","title":"T","description":"D","annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":"true"}}, {"name":"b","annotations":"none"}]`))
	if err != nil {
		t.Fatal(err)
	}
	a := set.Tools[0]
	want := hint.Set{hint.ReadOnly: hint.True, hint.Destructive: hint.False, hint.Idempotent: hint.Absent, hint.OpenWorld: hint.Absent}
	if diff := cmp.Diff(want, a.DeclaredSet()); diff != "" {
		t.Error(diff)
	}
	if raw := string(a.Hints[hint.Idempotent].Node.Raw()); raw != `"true"` {
		t.Errorf("the text of a hint that is not a boolean is %s", raw)
	}
	if a.Hints[hint.OpenWorld].Node != nil {
		t.Error("an absent hint has a node")
	}
	if a.Title != "T" || a.Description != "D" {
		t.Errorf("title %q, description %q", a.Title, a.Description)
	}
	if got := set.Tools[1].DeclaredSet()[hint.ReadOnly]; got != hint.Absent {
		t.Errorf("annotations that are not an object declare %v", got)
	}
}

func TestFromServerKeepsBytesAndPlaces(t *testing.T) {
	raw := json.RawMessage(`{ "name" : "a", "annotations": {"readOnlyHint": null} }`)
	set, err := toolset.FromServer([]json.RawMessage{json.RawMessage(`7`), raw})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"0 /tools/0 the entry at index 0", `1 /tools/1 "a"`}, summary(set)); diff != "" {
		t.Error(diff)
	}
	if set.File != nil || string(set.Tools[1].Raw) != string(raw) {
		t.Errorf("file %v, raw %s", set.File, set.Tools[1].Raw)
	}
	if _, err := toolset.FromServer([]json.RawMessage{json.RawMessage(`{`)}); err == nil {
		t.Error("an entry that is not JSON is accepted")
	}
}

// Published lists differ in everything; each must be read whole.
func TestParseReadsPublishedLists(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/corpus/lists/*.json")
	if len(files) == 0 {
		t.Skip("the corpus of published lists is not beside this checkout")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		set, err := toolset.Parse(filepath.Base(file), text)
		if err != nil {
			t.Error(err)
			continue
		}
		var want struct{ Tools []json.RawMessage }
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		if len(set.Tools) != len(want.Tools) {
			t.Errorf("%s: %d tools, want %d", file, len(set.Tools), len(want.Tools))
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`[{"name":"a","annotations":{"readOnlyHint":1}}]`, `{"result":{"tools":["x"]}}`, `[{"tools":[]}]`, `{"error":{"message":"m"}}`, `{"jsonrpc":"2.0","error":{"message":"m"}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		set, err := toolset.Parse("f.json", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.json:") {
				t.Errorf("an error without the file's name: %v", err)
			}
			return
		}
		for i, tool := range set.Tools {
			if tool.Index != i || len(tool.Hints) != 4 {
				t.Errorf("tool %d: index %d, %d hints", i, tool.Index, len(tool.Hints))
			}
		}
	})
}
