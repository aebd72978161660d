package judge

import (
	"fmt"
	"slices"

	"github.com/ax-check/ax-check/internal/effect"
	"github.com/ax-check/ax-check/internal/verbs"
)

// readOnly: any effect on state refutes it, in whatever call; only silence
// that means something supports it.
func (c *trialCase) readOnly() opinion {
	if changed := c.which(call.changedState); len(changed) > 0 {
		first := mostTelling(changed, call.state)
		code, reason := EffectSeen, fmt.Sprintf("%s; effects in %s", deed(first, first.state()), ofCalls(len(changed), len(c.calls)))
		if slices.ContainsFunc(changed, call.failed) {
			reason += "; a failing call changed state"
		}
		if !slices.ContainsFunc(changed, func(k call) bool { return !k.failed() }) {
			code = FailedCallEffect
		}
		return observed(false, code, reason+c.doubt(first), evidence(first, changed))
	}
	if !c.world.SeesState {
		return untested(Unobservable, "changes of state could not be observed")
	}
	silent := c.which(call.tells)
	if len(silent) == 0 {
		return c.nothingTold()
	}
	if o, grew := c.replyState(); grew {
		return o
	}
	if gap := c.untried(stateCoverage, anyCall(call.tells)); gap != "" {
		return untested(Untried, gap)
	}
	if c.Says.Writes() && !c.world.SeesMemory {
		return untested(UnseenState, "no effect in "+effectiveCalls(len(silent))+", but the tool says that it changes something, and state that only memory holds was not observed")
	}
	return observed(true, NoEffect, "no effect in "+effectiveCalls(len(silent))+c.aside(), evidence(adversarial(silent), silent))
}

// destructive is asked only of a tool that was seen to change state. It is
// believed to be false when calls that added something lost nothing, one that
// succeeded and, where the tool can name one, one on an existing target among
// them. A target that the tool refuses because it already exists is such a test
// too.
func (c *trialCase) destructive() opinion {
	if lost := c.which(func(k call) bool { return len(k.destroyed()) > 0 }); len(lost) > 0 {
		first := mostTelling(lost, call.destroyed)
		reason := fmt.Sprintf("%s; content lost or replaced in %s", deed(first, first.destroyed()), ofCalls(len(lost), len(c.calls)))
		return observed(true, ContentLost, reason+c.doubt(first), evidence(first, lost))
	}
	if opaque := c.which(func(k call) bool { return k.hasClass(isOpaque) }); len(opaque) > 0 {
		return unreadable(opaque[0], "whether content was lost is unknown")
	}
	if !c.world.SeesState {
		return untested(Unobservable, "changes of state could not be observed in full")
	}
	added := c.which(func(k call) bool { return k.tells() && k.hasClass(isAdditive) })
	if len(added) == 0 {
		if c.count(func(k call) bool { return k.hasClass(isAdditive) }) == 0 {
			return untested(NoEffectiveCall, "only a timestamp changed, nothing was added")
		}
		return untested(c.firstCause(func(k call) bool { return k.hasClass(isAdditive) }))
	}
	if !slices.ContainsFunc(added, func(k call) bool { return !k.failed() }) {
		return untested(NoEffectiveCall, "only failing calls changed state, and none of them lost anything")
	}
	spared := func(k call) bool { return k.tells() || k.refusesExisting() }
	if gap := c.untried(stateCoverage, anyCall(spared)); gap != "" {
		return untested(Untried, gap)
	}
	if c.Says == verbs.Destructive {
		return untested(Untried, "the tool says that it removes or replaces something, and no call had it do so")
	}
	tells := c.count(call.tells)
	reason := fmt.Sprintf("added something in %d of %s, nothing lost or replaced", len(added), effectiveCalls(tells))
	if c.NamesTarget {
		reason += ", existing targets included"
	}
	return observed(false, OnlyAdded, reason+c.aside(), evidence(adversarial(added), added))
}

