package judge_test

import (
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/ax-check/ax-check/internal/effect"
	"github.com/ax-check/ax-check/internal/hint"
	"github.com/ax-check/ax-check/internal/judge"
	"github.com/ax-check/ax-check/internal/verdict"
)

var (
	anyEffect = rapid.Custom(func(t *rapid.T) effect.Effect {
		return effect.Effect{
			Class:     rapid.SampledFrom([]effect.Class{effect.Create, effect.Append, effect.Modify, effect.Delete, effect.Rewritten, effect.Contact, effect.Spawn}).Draw(t, "class"),
			Kind:      rapid.SampledFrom([]string{effect.KindFile, effect.KindDir, effect.KindJSON, effect.KindNetwork, effect.KindLoopback}).Draw(t, "kind"),
			Target:    rapid.SampledFrom([]string{"", "/", "/a", "/a#", "/a#/b", "/a#/b/0", "/tmp/c", "/a#/", "host:1"}).Draw(t, "target"),
			Volatile:  rapid.Bool().Draw(t, "volatile"),
			Truncated: rapid.Bool().Draw(t, "truncated"),
			Digest:    rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "digest"),
			Before:    rapid.Ptr(rapid.SampledFrom([]string{"1", "2026-01-01", "x"}), true).Draw(t, "before"),
			After:     rapid.Ptr(rapid.SampledFrom([]string{"2", "2026-01-02", "y"}), true).Draw(t, "after"),
			Call:      rapid.IntRange(0, 3).Draw(t, "call"),
		}
	})
	anyOutcome = rapid.SampledFrom([]effect.Outcome{effect.OK, effect.SoftError, effect.IsError, effect.ProtocolError, effect.Timeout, effect.Died, effect.Unsettled})
	anyCall    = rapid.Custom(func(t *rapid.T) effect.Call {
		return effect.Call{
			Arguments:        []byte(rapid.SampledFrom([]string{`{}`, `{"f":"a"}`}).Draw(t, "arguments")),
			Outcome:          anyOutcome.Draw(t, "outcome"),
			Vacuous:          rapid.Bool().Draw(t, "vacuous"),
			NetworkDependent: rapid.IntRange(0, 5).Draw(t, "network") == 0,
			Reply:            rapid.SampledFrom([]string{"", "n: 1", "n: 2", "already exists"}).Draw(t, "reply"),
		}
	})
	anyTrial = rapid.Custom(func(t *rapid.T) effect.Trial {
		return effect.Trial{
			ID:      rapid.StringMatching("e[1-9]").Draw(t, "id"),
			Kind:    rapid.SampledFrom([]effect.TrialKind{effect.Control, effect.Once, effect.Twice, effect.Restart, effect.Concurrent}).Draw(t, "kind"),
			Covers:  rapid.SliceOfN(rapid.SampledFrom([]effect.Coverage{effect.Existing, effect.DoubleApply, effect.EnumValue, effect.Output, effect.Outside}), 0, 2).Draw(t, "covers"),
			Calls:   rapid.SliceOfN(anyCall, 0, 2).Draw(t, "calls"),
			Effects: rapid.SliceOfN(anyEffect, 0, 4).Draw(t, "effects"),
		}
	})
	anySubject = rapid.Custom(func(t *rapid.T) judge.Subject {
		s := judge.Subject{
			Name:         ptr(rapid.StringMatching("[a-c]").Draw(t, "name")),
			Declared:     hint.Set{},
			Trials:       rapid.SliceOfN(anyTrial, 0, 4).Draw(t, "trials"),
			NamesTarget:  rapid.Bool().Draw(t, "target"),
			NamesOutside: rapid.Bool().Draw(t, "outside"),
		}
		for _, n := range hint.Names() {
			s.Declared[n] = rapid.SampledFrom([]hint.Value{hint.Absent, hint.False, hint.True}).Draw(t, string(n))
		}
		return s
	})
)

// Whatever was seen: no panic, the same verdict again, and what the definition
// of the verdicts promises holds.
func TestVerdictsKeepTheirPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := world
		w.Noise = rapid.SliceOfN(anyEffect, 0, 2).Draw(t, "noise")
		w.Rejected = rapid.SliceOfN(anyEffect, 0, 2).Draw(t, "rejected")
		for _, s := range judge.MarkIncidental(w, rapid.SliceOfN(anySubject, 1, 4).Draw(t, "subjects")) {
			got := judge.Tool(s, w)
			if !reflect.DeepEqual(got, judge.Tool(s, w)) {
				t.Fatal("two judgements of the same evidence differ")
			}
			for _, n := range hint.Names() {
				if why := broken(n, got.Hints[n]); why != "" {
					t.Fatalf("%s: %s: %+v", n, why, got.Hints[n])
				}
			}
			if got.Hints[hint.ReadOnly].Observed != nil && *got.Hints[hint.ReadOnly].Observed == changedState(s) {
				t.Fatalf("readOnlyHint observed %t against the effects", *got.Hints[hint.ReadOnly].Observed)
			}
		}
	})
}

func changedState(s judge.Subject) bool {
	for _, t := range s.Trials {
		for n := range t.Calls {
			if t.Kind != effect.Control && t.Kind != effect.Concurrent && t.StateChanged(n+1) {
				return true
			}
		}
	}
	return false
}

func broken(n hint.Name, h verdict.Hint) string {
	untested := h.Verdict == verdict.Untested
	declared, isDeclared := h.Declared.Bool()
	switch {
	case h.Reason == "" || h.ReasonCode == "":
		return "no reason"
	case untested != (h.Observed == nil):
		return "observed is null exactly when untested"
	case untested && h.Suggested != n.Default(), !untested && h.Suggested != *h.Observed:
		return fmt.Sprintf("suggested is %t", h.Suggested)
	case !untested && len(h.Evidence) == 0:
		return "no evidence"
	case h.Verdict == verdict.Contradicted && !(isDeclared && declared == n.Claim() && *h.Observed != n.Claim()):
		return "only a declared claim is contradicted"
	case h.Verdict == verdict.Moot && n != hint.Destructive && n != hint.Idempotent:
		return "only destructive and idempotent can be moot"
	}
	return ""
}

// Telling bookkeeping apart must stay cheap for large servers with a log.
func BenchmarkMarkIncidental(b *testing.B) {
	subjects := logged(300, failing(appended(serverLog)), once(ok(appended(serverLog))), once(ok(appended(serverLog), created(notes))))
	for b.Loop() {
		judge.MarkIncidental(world, subjects)
	}
}
