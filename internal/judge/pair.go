package judge

import (
	"fmt"
	"slices"

	"github.com/ax-check/ax-check/internal/effect"
)

// pair is the same call made twice, in one process or with a restart between.
type pair struct{ trial effect.Trial }

func (p pair) first() call         { return call{p.trial, 1} }
func (p pair) second() call        { return call{p.trial, 2} }
func (p pair) acrossRestart() bool { return p.trial.Kind == effect.Restart }

// adds reports an additional effect of the repeat.
func (p pair) adds() bool {
	return p.repeats() && slices.ContainsFunc(p.more(), func(e effect.Effect) bool { return !isOpaque(e) })
}

// addsUnreadably reports a repeat that only rewrote files in formats that no
// observer understands. New bytes there may be nothing but a change counter or
// a packed timestamp, so this speaks neither for nor against.
func (p pair) addsUnreadably() bool {
	return p.repeats() && len(p.more()) > 0 && !p.adds()
}

// repeats reports whether the second call repeats something. After a first call
// that came to nothing, or whose reply was late, the second may only do what
// was left to do.
func (p pair) repeats() bool {
	return p.first().made().Replied() && p.first().effective()
}

// clean reports a test that the claim has passed: the first call changed
// state, and the repeat, answered by a live server, changed nothing more. A
// repeat that fails has no additional effect either.
func (p pair) clean() bool {
	return p.begun() && p.second().answered() && len(p.more()) == 0
}

// begun reports whether there is something to repeat.
func (p pair) begun() bool {
	return p.first().made().Replied() && len(p.first().contents()) > 0
}

// more lists what the repeat changed, leaving out what ended in the bytes that
// the first call had written there.
func (p pair) more() []effect.Effect {
	written := map[string]string{}
	for _, e := range p.first().contents() {
		written[e.Target] = e.Digest
	}
	return slices.DeleteFunc(p.second().contents(), func(e effect.Effect) bool {
		return isOpaque(e) && e.Digest != "" && written[e.Target] == e.Digest
	})
}

// anyPair reports whether a repeat with these arguments was put to the test,
// whether or not there was something to change.
func anyPair(s argumentSet) bool {
	return slices.ContainsFunc(s.pairs, func(p pair) bool {
		a, b := p.first(), p.second()
		return (a.tells() || a.refusesExisting()) && b.answered() && len(p.more()) == 0
	})
}

func (c *trialCase) repeatChanges(adding []pair, of int) opinion {
	first := adding[0]
	calls := make([]call, len(adding))
	onlyRestart := true
	for i, p := range adding {
		calls[i] = p.second()
		onlyRestart = onlyRestart && p.acrossRestart()
	}
	deedDone := deed(first.second(), first.more())
	counts := fmt.Sprintf("%d of %s", len(adding), counted(of, "pair"))
	if onlyRestart && slices.ContainsFunc(c.sets, func(s argumentSet) bool {
		return slices.ContainsFunc(s.pairs, func(p pair) bool { return !p.acrossRestart() && p.clean() })
	}) {
		return observed(false, RestartRepeatChanges, "second call with the same arguments "+deedDone+
			" after a restart, though it changed nothing in the same process; "+counts, evidence(calls[0], calls))
	}
	return observed(false, RepeatChanges, "second call with the same arguments "+deedDone+"; "+counts+c.doubt(first.second()), evidence(calls[0], calls))
}

func (c *trialCase) repeatChangesNothing(clean []pair) opinion {
	calls := make([]call, len(clean))
	restarts := 0
	for i, p := range clean {
		calls[i] = p.second()
		if p.acrossRestart() {
			restarts++
		}
	}
	reason := fmt.Sprintf("second call with the same arguments changed nothing; %d of %s", len(clean), counted(len(clean), "pair"))
	if restarts > 0 {
		reason += fmt.Sprintf(", %d across a restart", restarts)
	}
	return observed(true, RepeatChangesNothing, reason+c.aside(), evidence(adversarial(calls), calls))
}

// missingKind says which kind of repeat was run without one that could be judged.
func missingKind(pairs, clean []pair) string {
	inProcess := func(p pair) bool { return !p.acrossRestart() }
	if !slices.ContainsFunc(clean, inProcess) {
		return "no repeat in the same process could be judged"
	}
	if slices.ContainsFunc(pairs, pair.acrossRestart) && !slices.ContainsFunc(clean, pair.acrossRestart) {
		return "no repeat across a restart could be judged"
	}
	return ""
}

// noPair says why none of the pairs tells anything.
func noPair(pairs []pair) string {
	if len(pairs) == 0 {
		return "no call was repeated"
	}
	begun := slices.DeleteFunc(slices.Clone(pairs), func(p pair) bool { return !p.begun() })
	if i := slices.IndexFunc(pairs, func(p pair) bool { return !p.first().made().Replied() }); len(begun) == 0 && i >= 0 {
		return "the first call of a pair " + trouble(pairs[i].first()) + "; " + counted(len(pairs), "pair") + " tried"
	}
	if len(begun) == 0 {
		return "no repeated call had changed anything the first time; " + counted(len(pairs), "pair") + " tried"
	}
	return "the repeat " + trouble(begun[0].second()) + "; " + counted(len(begun), "pair") + " tried"
}