// idempotent is asked only of a tool that was seen to change state. The state
// after the first call is compared with the state after the second, so the
// second call's effects decide. It is believed to be true when a call that
// succeeded was among those repeated without a further effect.
func (c *trialCase) idempotent() opinion {
	var pairs, adding, begun, opaque []pair
	for _, s := range c.sets {
		pairs = append(pairs, s.pairs...)
	}
	for _, p := range pairs {
		switch {
		case p.adds():
			adding = append(adding, p)
		case p.addsUnreadably():
			opaque = append(opaque, p)
		case p.clean():
			begun = append(begun, p)
		}
	}
	switch {
	case len(adding) > 0:
		return c.repeatChanges(adding, len(adding)+len(opaque)+len(begun))
	case len(opaque) > 0:
		return unreadable(opaque[0].second(), "whether the repeat changed content is unknown")
	case !c.world.SeesState:
		return untested(Unobservable, "changes of state could not be observed in full")
	case len(begun) == 0:
		return untested(NoPair, noPair(pairs))
	case !slices.ContainsFunc(begun, func(p pair) bool { return !p.first().failed() }):
		return untested(NoEffectiveCall, "only failing calls changed state, and repeating them changed nothing more")
	}
	if gap := missingKind(pairs, begun); gap != "" {
		return untested(NoPair, gap)
	}
	if gap := c.untried(stateCoverage, anyPair); gap != "" {
		return untested(Untried, gap)
	}
	return c.repeatChangesNothing(begun)
}

// openWorld: contact in any call confirms it, a failing one too. Silence tells
// only where contact was observable and arguments that name something outside
// were tried. A contact that the server also makes unasked is neither: the tool
// may or may not have made it.
func (c *trialCase) openWorld() opinion {
	if out := c.which(func(k call) bool { return len(k.contacts()) > 0 }); len(out) > 0 {
		reason := fmt.Sprintf("%s in %s", reached(out[0].contacts()[0]), ofCalls(len(out), len(c.calls)))
		return observed(true, Contacted, reason, evidence(out[0], out))
	}
	if !c.world.SeesContact {
		return untested(Unobservable, "contact with the network could not be observed")
	}
	if i := slices.IndexFunc(c.calls, func(k call) bool { return k.unclearContact() != nil }); i >= 0 {
		return untested(UnclearContact, reached(*c.calls[i].unclearContact())+", as the server also does without the tool")
	}
	silent := c.which(call.tells)
	if len(silent) == 0 {
		return c.nothingTold()
	}
	if c.NamesOutside && !slices.ContainsFunc(c.sets, func(s argumentSet) bool {
		return slices.Contains(s.covers, effect.Outside) && slices.ContainsFunc(s.calls, call.answered)
	}) {
		return untested(Untried, "no call named anything outside, though an argument can")
	}
	if gap := c.untried(contactCoverage, anyCall(call.tells)); gap != "" {
		return untested(Untried, gap)
	}
	return observed(false, NoContact, "no contact in "+effectiveCalls(len(silent)), evidence(adversarial(silent), silent))
}

func (k call) contacts() []effect.Effect {
	return slices.DeleteFunc(k.effects(), func(e effect.Effect) bool { return !e.IsOpenWorld() || e.Incidental || e.Volatile })
}

func (k call) unclearContact() *effect.Effect {
	for _, e := range k.effects() {
		if e.IsOpenWorld() && e.Incidental {
			return &e
		}
	}
	return nil
}

// replyState is about tools whose replies to identical calls count up while no
// observer sees a change: there is state, though not where anyone looked. It
// contradicts nothing, but it takes the worth from silence.
func (c *trialCase) replyState() (opinion, bool) {
	for _, s := range c.sets {
		for _, p := range s.pairs {
			a, b := p.first().made(), p.second().made()
			if a.Outcome == effect.OK && b.Outcome == effect.OK && countGrew(a.Reply, b.Reply) {
				return untested(ReplyState, "a number in the reply went up over identical calls, so there may be state that was not observed"), true
			}
		}
	}
	return opinion{}, false
}

func unreadable(k call, unknown string) opinion {
	i := slices.IndexFunc(k.state(), isOpaque)
	return untested(UnknownFormat, "rewrote "+short(k.state()[i])+" in a format that is not understood, so "+unknown)
}
