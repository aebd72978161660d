package judge_test

import (
	"encoding/json"

	"github.com/ax-check/ax-check/internal/effect"
	"github.com/ax-check/ax-check/internal/hint"
	"github.com/ax-check/ax-check/internal/judge"
	"github.com/ax-check/ax-check/internal/verdict"
)

// world is one in which everything can be seen.
var world = judge.World{Tier: verdict.Namespaces, SeesState: true, SeesContact: true, CacheDirs: []string{"/home/.cache", "/tmp"}}

func ptr[T any](v T) *T { return &v }

// tool is a subject that declares nothing yet.
func tool(name string, trials ...effect.Trial) judge.Subject {
	for i := range trials {
		trials[i].Tool = name
		if trials[i].ID == "" {
			trials[i].ID = "e" + string(rune('1'+i))
		}
	}
	return judge.Subject{Name: &name, Trials: trials}
}

func declares(s judge.Subject, n hint.Name, v hint.Value) judge.Subject {
	s.Declared = hint.Set{n: v}
	return s
}

// step is one call with what it did.
type step struct {
	call    effect.Call
	effects []effect.Effect
}

func ok(effects ...effect.Effect) step {
	return step{effect.Call{Arguments: json.RawMessage(`{"q":"x"}`), Outcome: effect.OK}, effects}
}

func ends(outcome effect.Outcome, reason string, effects ...effect.Effect) step {
	s := ok(effects...)
	s.call.Outcome, s.call.Reason = outcome, reason
	return s
}

func (s step) with(change func(*effect.Call)) step {
	change(&s.call)
	return s
}

func vacuous(c *effect.Call)    { c.Vacuous = true }
func offline(c *effect.Call)    { c.NetworkDependent = true }
func readOnlyFS(c *effect.Call) { c.Refused = []string{"/etc/app.conf"} }
func replies(text string) func(*effect.Call) {
	return func(c *effect.Call) { c.Reply = text }
}

func argues(json string) func(*effect.Call) {
	return func(c *effect.Call) { c.Arguments = []byte(json) }
}

func trial(kind effect.TrialKind, steps ...step) effect.Trial {
	t := effect.Trial{Kind: kind}
	for i, s := range steps {
		t.Calls = append(t.Calls, s.call)
		for _, e := range s.effects {
			e.Call = i + 1
			t.Effects = append(t.Effects, e)
		}
	}
	return t
}

func once(s step) effect.Trial       { return trial(effect.Once, s) }
func twice(a, b step) effect.Trial   { return trial(effect.Twice, a, b) }
func restart(a, b step) effect.Trial { return trial(effect.Restart, a, b) }
func set(label string, t effect.Trial, covers ...effect.Coverage) effect.Trial {
	t.Set, t.Covers = label, covers
	return t
}

func change(class effect.Class, kind, target string) effect.Effect {
	return effect.Effect{Class: class, Kind: kind, Target: target}
}

func created(file string) effect.Effect   { return change(effect.Create, effect.KindFile, file) }
func appended(file string) effect.Effect  { return change(effect.Append, effect.KindFile, file) }
func overwrote(file string) effect.Effect { return change(effect.Modify, effect.KindFile, file) }
func deleted(file string) effect.Effect   { return change(effect.Delete, effect.KindFile, file) }
func rewrote(file string) effect.Effect   { return change(effect.Rewritten, effect.KindFile, file) }

func entry(pointer string) effect.Effect { return change(effect.Append, effect.KindJSON, pointer) }

func contacted(host string) effect.Effect { return change(effect.Contact, effect.KindNetwork, host) }

func lookedUp(name string) effect.Effect { return change(effect.Contact, effect.KindLookup, name) }

func touchedLoop(addr string) effect.Effect { return change(effect.Contact, effect.KindLoopback, addr) }

func value(pointer, before, after string) effect.Effect {
	e := change(effect.Modify, effect.KindJSON, pointer)
	e.Before, e.After = &before, &after
	return e
}

func digest(e effect.Effect, d string) effect.Effect {
	e.Digest = d
	return e
}

func volatile(e effect.Effect) effect.Effect {
	e.Volatile = true
	return e
}
