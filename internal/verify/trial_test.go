package verify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ax-check/ax-check/internal/effect"
	"github.com/ax-check/ax-check/internal/mcp"
)

func TestOutcome(t *testing.T) {
	for name, c := range map[string]struct {
		result mcp.CallResult
		err    error
		want   effect.Outcome
	}{
		"a reply":                       {mcp.CallResult{Text: "done"}, nil, effect.OK},
		"the tool's own error":          {mcp.CallResult{IsError: true, Text: "no"}, nil, effect.IsError},
		"a protocol error":              {mcp.CallResult{Error: &mcp.RPCError{Code: -32602, Message: "no"}}, nil, effect.ProtocolError},
		"no reply in time":              {mcp.CallResult{}, fmt.Errorf("call: %w", mcp.ErrTimeout), effect.Timeout},
		"a run that is out of time":     {mcp.CallResult{}, context.DeadlineExceeded, effect.Timeout},
		"a server that ended":           {mcp.CallResult{}, fmt.Errorf("call: %w", mcp.ErrGone), effect.Died},
		"an answer outside of protocol": {mcp.CallResult{}, mcp.ErrProtocol, effect.ProtocolError},
	} {
		t.Run(name, func(t *testing.T) {
			if got, _, reason := outcome(c.result, c.err); got != c.want || got != effect.OK && reason == "" {
				t.Errorf("outcome %q, reason %q; want %q with a reason", got, reason, c.want)
			}
		})
	}
}

func TestUniqueKeepsEveryChange(t *testing.T) {
	change := effect.Effect{Class: effect.Append, Target: "log"}
	contact := effect.Effect{Class: effect.Contact, Target: "api.example.com"}
	got := unique([]effect.Effect{change, change, contact, contact})
	if diff := cmp.Diff([]effect.Effect{change, change, contact}, got); diff != "" {
		t.Error(diff)
	}
}

func TestCappedCountsWhatItLeavesOut(t *testing.T) {
	var many []effect.Effect
	for i := range maxOfClass + 5 {
		many = append(many, effect.Effect{Class: effect.Create, Target: fmt.Sprint("f", i)})
	}
	many = append(many, effect.Effect{Class: effect.Delete, Target: "g"})
	got := capped(many)
	if len(got) != maxOfClass+1 || got[len(got)-1].Class != effect.Delete {
		t.Fatalf("%d effects, the last one %v", len(got), got[len(got)-1])
	}
	if last := got[maxOfClass-1]; last.Detail != "and 5 more like it" {
		t.Errorf("the last of the class says %q", last.Detail)
	}
}

func TestWithoutTheRestartItself(t *testing.T) {
	own := effect.Effect{Class: effect.Modify, Target: "pid"}
	late := effect.Effect{Class: effect.Create, Target: "saved.json"}
	if diff := cmp.Diff([]effect.Effect{late}, without([]effect.Effect{own, late}, []effect.Effect{own})); diff != "" {
		t.Error(diff)
	}
}

func TestStartErrorNamesTheCause(t *testing.T) {
	status := 1
	for name, c := range map[string]struct{ stderr, want string }{
		"a crash report that ends in a trace": {
			"node:internal/modules:1210\n  throw err;\n  ^\n\nError: Cannot find module 'x'\n    at f (a.js:1)\n    at g (a.js:2)\n\nNode.js v20\n",
			"it printed: Error: Cannot find module 'x'",
		},
		"a trace that ends in the error": {
			"Traceback (most recent call last):\n  File \"s.py\", line 1\nModuleNotFoundError: No module named 'mcp'\n",
			"it printed: ModuleNotFoundError: No module named 'mcp'",
		},
		"plain words": {"API_KEY is not set\n", "it printed: API_KEY is not set"},
		"nothing":     {"", "exit status 1)"},
	} {
		t.Run(name, func(t *testing.T) {
			e := &StartError{Err: fmt.Errorf("initialize: %w", mcp.ErrGone), Status: &status, Stderr: c.stderr}
			if got := e.Error(); !strings.HasSuffix(got, c.want) || !errors.Is(e, mcp.ErrGone) {
				t.Errorf("error %q does not end in %q", got, c.want)
			}
		})
	}
}
