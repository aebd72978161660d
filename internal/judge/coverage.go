package judge

import (
	"slices"

	"github.com/ax-check/ax-check/internal/effect"
)

// The arguments that a claim about state, or about contact, must have
// withstood.
var (
	stateCoverage   = []effect.Coverage{effect.Existing, effect.DoubleApply, effect.EnumValue, effect.Output}
	contactCoverage = []effect.Coverage{effect.EnumValue, effect.Outside}
)

// untried says which of the needed arguments the tool was not put to, "" when
// none is missing. tested tells whether an argument set really was a test.
//
// One set on an existing target and one edit that could apply twice are enough.
// Every value of an action-like enum and every parameter that names an output
// may do something else, so each of them is needed. And a set whose every call
// was refused, timed out or ended the server leaves a hole that the other sets
// do not fill.
func (c *trialCase) untried(needs []effect.Coverage, tested func(argumentSet) bool) string {
	for _, g := range c.Untried {
		if slices.Contains(needs, g.Coverage) {
			return g.Reason
		}
	}
	for _, s := range c.sets {
		if !slices.ContainsFunc(s.calls, call.answered) {
			return "a call" + with(s.label) + " " + trouble(s.calls[0])
		}
	}
	for _, need := range needs {
		if gap := c.uncovered(need, tested); gap != "" {
			return gap
		}
	}
	return ""
}

func (c *trialCase) uncovered(need effect.Coverage, tested func(argumentSet) bool) string {
	covering := slices.DeleteFunc(slices.Clone(c.sets), func(s argumentSet) bool { return !slices.Contains(s.covers, need) })
	switch need {
	case effect.Existing:
		if c.NamesTarget && !slices.ContainsFunc(covering, tested) {
			return "no call on an existing target took effect"
		}
	case effect.DoubleApply:
		if len(covering) > 0 && !slices.ContainsFunc(covering, tested) {
			return "no edit that could apply twice took effect"
		}
	case effect.EnumValue, effect.Output:
		for _, s := range covering {
			if !tested(s) {
				return "no call" + with(s.label) + " took effect"
			}
		}
	}
	return ""
}

func anyCall(test func(call) bool) func(argumentSet) bool {
	return func(s argumentSet) bool { return slices.ContainsFunc(s.calls, test) }
}

func with(label string) string {
	if label == "" {
		return ""
	}
	return " (" + label + ")"
}
