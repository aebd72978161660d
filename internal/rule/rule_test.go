package rule_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ax-check/ax-check/internal/finding"
	"github.com/ax-check/ax-check/internal/rule"
	"github.com/ax-check/ax-check/internal/toolset"
	"github.com/google/go-cmp/cmp"
)

var list = []rule.Rule{{ID: "AXC-D009"}, {ID: "AXC-D010"}, {ID: "AXC-D011"}, {ID: "AXC-W001"}}

func TestFind(t *testing.T) {
	for _, c := range []struct{ id, want string }{
		{"AXC-D010", "AXC-D010 []"},
		{"axc-d010", "AXC-D010 []"},
		{"D010", " [AXC-D010 AXC-D011]"},
		{"AXC-D10", " [AXC-D010]"},
		{"axc-10", " [AXC-D010]"},
		{"AXC-D019", " [AXC-D009 AXC-D010 AXC-D011]"},
		{"AXC-D777", " []"},
		{"", " []"},
	} {
		r, err := rule.Find(list, c.id)
		var unknown *rule.UnknownError
		var near []string
		if errors.As(err, &unknown) {
			near = unknown.Near
		}
		if got := fmt.Sprint(r.ID, " ", near); got != c.want {
			t.Errorf("%q: got %s, want %s", c.id, got, c.want)
		}
	}
}

func TestWithout(t *testing.T) {
	left, err := rule.Without(list, []string{"AXC-D010", "axc-w001"})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range left {
		ids = append(ids, r.ID)
	}
	if diff := cmp.Diff([]string{"AXC-D009", "AXC-D011"}, ids); diff != "" {
		t.Error(diff)
	}
	if _, err := rule.Without(list, []string{"AXC-D010", "AXC-D999"}); err == nil {
		t.Error("an unknown id is accepted")
	}
}

func TestReportSaysWhere(t *testing.T) {
	everyDescription := rule.Rule{
		ID: "AXC-D777", Mode: rule.Lint, Severity: finding.Warn, Kind: finding.Heuristic, Fix: "fix",
		Run: func(pass *rule.Pass) {
			for _, tool := range pass.Tools {
				pass.Report(tool, tool.Node.Get("description"), "/description", "message")
			}
		},
	}
	run := func(text string) finding.Finding {
		set, err := toolset.Parse("f.json", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		found := rule.Run([]rule.Rule{everyDescription, {ID: "AXC-W777", Mode: rule.Wire}}, set)
		return found[len(found)-1]
	}
	got := run("{\"tools\": [{}, {\"name\": \"x\",\n  \"description\": \"d\"}]}")
	name, index, file, line, column := "x", 1, "f.json", 2, 18
	want := finding.Finding{
		Rule: "AXC-D777", Severity: finding.Warn, Kind: finding.Heuristic, Tool: &name, Index: &index,
		Pointer: "/tools/1/description", File: &file, Line: &line, Column: &column, Message: "message", Fix: "fix",
		Docs: "https://github.com/ax-check/ax-check/blob/main/docs/rules/AXC-D777.md", Fingerprint: got.Fingerprint,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if moved := run(`[{}, {}, {"description": "other", "name": "x"}]`); moved.Fingerprint != got.Fingerprint {
		t.Error("the fingerprint changes when the tool moves")
	}
	if renamed := run(`[{"description": "d", "name": "y"}]`); renamed.Fingerprint == got.Fingerprint {
		t.Error("two tools share a fingerprint")
	}
}

const page = `Summary.

## What it checks

W

## Why it matters

Y

## How to fix

F

## Before

~~~json
{"a": 1}
~~~

## After

~~~json
{"a": 2}
~~~

## How ax-check detects it

D

## Known false positives

None.

## Sources

- [A (b)](https://a.example/x), checked 2026-01-02. Says
  so. Twice.
`

func TestDoc(t *testing.T) {
	text := strings.ReplaceAll(page, "~~~", "```")
	got, err := rule.Rule{Page: text}.Doc()
	if err != nil {
		t.Fatal(err)
	}
	want := rule.Doc{
		Summary: "Summary.", What: "W", Why: "Y", HowToFix: "F", Before: "{\"a\": 1}\n", After: "{\"a\": 2}\n", HowDetected: "D", FalsePositives: "None.",
		Sources: []rule.Source{{Title: "A (b)", URL: "https://a.example/x", Checked: "2026-01-02", Says: "Says so. Twice."}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct{ old, new, want string }{
		{"## How to fix\n\nF\n", "", `unexpected heading "Before"`},
		{"\nF\n", "\n", `nothing under "How to fix"`},
		{"## Sources", "## References", `unexpected heading "References"`},
		{"```json\n{\"a\": 1}", "{\"a\": 1}", `want one code block under "Before"`},
		{", checked 2026-01-02", "", "a source must read"},
		{"- [A", "[A", "no sources"},
	} {
		_, err := rule.Rule{ID: "X", Page: strings.Replace(text, c.old, c.new, 1)}.Doc()
		if got := fmt.Sprint(err); !strings.Contains(got, c.want) {
			t.Errorf("%s for %s: got %s, want %s", c.new, c.old, got, c.want)
		}
	}
}
