package testenv

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadOutcome(t *testing.T) {
	for _, c := range []struct {
		name, output string
		want         outcome
	}{
		{"passed", "=== RUN   TestA\n=== RUN   TestA/user\n--- PASS: TestA (0.01s)\n    --- PASS: TestA/user (0.01s)\nPASS\n", outcome{ran: true}},
		{"skipped", "=== RUN   TestA/user\n    a_test.go:7: no namespaces here\n--- PASS: TestA (0.00s)\n    --- SKIP: TestA/user (0.00s)\nPASS\n", outcome{ran: true, skipped: "a_test.go:7: no namespaces here"}},
		{"another test only", "--- PASS: TestA (0.00s)\n    --- PASS: TestA/users (0.00s)\n", outcome{}},
		{"nothing was run", "testing: warning: no tests to run\nPASS\n", outcome{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, readOutcome(c.output, "TestA/user"), cmp.AllowUnexported(outcome{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPattern(t *testing.T) {
	if got, want := pattern("TestA/a.b/user"), `^TestA$/^a\.b$/^user$`; got != want {
		t.Errorf("pattern %q, want %q", got, want)
	}
}
