package rules_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ax-check/ax-check/internal/finding"
	"github.com/ax-check/ax-check/internal/rule"
	"github.com/ax-check/ax-check/internal/rules"
	"github.com/ax-check/ax-check/internal/toolset"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write what the rules find into the want sections")

// Every lint rule has examples that it reports and examples near them that it
// does not: testdata/RULE/bad_*.txtar and ok_*.txtar.
func TestExamples(t *testing.T) {
	for _, r := range lintRules() {
		t.Run(r.ID, func(t *testing.T) {
			files, _ := filepath.Glob(filepath.Join("testdata", r.ID, "*.txtar"))
			seen := map[string]int{}
			for _, file := range files {
				kind, _, _ := strings.Cut(filepath.Base(file), "_")
				seen[kind]++
				checkExample(t, r, file, kind)
			}
			if seen["bad"] == 0 || seen["ok"] == 0 || len(seen) != 2 {
				t.Errorf("want bad_* and ok_* examples and no others, have %v", seen)
			}
		})
	}
}

func checkExample(t *testing.T, r rule.Rule, file, kind string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(archive.Files) != 2 || archive.Files[0].Name != "tools.json" || archive.Files[1].Name != "want" {
		t.Fatalf("%s: want the sections tools.json and want", file)
	}
	var got strings.Builder
	for _, f := range lint(t, r, archive.Files[0].Data) {
		fmt.Fprintf(&got, "%d:%d %s %s\n", *f.Line, *f.Column, f.Severity, f.Message)
	}
	if *update {
		archive.Files[1].Data = []byte(got.String())
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(archive.Files[1].Data), got.String()); diff != "" {
		t.Errorf("%s:\n%s", file, diff)
	}
	if (got.Len() > 0) != (kind == "bad") {
		t.Errorf("%s: a %s example with the findings %q", file, kind, got.String())
	}
}

// The example on a rule's page must be reported before and not after. The one
// for a tool without hints is reported exactly once.
func TestExamplesOnPages(t *testing.T) {
	for _, r := range lintRules() {
		doc, err := r.Doc()
		if err != nil {
			t.Error(err)
			continue
		}
		if found := lint(t, r, []byte(doc.Before)); len(found) == 0 {
			t.Errorf("%s: the example before is not reported", r.ID)
		}
		if found := lint(t, r, []byte(doc.After)); len(found) > 0 {
			t.Errorf("%s: the example after is reported: %s", r.ID, found[0].Message)
		}
		set, _ := toolset.Parse("after.json", []byte(doc.After))
		for _, f := range rule.Run(rules.All(), set) {
			t.Errorf("%s: the example after is reported by %s", r.ID, f.Rule)
		}
	}
	before, _ := rules.NoHints.Doc()
	set, err := toolset.Parse("before.json", []byte(before.Before))
	if err != nil {
		t.Fatal(err)
	}
	if found := rule.Run(rules.All(), set); len(found) != 1 {
		t.Errorf("the example of AXC-D010 has %d findings of all rules, want 1", len(found))
	}
}

func TestRulesAreComplete(t *testing.T) {
	all := rules.All()
	if !slices.IsSortedFunc(all, func(a, b rule.Rule) int { return strings.Compare(a.ID, b.ID) }) {
		t.Error("the list is not sorted by id")
	}
	for i, r := range all {
		if i > 0 && r.ID == all[i-1].ID {
			t.Errorf("%s twice", r.ID)
		}
		if r.Title == "" || r.Severity == 0 || r.Kind == "" || r.AppliesTo == "" || len(r.Tags) == 0 || r.Fix == "" {
			t.Errorf("%s lacks a field", r.ID)
		}
		if (r.Run != nil) != (r.Mode == rule.Lint) {
			t.Errorf("%s: mode %s", r.ID, r.Mode)
		}
		if _, err := r.Doc(); err != nil {
			t.Error(err)
		}
	}
	pages, _ := filepath.Glob("*.md")
	if len(pages) != len(all) {
		t.Errorf("%d pages for %d rules", len(pages), len(all))
	}
	folders, _ := os.ReadDir("testdata")
	for _, folder := range folders {
		if _, err := rule.Find(all, folder.Name()); err != nil && folder.Name() != "fuzz" {
			t.Errorf("testdata/%s belongs to no rule", folder.Name())
		}
	}
}

func FuzzRules(f *testing.F) {
	files, _ := filepath.Glob("testdata/*/*.txtar")
	for _, file := range files {
		if archive, err := txtar.ParseFile(file); err == nil {
			f.Add(archive.Files[0].Data)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		set, err := toolset.Parse("f.json", text)
		if err != nil {
			return
		}
		first := rule.Run(rules.All(), set)
		for _, found := range first {
			if *found.Line < 1 || *found.Column < 1 || found.Fingerprint == "" || !strings.HasPrefix(found.Pointer, set.Tools[*found.Index].Pointer) {
				t.Errorf("finding out of place: %+v", found)
			}
		}
		if diff := cmp.Diff(first, rule.Run(rules.All(), set)); diff != "" {
			t.Errorf("a second run differs:\n%s", diff)
		}
	})
}

func lintRules() []rule.Rule {
	return slices.DeleteFunc(rules.All(), func(r rule.Rule) bool { return r.Mode != rule.Lint })
}

func lint(t *testing.T, r rule.Rule, text []byte) []finding.Finding {
	t.Helper()
	set, err := toolset.Parse("tools.json", text)
	if err != nil {
		t.Fatal(err)
	}
	return rule.Run([]rule.Rule{r}, set)
}
