package judge

import (
	"slices"
	"strings"

	"github.com/ax-check/ax-check/internal/effect"
)

// trialCase is a subject with its evidence laid out for judging.
type trialCase struct {
	Subject
	world World
	calls []call        // of all trials that bear on a verdict, in order
	sets  []argumentSet // in order of first appearance
}

// call is the n-th call (1-based) of a trial.
type call struct {
	trial effect.Trial
	n     int
}

// argumentSet is the trials that share their arguments.
type argumentSet struct {
	label  string
	covers []effect.Coverage
	calls  []call
	pairs  []pair
}

// newCase leaves out what never makes a verdict: trials without a call, and two
// calls at the same time, whose effects cannot be told apart.
func newCase(s Subject, w World) *trialCase {
	c := &trialCase{Subject: s, world: w}
	place := map[string]int{}
	for _, t := range s.Trials {
		if t.Kind == effect.Control || t.Kind == effect.Concurrent || len(t.Calls) == 0 {
			continue
		}
		key := t.Set + "\x00" + string(t.Calls[0].Arguments)
		i, known := place[key]
		if !known {
			i = len(c.sets)
			place[key] = i
			c.sets = append(c.sets, argumentSet{label: t.Set, covers: t.Covers})
		}
		set := &c.sets[i]
		for n := range t.Calls {
			set.calls = append(set.calls, call{t, n + 1})
		}
		if len(t.Calls) > 1 {
			set.pairs = append(set.pairs, pair{t})
		}
	}
	for _, set := range c.sets {
		c.calls = append(c.calls, set.calls...)
	}
	return c
}

func (c *trialCase) which(test func(call) bool) []call {
	var out []call
	for _, k := range c.calls {
		if test(k) {
			out = append(out, k)
		}
	}
	return out
}

func (c *trialCase) count(test func(call) bool) int { return len(c.which(test)) }

// incidental names the files and contacts that were set apart, sorted.
func (c *trialCase) incidental() []string {
	targets := []string{}
	for _, k := range c.calls {
		for _, e := range k.effects() {
			if e.Incidental {
				targets = append(targets, fileOf(e))
			}
		}
	}
	slices.Sort(targets)
	return slices.Compact(targets)
}

func (k call) made() effect.Call        { return k.trial.Calls[k.n-1] }
func (k call) effects() []effect.Effect { return k.trial.Of(k.n) }
func (k call) effective() bool          { return k.trial.Effective(k.n) }
func (k call) changedState() bool       { return k.trial.StateChanged(k.n) }

// answered reports whether a live, settled server answered, the sandbox refused
// the call nothing, and none of its effects is unclear: what the call did not
// do, it does not do.
func (k call) answered() bool {
	m := k.made()
	return m.Replied() && !m.NetworkDependent && len(m.Refused) == 0 && k.unclear() == nil
}

// unclear gives a file that the call rewrote in an unknown format, as happens
// without the tool too: the tool's own change may be hidden in it.
func (k call) unclear() *effect.Effect {
	for _, e := range k.effects() {
		if isOpaque(e) && e.Incidental {
			return &e
		}
	}
	return nil
}

// tells reports whether what is not among the call's effects means something.
func (k call) tells() bool { return k.effective() && k.answered() }

func (k call) failed() bool { return k.made().Outcome != effect.OK }

// failedAlive reports a failure that is the server's answer, not a trial gone wrong.
func (k call) failedAlive() bool { return k.failed() && k.made().Replied() }

// state lists the effects on state that count.
func (k call) state() []effect.Effect {
	return slices.DeleteFunc(k.effects(), func(e effect.Effect) bool { return !e.IsState() })
}

// contents lists the effects on state that are more than a clock moving on.
func (k call) contents() []effect.Effect {
	return slices.DeleteFunc(k.state(), func(e effect.Effect) bool { return movesClock(e, k.made().Arguments) })
}

// destroyed lists the effects by which content was lost or replaced.
func (k call) destroyed() []effect.Effect {
	contents := k.contents()
	added := 0
	for _, e := range contents {
		if isAdditive(e) {
			added++
		}
	}
	return slices.DeleteFunc(contents, func(e effect.Effect) bool { return !e.IsDestructive() || countsEntries(e, added) })
}

func (k call) hasClass(test func(effect.Effect) bool) bool {
	return slices.ContainsFunc(k.contents(), test)
}

func isAdditive(e effect.Effect) bool { return e.Class == effect.Create || e.Class == effect.Append }

func isOpaque(e effect.Effect) bool { return e.Class == effect.Rewritten }

// refusesExisting reports a call that left an existing target as it was: it
// was turned down because the target exists, or it succeeded and says that there
// was nothing to do. That is a full test of whether the tool replaces what is
// there.
func (k call) refusesExisting() bool {
	m := k.made()
	if k.changedState() || !k.answered() {
		return false
	}
	return m.Outcome == effect.OK && m.Vacuous || k.failedAlive() && saysExists(m.Reply+" "+m.Reason)
}

// saysExists reports whether a refusal gives the target's existence as its reason.
func saysExists(text string) bool {
	text = strings.ToLower(text)
	for _, words := range []string{"already exist", "already in use", "already taken", "already registered", "file exists", "eexist", "duplicate key", "must be unique"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}
