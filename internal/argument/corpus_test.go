package argument

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestCorpus plans every tool of the real lists that lie beside the checkout,
// in bounded time, and prints how many get a set that their schema accepts.
func TestCorpus(t *testing.T) {
	lists, _ := filepath.Glob("../../../shared/corpus/lists/*.json")
	if len(lists) == 0 {
		t.Skip("no corpus of real tool lists beside the checkout")
	}
	const allowed = 2 * time.Second // the slowest real tool takes a tenth of it
	w := fixtureWorld(t)
	var tools, planned, sets int
	var slowest time.Duration
	for _, list := range lists {
		raw, err := os.ReadFile(list)
		if err != nil {
			t.Fatal(err)
		}
		var doc struct{ Tools []Tool }
		if err := json.Unmarshal(raw, &doc); err != nil {
			t.Fatalf("%s: %v", list, err)
		}
		for i, tool := range doc.Tools {
			start := time.Now()
			plan := New(tool, w, 1)
			took := time.Since(start)
			slowest = max(slowest, took)
			if took > allowed {
				t.Errorf("%s: planning %s took %v", filepath.Base(list), tool.Name, took)
			}
			tools++
			sets += len(plan.Sets)
			if len(plan.Sets) > 0 {
				planned++
			} else {
				t.Logf("%s: no set for %s", filepath.Base(list), tool.Name)
			}
			checkPlan(t, tool, plan)
			if i > 0 {
				continue // one tool a list is planned twice
			}
			if again := New(tool, w, 1); !bytes.Equal(dump(t, plan), dump(t, again)) {
				t.Errorf("%s: two plans of %s differ", filepath.Base(list), tool.Name)
			}
		}
	}
	t.Logf("%d of %d tools get a valid set; %.1f sets a tool; slowest %v", planned, tools, float64(sets)/float64(tools), slowest)
	if planned*100 < tools*99 {
		t.Errorf("only %d of %d tools get a set that their schema accepts", planned, tools)
	}
}

func dump(t testing.TB, plan Plan) []byte {
	t.Helper()
	raw, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// checkPlan holds what is true of every plan: sets are bounded, unlike each
// other, valid, and without coverage that the plan itself rules out.
func checkPlan(t testing.TB, tool Tool, plan Plan) {
	t.Helper()
	const most = max(maxSets, maxBeside+maxActions) + maxFallback
	if len(plan.Sets) > most {
		t.Errorf("%s: %d sets, at most %d are wanted", tool.Name, len(plan.Sets), most)
	}
	check := newChecker(tool.InputSchema)
	seen := map[string]bool{}
	for _, s := range plan.Sets {
		if seen[string(s.Arguments)] {
			t.Errorf("%s: twice the same set %s", tool.Name, s.Arguments)
		}
		seen[string(s.Arguments)] = true
		if names, ok := check.misfits(s.Arguments); !ok {
			t.Errorf("%s: %s breaks the schema at %q", tool.Name, s.Arguments, names)
		}
		if !json.Valid(s.Arguments) || s.Arguments[0] != '{' {
			t.Errorf("%s: %s is no JSON object", tool.Name, s.Arguments)
		}
		if s.Label == "" {
			t.Errorf("%s: a set without a label", tool.Name)
		}
	}
}
