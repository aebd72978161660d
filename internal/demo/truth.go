package demo

import "github.com/ax-check/ax-check/internal/hint"

// Fact is what one tool of the demo server declares and does, for one hint.
type Fact struct {
	Tool     string
	Hint     hint.Name
	Declared hint.Value
	// Actual is what the code does. For a tool that only reads, destructive is
	// false and idempotent is true.
	Actual bool
}

// Lie reports whether the tool claims what is not so. A cautious value that is
// not needed, declared or by default, is no lie.
func (f Fact) Lie() bool {
	declared, ok := f.Declared.Bool()
	return ok && declared == f.Hint.Claim() && declared != f.Actual
}

// Truth lists every tool, in list order, with every hint, in report order: the
// answers that a verification of the demo server must arrive at, or at least
// not speak against.
func Truth() []Fact {
	var facts []Fact
	for _, t := range tools() {
		for _, name := range hint.Names() {
			actual, _ := t.does.of(name).Bool()
			facts = append(facts, Fact{t.name, name, t.declares.of(name), actual})
		}
	}
	return facts
}
