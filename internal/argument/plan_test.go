package argument

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ax-check/ax-check/internal/effect"
)

// lines writes a plan as a reader would: one line a set, then the gaps.
func lines(plan Plan) []string {
	var out []string
	for _, s := range plan.Sets {
		mark := ""
		if s.Fallback {
			mark = "else "
		}
		out = append(out, fmt.Sprintf("%s%s: %s %v", mark, s.Label, s.Arguments, s.Covers))
	}
	for _, g := range plan.Untried {
		out = append(out, fmt.Sprintf("untried %s: %s", g.Coverage, g.Reason))
	}
	return out
}

// smallWorld has few files, so that expectations can be read.
var smallWorld = World{
	Workspace: "/w",
	Dirs:      []string{"/w", "/w/box", "/w/void"},
	Files: []File{
		{Path: "/w/a.txt", Text: "one red hen\nblue sea\none red hen\n"},
		{Path: "/w/b.txt", Text: "grey sky\n"},
		{Path: "/w/box/c.md", Text: "# Title\n"},
		{Path: "/w/orders.json", Text: `{"orders": [{"order_id": "A7", "sum": 12}, {"order_id": "A8", "sum": 4}]}`},
		{Path: "/w/dot.png", Binary: true, Size: 70},
	},
}

// planOf plans with a word that reads the same in every expectation.
func planOf(t *testing.T, name, description, schema string) Plan {
	t.Helper()
	tool := Tool{Name: name, Description: description, InputSchema: json.RawMessage(schema)}
	p := newPlanner(tool, smallWorld, 1)
	p.word, p.otherWord = "elm", "oak"
	plan := p.plan()
	checkPlan(t, tool, plan)
	return plan
}

