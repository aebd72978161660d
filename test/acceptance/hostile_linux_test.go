package acceptance

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// ending is how a run against a hostile server must end.
type ending struct {
	code int
	// says is in the report or on stderr.
	says string
}

// Every way to misbehave ends in a clear message and the documented exit code,
// and nothing is left.
func TestHostileServers(t *testing.T) {
	const (
		judged = "decided 8 of 8 hints"
		listed = "2 tools checked"
	)
	works := map[string]ending{"verify": {0, judged}, "lint": {0, listed}}
	gone := func(cause string) map[string]ending { return both(ending{3, cause}) }
	silent := func(request string) map[string]ending { return both(ending{3, "did not answer " + request}) }
	tests := map[string]map[string]ending{
		"ok":                 works,
		"ok-modern":          works,
		"noise":              {"verify": {0, judged}, "lint": {0, "AXC-W001"}},
		"hang-start":         silent("the first request"),
		"hang-list":          silent("tools/list"),
		"hang-call":          {"verify": {3, "no reply in time"}, "lint": {0, listed}},
		"hang-discover":      works,
		"die-start":          gone("cannot open the database"),
		"die-discover":       works,
		"die-list":           gone("panic: out of notes"),
		"die-call":           {"verify": {3, "the server ended during the call"}, "lint": {0, listed}},
		"exit0":              gone("exit status 0"),
		"key-missing":        gone("API_KEY is not set"),
		"string-tool":        {"verify": {0, "decided 8 of 12 hints"}, "lint": {1, "the entry at index 0 is a string"}},
		"wrong-types":        {"verify": {3, "unknown tool wrong_0"}, "lint": {1, "5 tools checked: 5 errors"}},
		"no-tools":           gone(`has no array "tools"`),
		"stderr-flood":       works,
		"notification-flood": works,
		"ignore-eof":         works,
		"grandchild":         works,
		"giant-line":         {"verify": {0, "decided 4 of 4 hints"}, "lint": {0, "1 tool checked"}},
		"bad-utf8":           works,
		"split-reply":        silent("tools/list"),
		"cut-reply":          silent("tools/list"),
		"string-id":          {"verify": {0, judged}, "lint": {0, "AXC-W003"}},
		"dup-reply":          works,
		"cursor-loop":        {"verify": {1, judged}, "lint": {1, "AXC-W002"}},
		"cursor-empty":       works,
		"slow-drip":          works,
		"elicit":             works,
		"elicit-modern":      works,
		"elicit-forever":     {"verify": {3, "still does after 10 rounds"}, "lint": {0, listed}},
	}
	for _, mode := range tortureModes(t) {
		endings, ok := tests[mode]
		if !ok {
			t.Errorf("nothing is said of mode %s", mode)
		}
		for _, command := range []string{"verify", "lint"} {
			want := endings[command]
			t.Run(command+" "+mode, func(t *testing.T) {
				t.Parallel() // most of the time goes by waiting
				if command == "verify" {
					needsWorlds(t)
				}
				s := newScene(t)
				limit := "2s"
				if mode == "giant-line" {
					limit = "30s" // it is slow to read, and right
				}
				r := s.run(t, command, "--timeout", limit, "--", s.copyOf(t, "torture"), mode)
				r.wantCode(t, want.code)
				if !strings.Contains(r.stdout+r.stderr, want.says) {
					t.Errorf("nothing like %q in %v", want.says, r)
				}
				if want.code == 3 {
					wantHint(t, r)
				}
				s.wantNothingLeft(t)
			})
		}
	}
}

// both is an ending that verify and lint share.
func both(e ending) map[string]ending { return map[string]ending{"verify": e, "lint": e} }

var modeLine = regexp.MustCompile(`(?m)^  (\S+) `)

// tortureModes asks the server for its modes, so that none is forgotten.
func tortureModes(t *testing.T) []string {
	t.Helper()
	text, _ := exec.Command(built(t, "torture")).CombinedOutput() // without a mode it fails, and lists them
	var modes []string
	for _, m := range modeLine.FindAllStringSubmatch(string(text), -1) {
		modes = append(modes, m[1])
	}
	if len(modes) == 0 {
		t.Fatalf("no modes in %q", text)
	}
	return modes
}

// wantHint holds that a failure says what went wrong and what to do, and no more
// of what is inside the program.
func wantHint(t *testing.T, r result) {
	t.Helper()
	for _, want := range []string{"ax-check: error: ", "ax-check: hint: "} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("no %q in %v", want, r)
		}
	}
	if strings.Contains(r.stderr, "goroutine ") {
		t.Errorf("a crash: %v", r)
	}
}
