package acceptance

import (
	"encoding/json"
	"slices"
	"testing"
)

// document is the part of ax-check.verify/v1 that the tests look at, written
// out anew: they are its readers.
type document struct {
	Schema   string
	Boundary struct {
		Tier        string
		NotObserved []string `json:"not_observed"`
	}
	Tools    []tool
	Evidence []evidence
	Findings []struct{ Rule, Severity string }
	Summary  map[string]int
	Complete bool
	Stopped  *string
}

type tool struct {
	Name       string
	Calls      struct{ Made, Effective int }
	Incidental []string
	Hints      map[string]judged
}

type judged struct {
	Declared, Observed *bool
	Effective          bool
	Verdict            string
	Suggested          bool
	Reason             string
	Evidence           []string
}

type evidence struct {
	ID, Tool, Trial, Set string
	Arguments            json.RawMessage
	Calls                []call
	Effects              []effected
}

type call struct {
	Outcome, Reply, Reason string
}

type effected struct {
	Class, Kind, Target  string
	Incidental, Volatile bool
}

// document reads the report of a run.
func (r result) document(t testing.TB) document {
	t.Helper()
	var d document
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
		t.Fatalf("stdout is no JSON report: %v\n%v", err, r)
	}
	if d.Schema != "ax-check.verify/v1" {
		t.Errorf("schema %q", d.Schema)
	}
	return d
}

// tool finds a tool of the report by its name.
func (d document) tool(t testing.TB, name string) tool {
	t.Helper()
	i := slices.IndexFunc(d.Tools, func(t tool) bool { return t.Name == name })
	if i < 0 {
		t.Fatalf("the report has no tool %q", name)
	}
	return d.Tools[i]
}

// of finds the evidence with these ids.
func (d document) of(ids []string) []evidence {
	var found []evidence
	for _, e := range d.Evidence {
		if slices.Contains(ids, e.ID) {
			found = append(found, e)
		}
	}
	return found
}

// shown reports whether the evidence of a verdict is all there and holds an
// effect that counts.
func (d document) shown(j judged) bool {
	found := d.of(j.Evidence)
	return len(j.Evidence) > 0 && len(found) == len(j.Evidence) && slices.ContainsFunc(found, func(e evidence) bool {
		return slices.ContainsFunc(e.Effects, func(e effected) bool { return !e.Incidental && !e.Volatile })
	})
}

// hints are the four, in the order of reports.
var hints = []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}

// claims are the values that let a client do without asking.
var claims = map[string]bool{"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}