func TestPlans(t *testing.T) {
	tests := map[string]struct {
		name, description, schema string
		want                      []string
	}{
		"a tool without parameters": {
			"ping", "Answers.", `{"type":"object"}`,
			[]string{`no arguments: {} []`},
		},
		"a tool without a schema": {
			"ping", "Answers.", ``,
			[]string{`no arguments: {} []`},
		},
		"a file is read": {
			"show_file", "Show a file.",
			`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`,
			[]string{
				`existing file: {"path":"/w/a.txt"} [existing]`,
				`missing target: {"path":"/w/elm.txt"} [missing]`,
				`else path relative to the workspace: {"path":"a.txt"} [existing]`,
			},
		},
		"a picture is asked for": {
			"show_picture", "Show it.",
			`{"type":"object","properties":{"file":{"type":"string","description":"Absolute path"}},"required":["file"]}`,
			[]string{
				`existing file: {"file":"/w/dot.png"} [existing]`,
				`missing target: {"file":"/w/elm.png"} [missing]`,
			},
		},
		"words do not tell a file from a folder": {
			"stat", "Tell about a path.",
			`{"type":"object","properties":{"path":{"type":"string","description":"Absolute path of a file or folder"}},"required":["path"]}`,
			[]string{
				`existing file: {"path":"/w/a.txt"} [existing]`,
				`existing folder: {"path":"/w/box"} [existing]`,
				`missing target: {"path":"/w/elm.txt"} [missing]`,
				`else empty folder: {"path":"/w/void"} [existing]`,
			},
		},
		"a file is written": {
			"put_file", "Write a file.",
			`{"type":"object","properties":{"path":{"type":"string","description":"Absolute path"},"content":{"type":"string"}},"required":["path","content"]}`,
			[]string{
				`existing file: {"path":"/w/a.txt","content":"A new line about elm.\n"} [existing]`,
				`missing target: {"path":"/w/elm.txt","content":"A new line about elm.\n"} [missing]`,
			},
		},
		"an edit nested in a list, with a rehearsal": {
			"amend", "Amend a text.",
			`{"type":"object","properties":{
				"file_path":{"type":"string","description":"absolute"},
				"changes":{"type":"array","items":{"type":"object","properties":{"search":{"type":"string"},"replace":{"type":"string"}},"required":["search"]}},
				"preview":{"type":"boolean","default":false}},"required":["file_path","changes"]}`,
			[]string{
				`existing file: {"file_path":"/w/a.txt","changes":[{"search":"one red hen","replace":"one red hen again"}]} [existing double-apply]`,
				`missing target: {"file_path":"/w/elm.txt","changes":[{"search":"one red hen","replace":"one red hen again"}]} [missing]`,
				`preview: true: {"file_path":"/w/a.txt","changes":[{"search":"one red hen","replace":"one red hen again"}],"preview":true} []`,
				`else text that occurs once: {"file_path":"/w/a.txt","changes":[{"search":"blue sea","replace":"blue sea again"}]} [existing double-apply]`,
			},
		},
		"a rehearsal by default covers nothing": {
			"tidy", "Tidy a file.",
			`{"type":"object","properties":{"path":{"type":"string","description":"absolute"},"dry_run":{"type":"boolean","default":true}},"required":["path"]}`,
			[]string{
				`existing file: {"path":"/w/a.txt"} []`,
				`missing target: {"path":"/w/elm.txt"} []`,
				`dry_run: false: {"path":"/w/a.txt","dry_run":false} [existing]`,
			},
		},
		"a line is put in": {
			"insert_line", "Insert into a file.",
			`{"type":"object","properties":{"path":{"type":"string","description":"absolute"},"line":{"type":"integer"},"text":{"type":"string"}},"required":["path","line","text"]}`,
			[]string{
				`existing file: {"path":"/w/a.txt","line":1,"text":"A new line about elm.\n"} [existing double-apply]`,
				`missing target: {"path":"/w/elm.txt","line":1,"text":"A new line about elm.\n"} [missing]`,
			},
		},
		"a copy has two ends": {
			"copy_file", "Copy.",
			`{"type":"object","properties":{"from":{"type":"string"},"to":{"type":"string"},"overwrite":{"type":"boolean"}},"required":["from","to"]}`,
			[]string{
				`existing source, new destination: {"from":"/w/a.txt","to":"/w/elm-copy.txt"} [existing missing]`,
				`destination that exists: {"from":"/w/a.txt","to":"/w/b.txt"} [existing]`,
				`missing target: {"from":"/w/elm.txt","to":"/w/elm-copy.txt"} [missing]`,
				`overwrite: true: {"from":"/w/a.txt","to":"/w/b.txt","overwrite":true} [existing]`,
				`else path relative to the workspace: {"from":"a.txt","to":"elm-copy.txt"} [existing missing]`,
			},
		},
		"from and to of something else are no paths": {
			"link_people", "Link two people.",
			`{"type":"object","properties":{"from":{"type":"string","description":"who"},"to":{"type":"string","description":"whom"}},"required":["from","to"]}`,
			[]string{`required parameters only: {"from":"elm","to":"oak"} []`},
		},
		"files are looked for by a glob": {
			"find_files", "Find files by a glob.",
			`{"type":"object","properties":{"root":{"type":"string","description":"absolute"},"pattern":{"type":"string"},"ignore":{"type":"array","items":{"type":"string"}}},"required":["root","pattern"]}`,
			[]string{
				`existing folder: {"root":"/w","pattern":"*.txt"} [existing]`,
				`missing target: {"root":"/w/elm","pattern":"*.txt"} [missing]`,
				`all parameters: {"root":"/w","pattern":"*.txt","ignore":["*.bak"]} [existing]`,
			},
		},
		"every operation, each with what its descriptions ask for": {
			"shelf", "Manage the shelf.",
			`{"type":"object","properties":{
				"action":{"type":"string","enum":["list","put","drop"]},
				"file":{"type":"string","description":"Absolute path, for put and drop"},
				"body":{"type":"string","description":"Text for put"},
				"confirm":{"type":"boolean"}},"required":["action"]}`,
			[]string{
				`required parameters only: {"action":"list"} []`,
				`existing file: {"action":"list","file":"/w/a.txt","body":"A new line about elm.\n"} [existing]`,
				`missing target: {"action":"list","file":"/w/elm.txt","body":"A new line about elm.\n"} [missing]`,
				`confirm: true: {"action":"list","file":"/w/a.txt","body":"A new line about elm.\n","confirm":true} [existing]`,
				`action: list: {"action":"list","confirm":true} [enum-value]`,
				`action: put: {"action":"put","file":"/w/a.txt","body":"A new line about elm.\n","confirm":true} [existing enum-value]`,
				`action: drop: {"action":"drop","file":"/w/a.txt","confirm":true} [existing enum-value]`,
			},
		},
		"an optional output": {
			"render", "Render a file.",
			`{"type":"object","properties":{"file":{"type":"string","description":"absolute"},"output":{"type":"string"}},"required":["file"]}`,
			[]string{
				`existing file: {"file":"/w/a.txt"} [existing]`,
				`missing target: {"file":"/w/elm.txt"} [missing]`,
				`output on an existing file: {"file":"/w/a.txt","output":"/w/b.txt"} [existing output]`,
				`all parameters: {"file":"/w/a.txt","output":"/w/elm-copy.txt"} [existing missing]`,
			},
		},
		"an address and a remote": {
			"fetch", "Fetch.",
			`{"type":"object","properties":{"url":{"type":"string"},"remote":{"type":"string"}},"required":["url"]}`,
			[]string{
				`required parameters only: {"url":"http://example.com/page"} [outside]`,
				`remote outside: {"url":"http://example.com/page","remote":"origin"} [outside]`,
				`untried outside: "remote" can name something outside, and no value is known that does`,
			},
		},
		"an id that the world holds": {
			"cancel", "Cancel an order.",
			`{"type":"object","properties":{"orderId":{"type":"string"}},"required":["orderId"]}`,
			[]string{
				`existing target: {"orderId":"A7"} [existing]`,
				`missing target: {"orderId":"elm"} [missing]`,
			},
		},
		"an id that the schema offers and the world holds": {
			"cancel", "Cancel.",
			`{"type":"object","properties":{"id":{"type":"string","examples":["Z1","A8"],"pattern":"^[A-Z][0-9]$"}},"required":["id"]}`,
			[]string{
				`existing target: {"id":"A8"} [existing]`,
				`missing target: {"id":"Z1"} [missing]`,
			},
		},
		"an id that nothing knows": {
			"cancel", "Cancel.",
			`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`,
			[]string{
				`required parameters only: {"id":"elm"} []`,
				`untried existing: no existing value is known for "id"`,
			},
		},
		"an example quoted in a description": {
			"weather", "Weather.",
			`{"type":"object","properties":{"city":{"type":"string","description":"City, e.g. \"Uppsala\""}},"required":["city"]}`,
			[]string{`required parameters only: {"city":"Uppsala"} []`},
		},
		"a query is a word that occurs": {
			"grep", "Search text.",
			`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`,
			[]string{`required parameters only: {"query":"blue sea"} []`},
		},
		"shapes of a union": {
			"draw", "Draw.",
			`{"type":"object","oneOf":[
				{"properties":{"circle":{"type":"integer"}},"required":["circle"]},
				{"properties":{"square":{"type":"integer","minimum":3}},"required":["square"]}]}`,
			[]string{
				`required parameters only: {"circle":1} []`,
				`shape 2: {"square":3} []`,
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			plan := planOf(t, tc.name, tc.description, tc.schema)
			if diff := cmp.Diff(tc.want, lines(plan)); diff != "" {
				t.Errorf("%s\n%s", diff, strings.Join(lines(plan), "\n"))
			}
		})
	}
}

