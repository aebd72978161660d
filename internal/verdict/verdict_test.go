package verdict_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ax-check/ax-check/internal/hint"
	"github.com/ax-check/ax-check/internal/verdict"
)

const undecided = `{"name":null,"index":3,"calls":{"made":0,"effective":0},"incidental":[],"hints":{` +
	`"readOnlyHint":{"declared":null,"declared_raw":"","effective":false,"observed":null,"verdict":"untested","suggested":false,"tier":"namespaces","reason_code":"not-called","reason":"<malformed> entry","evidence":[]},` +
	`"destructiveHint":{"declared":false,"effective":false,"observed":null,"verdict":"untested","suggested":true,"tier":"namespaces","reason_code":"not-called","reason":"<malformed> entry","evidence":[]},` +
	`"idempotentHint":{"declared":true,"effective":true,"observed":null,"verdict":"untested","suggested":false,"tier":"namespaces","reason_code":"not-called","reason":"<malformed> entry","evidence":[]},` +
	`"openWorldHint":{"declared":null,"effective":true,"observed":null,"verdict":"untested","suggested":true,"tier":"namespaces","reason_code":"not-called","reason":"<malformed> entry","evidence":[]}}}`

func sample() verdict.Tool {
	return verdict.Undecided(nil, 3,
		hint.Set{hint.Destructive: hint.False, hint.Idempotent: hint.True},
		map[hint.Name]json.RawMessage{hint.ReadOnly: json.RawMessage(`""`)},
		verdict.Namespaces, "not-called", "<malformed> entry")
}

// Every key is written, lists are never null, declared_raw only when the value
// is not a boolean (an empty string is not).
func TestToolJSON(t *testing.T) {
	got, err := sample().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(undecided, string(got)); diff != "" {
		t.Errorf("Tool.MarshalJSON (-want +got):\n%s", diff)
	}
}

func TestToolJSONRoundTrip(t *testing.T) {
	var tool verdict.Tool
	if err := json.Unmarshal([]byte(undecided), &tool); err != nil {
		t.Fatal(err)
	}
	again, err := tool.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(undecided, string(again)); diff != "" {
		t.Errorf("reading and writing again (-want +got):\n%s", diff)
	}
}

func TestSummarize(t *testing.T) {
	tool := sample()
	for i, n := range hint.Names() {
		h := tool.Hints[n]
		h.Verdict = verdict.All()[i]
		tool.Hints[n] = h
	}
	other := sample()
	h := other.Hints[hint.Destructive]
	h.Verdict = verdict.Moot
	other.Hints[hint.Destructive] = h

	got := verdict.Summarize([]verdict.Tool{tool, other})
	want := verdict.Summary{Contradicted: 1, Supported: 1, Confirmed: 1, Overcautious: 1, Untested: 3, Moot: 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Summarize (-want +got):\n%s", diff)
	}
	if got.Decided() != 5 || got.Total() != 8 {
		t.Errorf("decided %d of %d, want 5 of 8", got.Decided(), got.Total())
	}
	if n := got.Count(verdict.Moot); n != 1 {
		t.Errorf("Count(Moot) = %d, want 1", n)
	}
}
