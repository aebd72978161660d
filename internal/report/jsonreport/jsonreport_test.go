package jsonreport_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ax-check/ax-check/internal/report"
	"github.com/ax-check/ax-check/internal/report/jsonreport"
)

var update = flag.Bool("update", false, "rewrite the golden file")

func write(t *testing.T, run report.Run) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jsonreport.Write(&b, run); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func sample(t *testing.T) report.Run {
	t.Helper()
	f, err := os.Open("../testdata/run.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	events, err := report.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return report.Collect(events)
}

func TestGolden(t *testing.T) {
	const file = "testdata/verify.golden.json"
	got := write(t, sample(t))
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("-want +got (rewrite with -update):\n%s", diff)
	}
}

// An empty run is valid JSON with every key, and its lists are lists.
func TestEmptyRun(t *testing.T) {
	want := `{"schema":"ax-check.verify/v1","ax_check":{"version":""},"server":{"name":"","version":"","protocol":"","transport":""},` +
		`"boundary":{"tier":"","observed":[],"not_observed":[]},"tools":[],"evidence":[],"findings":[],` +
		`"summary":{"contradicted":0,"supported":0,"confirmed":0,"overcautious":0,"undeclared":0,"untested":0,"moot":0},` +
		`"complete":true,"stopped":null}`
	var got bytes.Buffer
	if err := json.Compact(&got, write(t, report.Run{Complete: true})); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What the definition of the format promises about every hint.
func TestEveryHint(t *testing.T) {
	var doc struct {
		Tools []struct {
			Index int
			Hints map[string]map[string]any
		}
		Evidence []struct{ ID string }
	}
	if err := json.Unmarshal(write(t, sample(t)), &doc); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, e := range doc.Evidence {
		known[e.ID] = true
	}
	keys := strings.Fields("declared effective observed verdict suggested tier reason_code reason evidence")
	for i, tool := range doc.Tools {
		if tool.Index != i || len(tool.Hints) != 4 {
			t.Errorf("tool %d has index %d and %d hints, want four in list order", i, tool.Index, len(tool.Hints))
		}
		for name, h := range tool.Hints {
			for _, k := range keys {
				if _, ok := h[k]; !ok {
					t.Errorf("tool %d, %s: no %s", i, name, k)
				}
			}
			untested := h["verdict"] == "untested"
			if (h["observed"] == nil) != untested {
				t.Errorf("tool %d, %s: observed is %v and the verdict %v", i, name, h["observed"], h["verdict"])
			}
			if _, ok := h["suggested"].(bool); !ok {
				t.Errorf("tool %d, %s: suggested is %v", i, name, h["suggested"])
			}
			ids, _ := h["evidence"].([]any)
			if len(ids) == 0 && !untested || slices.ContainsFunc(ids, func(id any) bool { return !known[id.(string)] }) {
				t.Errorf("tool %d, %s: evidence %v of a hint that is %v", i, name, ids, h["verdict"])
			}
		}
	}
}