func TestWhatAToolCanName(t *testing.T) {
	tests := map[string]struct {
		schema          string
		target, outside bool
	}{
		"nothing":             {`{"properties":{"count":{"type":"integer"},"note":{"type":"string"}}}`, false, false},
		"a path":              {`{"properties":{"path":{"type":"string"}}}`, true, false},
		"a key":               {`{"properties":{"key":{"type":"string"}}}`, true, false},
		"nested ids":          {`{"properties":{"rows":{"type":"array","items":{"properties":{"rowId":{"type":"integer"}}}}}}`, true, false},
		"a file's type":       {`{"properties":{"fileType":{"type":"string"},"profile":{"type":"string"}}}`, false, false},
		"a format":            {`{"properties":{"where":{"type":"string","format":"uri"}}}`, false, true},
		"a mail address":      {`{"properties":{"recipients":{"type":"array","items":{"type":"string"}}}}`, false, true},
		"an address in words": {`{"properties":{"page":{"type":"string","description":"The URL to open"}}}`, false, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			plan := planOf(t, "thing", "Does it.", tc.schema)
			if plan.NamesTarget != tc.target || plan.NamesOutside != tc.outside {
				t.Errorf("target %t, outside %t; want %t, %t", plan.NamesTarget, plan.NamesOutside, tc.target, tc.outside)
			}
		})
	}
}

