package report_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ax-check/ax-check/internal/effect"
	"github.com/ax-check/ax-check/internal/hint"
	"github.com/ax-check/ax-check/internal/report"
	"github.com/ax-check/ax-check/internal/verdict"
)

func sample(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/run.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func read(t testing.TB, record []byte) []report.Event {
	t.Helper()
	events, err := report.Read(bytes.NewReader(record))
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func write(t testing.TB, events []report.Event) []byte {
	t.Helper()
	var b bytes.Buffer
	r := report.NewRecorder(&b)
	for _, e := range events {
		if err := r.Emit(e); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// A record that is read and written again is the same record.
func TestRecordRoundTrip(t *testing.T) {
	want := sample(t)
	if diff := cmp.Diff(string(want), string(write(t, read(t, want)))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Wherever a record is cut short, its whole lines can be read.
func TestReadCutRecord(t *testing.T) {
	record := sample(t)
	first := bytes.IndexByte(record, '\n') + 1
	for end := first; end < len(record); end += 97 {
		got := len(read(t, record[:end]))
		whole := bytes.Count(record[:end], []byte("\n"))
		if got != whole && got != whole+1 {
			t.Fatalf("cut after %d bytes: %d events of %d whole lines", end, got, whole)
		}
	}
}

func TestReadErrors(t *testing.T) {
	head := `{"schema":"ax-check.run/v1","run":{"ax_check":"1","command":[],"seed":0}}` + "\n"
	tests := map[string]struct{ record, want string }{
		"empty":                    {"", "the run record is empty"},
		"another document":         {`{"tools":{"list":[]}}` + "\n", `line 1: the schema is "", want "ax-check.run/v1"`},
		"a later version":          {`{"schema":"ax-check.run/v2","run":{}}`, `line 1: the schema is "ax-check.run/v2"`},
		"no run event":             {`{"schema":"ax-check.run/v1"}`, "does not begin with a run event"},
		"first line cut":           {head[:20], "line 1: not an event"},
		"damaged line":             {head + "{\"end\":\n" + head, "line 2: not an event"},
		"damaged last whole line":  {head + "nonsense\n", "line 2: not an event"},
		"a value of another shape": {head + `{"trial":7}` + "\n", "line 2: not an event"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := report.Read(strings.NewReader(tt.record))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one that says %q", err, tt.want)
			}
		})
	}
}

// The format is only ever extended: what a later version adds is passed over.
func TestReadUnknownEvent(t *testing.T) {
	record := `{"schema":"ax-check.run/v1","run":{"later":1}}` + "\n" + `{"later":{"a":1}}` + "\n" + `{"end":{"complete":true}}` + "\n"
	if run := report.Collect(read(t, []byte(record))); !run.Complete {
		t.Error("the run is not complete")
	}
}

func TestCollect(t *testing.T) {
	name := func(s string) *string { return &s }
	tool := func(s string, index int) report.Tool { return report.Tool{Name: name(s), Index: index} }
	judged := verdict.Undecided(name("b"), 1, nil, nil, verdict.Namespaces, "x", "judged")
	events := []report.Event{
		report.First(report.Start{Version: "1"}),
		{Tools: &report.Tools{List: []report.Tool{tool("a", 0), tool("b", 1), tool("a", 2)}}},
		{Boundary: &verdict.Boundary{Tier: verdict.Namespaces}},
		{Trial: &effect.Trial{ID: "e1"}},
		{Verdict: &judged},
	}
	run := report.Collect(events)

	var reasons []string
	for _, tool := range run.Tools {
		reasons = append(reasons, *tool.Name+": "+tool.Hints[hint.ReadOnly].Reason)
	}
	stopped := "the run stopped before this tool was judged"
	if diff := cmp.Diff([]string{"a: " + stopped, "b: judged", "a: " + stopped}, reasons); diff != "" {
		t.Errorf("every tool once, in list order (-want +got):\n%s", diff)
	}
	if run.Complete || run.Stopped != "the record ends before the run does" {
		t.Errorf("a cut record is complete=%t, stopped %q", run.Complete, run.Stopped)
	}

	run = report.Collect(append(events, report.Event{End: &report.End{Complete: true}}))
	if !run.Complete || run.Stopped != "" {
		t.Errorf("a whole record is complete=%t, stopped %q", run.Complete, run.Stopped)
	}
}

// Progress events change no report.
func TestProgressIsNoMatter(t *testing.T) {
	var with report.Tape
	events := read(t, sample(t))
	for _, e := range events {
		for _, e := range []report.Event{e, {Progress: &report.Progress{Tool: "x"}}} {
			if err := with.Emit(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	if diff := cmp.Diff(report.Collect(events), with.Run()); diff != "" {
		t.Errorf("(-without +with progress):\n%s", diff)
	}
}

func TestSinksStopAtTheFirstError(t *testing.T) {
	var tape report.Tape
	bad := report.Event{Trial: &effect.Trial{Calls: []effect.Call{{Arguments: json.RawMessage("{")}}}}
	if err := (report.Sinks{report.NewRecorder(&bytes.Buffer{}), &tape}).Emit(bad); err == nil {
		t.Error("no error for an event that cannot be written")
	}
	if n := len(tape.Run().Trials); n != 0 {
		t.Errorf("the next sink got %d trials, want none", n)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(sample(f))
	f.Add([]byte(`{"schema":"ax-check.run/v1","run":{}}` + "\n" + `{"verdict":{"hints":{"readOnlyHint":{"declared_raw":null}}}}`))
	f.Fuzz(func(t *testing.T, record []byte) {
		events, err := report.Read(bytes.NewReader(record))
		if err != nil {
			return
		}
		once := write(t, events)
		if again := write(t, read(t, once)); !bytes.Equal(once, again) {
			t.Errorf("writing what was read gives another record:\n%s\n%s", once, again)
		}
		report.Collect(events)
	})
}
