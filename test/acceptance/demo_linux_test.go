package acceptance

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ax-check/ax-check/internal/demo"
)

// Every lie of the bundled server is found, and no honest claim accused.
func TestDemo(t *testing.T) {
	asRootAndUser(t, func(t *testing.T) {
		needsWorlds(t)
		s := newScene(t)
		r := s.run(t, "demo", "--format", "json")
		r.wantCode(t, 1)
		d := r.document(t)
		if !d.Complete || d.Stopped != nil {
			t.Errorf("complete %v, stopped %v", d.Complete, d.Stopped)
		}
		lies := 0
		for _, fact := range demo.Truth() {
			j, ok := d.tool(t, fact.Tool).Hints[string(fact.Hint)]
			if !ok {
				t.Fatalf("%s has no %s", fact.Tool, fact.Hint)
			}
			accused := j.Verdict == "contradicted"
			switch {
			case fact.Lie() && (!accused || !d.shown(j)):
				t.Errorf("%s lies in %s: verdict %s, evidence %v: %s", fact.Tool, fact.Hint, j.Verdict, j.Evidence, j.Reason)
			case !fact.Lie() && accused:
				t.Errorf("%s is honest in %s, but contradicted: %s", fact.Tool, fact.Hint, j.Reason)
			case j.Observed != nil && *j.Observed != fact.Actual:
				t.Errorf("%s: %s observed as %v, in truth %v: %s", fact.Tool, fact.Hint, *j.Observed, fact.Actual, j.Reason)
			}
			if fact.Lie() {
				lies++
			}
		}
		if d.Summary["contradicted"] != lies || lies == 0 {
			t.Errorf("%d lies, summary %v", lies, d.Summary)
		}
		if !slices.Contains(d.Boundary.NotObserved, "memory") {
			t.Errorf("not observed: %v, without memory", d.Boundary.NotObserved)
		}
		wantLogSetApart(t, d)
		s.wantNothingLeft(t)
	})
}

// wantLogSetApart holds that the log, which every tool writes, counts for none.
func wantLogSetApart(t *testing.T, d document) {
	t.Helper()
	isLog := func(target string) bool { return strings.Contains(target, "server.log") }
	for _, tool := range d.Tools {
		if !slices.ContainsFunc(tool.Incidental, isLog) {
			t.Errorf("%s: incidental %v, without the server's log", tool.Name, tool.Incidental)
		}
	}
	for _, e := range d.Evidence {
		for _, effect := range e.Effects {
			if isLog(effect.Target) && !effect.Incidental {
				t.Errorf("%s: the effect on %s counts", e.ID, effect.Target)
			}
		}
	}
}

// passing is what no two runs have in common: times, in texts too, and with them
// the digests of what holds them.
var passing = regexp.MustCompile(`"ms": \d+|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z|"digest": "[0-9a-f]*"`)

// stable is a report without what passes.
func (r result) stable() string { return passing.ReplaceAllString(r.stdout, `"passing"`) }

// Two runs make the same calls and come to the same verdicts.
func TestDemoIsDeterministic(t *testing.T) {
	needsWorlds(t)
	s := newScene(t)
	first, second := s.run(t, "demo", "--format", "json"), s.run(t, "demo", "--format", "json")
	first.wantCode(t, 1)
	if diff := cmp.Diff(first.stable(), second.stable()); diff != "" {
		t.Errorf("the second run differs from the first:\n%s", diff)
	}
}