// TestCoverageIsHonest checks claims of coverage against the world, for every
// set of tools of many kinds.
func TestCoverageIsHonest(t *testing.T) {
	x := newIndex(smallWorld)
	for _, name := range []string{"read_file", "list_dir", "erase", "move_path", "edit_text"} {
		plan := planOf(t, name, "Works on a file or directory.", `{"properties":{
			"path":{"type":"string"},"old":{"type":"string"},"new":{"type":"string"},"dest":{"type":"string"}},"required":["path"]}`)
		for _, s := range plan.Sets {
			var given struct{ Path, Old, New string }
			if err := json.Unmarshal(s.Arguments, &given); err != nil {
				t.Fatal(err)
			}
			full := given.Path
			if !strings.HasPrefix(full, "/") {
				full = "/w/" + full
			}
			for _, c := range s.Covers {
				switch {
				case c == effect.Existing && !x.exists[full]:
					t.Errorf("%s: %s does not exist", name, full)
				case c == effect.DoubleApply && (given.Old == "" || !strings.Contains(given.New, given.Old)):
					t.Errorf("%s: %s cannot apply twice", name, s.Arguments)
				}
			}
		}
	}
}

func TestAWorldWithNothingInIt(t *testing.T) {
	tool := Tool{Name: "show_file", InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)}
	plan := New(tool, World{Workspace: "/w", Dirs: []string{"/w"}}, 1)
	if len(plan.Sets) == 0 || plan.Sets[0].Label != "new file" {
		t.Errorf("sets %v", lines(plan))
	}
	if len(plan.Untried) != 1 || plan.Untried[0].Coverage != effect.Existing {
		t.Errorf("untried %v, the existing target is wanted", plan.Untried)
	}
}

func TestAnEditThatCannotFindItsTextClaimsNothing(t *testing.T) {
	plans := map[string]Plan{
		"a picture is all there is": New(
			Tool{Name: "edit", InputSchema: json.RawMessage(`{"properties":{"path":{"type":"string"},"old":{"type":"string"},"new":{"type":"string"}},"required":["path","old","new"]}`)},
			World{Workspace: "/w", Dirs: []string{"/w"}, Files: []File{{Path: "/w/dot.png", Binary: true}}}, 1,
		),
		"the schema forbids the text": planOf(t, "edit", "Edit.",
			`{"properties":{"path":{"type":"string"},"old":{"type":"string","maxLength":2},"new":{"type":"string"}},"required":["path","old","new"]}`),
	}
	for name, plan := range plans {
		for _, s := range plan.Sets {
			if slices.Contains(s.Covers, effect.DoubleApply) {
				t.Errorf("%s: %s claims an edit that applies twice", name, s.Arguments)
			}
		}
		if !slices.ContainsFunc(plan.Untried, func(g Gap) bool { return g.Coverage == effect.DoubleApply }) {
			t.Errorf("%s: nothing said about the edit: %v", name, plan.Untried)
		}
	}
}

func TestOperationsBeyondTheLimitAreNamed(t *testing.T) {
	var values []string
	for i := range maxActions + 2 {
		values = append(values, fmt.Sprintf(`"add%c"`, 'a'+i))
	}
	plan := planOf(t, "router", "Does it.", `{"properties":{"action":{"enum":[`+strings.Join(values, ",")+`]}},"required":["action"]}`)
	var got []string
	for _, g := range plan.Untried {
		got = append(got, string(g.Coverage)+" "+g.Reason)
	}
	want := []string{"enum-value not tried: action: addn"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
