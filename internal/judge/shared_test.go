package judge_test

import (
	"testing"

	"github.com/ax-check/ax-check/internal/effect"
	"github.com/ax-check/ax-check/internal/hint"
	"github.com/ax-check/ax-check/internal/judge"
	"github.com/ax-check/ax-check/internal/verbs"
	"github.com/ax-check/ax-check/internal/verdict"
)

func lineIn(target string) effect.Effect {
	return effect.Effect{Class: effect.Append, Kind: effect.KindFile, Target: target, After: ptr("a line"), Digest: target + "+"}
}

func onceWith(effects ...effect.Effect) effect.Trial {
	for i := range effects {
		effects[i].Call = 1
	}
	return effect.Trial{Kind: effect.Once, Calls: []effect.Call{ok().call}, Effects: effects}
}

func says(s judge.Subject, kind verbs.Kind) judge.Subject {
	s.Says = kind
	return declares(s, hint.ReadOnly, hint.True)
}

func readOnlyOf(t *testing.T, w judge.World, subjects ...judge.Subject) []verdict.Verdict {
	t.Helper()
	var out []verdict.Verdict
	for _, s := range judge.MarkIncidental(w, subjects) {
		out = append(out, judge.Tool(s, w).Hints[hint.ReadOnly].Verdict)
	}
	return out
}

func TestReadersShareALog(t *testing.T) {
	log := func(name string, kind verbs.Kind) judge.Subject {
		return says(tool(name, onceWith(lineIn("/w/usage.log"))), kind)
	}
	three := readOnlyOf(t, world, log("a", verbs.Read), log("b", verbs.Read), log("c", verbs.Read))
	for i, v := range three {
		if v != verdict.Supported {
			t.Errorf("reader %d of three is %s for a log that they share", i, v)
		}
	}
	for i, v := range readOnlyOf(t, world, log("a", verbs.Read), log("b", verbs.Read), log("c", verbs.Unknown)) {
		if v != verdict.Contradicted {
			t.Errorf("tool %d is %s, with two readers only", i, v)
		}
	}
}

func TestReadersDoNotShareAStoreThatIsReplaced(t *testing.T) {
	replaced := effect.Effect{Class: effect.Modify, Kind: effect.KindFile, Target: "/w/store", Before: ptr("one"), After: ptr("two"), Digest: "2"}
	var subjects []judge.Subject
	for _, name := range []string{"a", "b", "c"} {
		subjects = append(subjects, says(tool(name, onceWith(replaced)), verbs.Read))
	}
	for i, v := range readOnlyOf(t, world, subjects...) {
		if v != verdict.Contradicted {
			t.Errorf("tool %d is %s, and it replaces what a store holds", i, v)
		}
	}
}

func TestATimersWorkIsNoTools(t *testing.T) {
	beat := effect.Effect{Class: effect.Modify, Kind: effect.KindJSON, Target: "/w/state.json#/beats", Before: ptr("4"), After: ptr("5"), Digest: "5"}
	ticking := world
	ticking.Unasked = []effect.Effect{{Class: effect.Modify, Kind: effect.KindJSON, Target: "/w/state.json#/beats", Before: ptr("1"), After: ptr("2"), Digest: "2"}}
	if v := readOnlyOf(t, ticking, says(tool("a", onceWith(beat)), verbs.Read)); v[0] == verdict.Contradicted {
		t.Error("a reader is accused of what the server does on a timer")
	}
	if v := readOnlyOf(t, world, says(tool("a", onceWith(beat)), verbs.Read)); v[0] != verdict.Contradicted {
		t.Errorf("the same change without a timer is %s", v[0])
	}
}

func TestAnAuditTrailBesideAnAppend(t *testing.T) {
	changed := func(file string) effect.Effect {
		return effect.Effect{Class: effect.Modify, Kind: effect.KindFile, Target: file, Before: ptr("one"), After: ptr("two"), Digest: file}
	}
	var subjects []judge.Subject
	for _, name := range []string{"a", "b", "c"} {
		first := onceWith(changed("/w/"+name), lineIn("/w/audit.log"))
		first.Kind = effect.Twice
		first.Calls = append(first.Calls, ok().call)
		second := lineIn("/w/audit.log")
		second.Call = 2
		first.Effects = append(first.Effects, second)
		subjects = append(subjects, declares(tool(name, first), hint.Idempotent, hint.True))
	}
	subjects = append(subjects, tool("adds", onceWith(lineIn("/w/items"), lineIn("/w/audit.log"))))
	for _, s := range judge.MarkIncidental(world, subjects)[:3] {
		if v := judge.Tool(s, world).Hints[hint.Idempotent].Verdict; v == verdict.Contradicted {
			t.Errorf("%s is accused of a line in the audit trail", *s.Name)
		}
	}
}

func TestReadersExcuseNobodyElse(t *testing.T) {
	subjects := []judge.Subject{says(tool("jot", onceWith(lineIn("/w/journal"))), verbs.Unknown)}
	for _, name := range []string{"a", "b", "c"} {
		subjects = append(subjects, says(tool(name, onceWith(lineIn("/w/journal"))), verbs.Read))
	}
	// One more that reads, and leaves the file alone: it is not every call's log.
	subjects = append(subjects, says(tool("d", onceWith()), verbs.Unknown))
	if v := readOnlyOf(t, world, subjects...); v[0] != verdict.Contradicted {
		t.Errorf("a tool that does not say it reads is %s for what it adds to the readers' file", v[0])
	}
}
