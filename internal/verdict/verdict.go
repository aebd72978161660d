// Package verdict is the vocabulary of what the judge says about a hint.
package verdict

import (
	"encoding/json"

	"github.com/ax-check/ax-check/internal/hint"
)

// Verdict is the judgement of one hint of one tool.
type Verdict string

// See docs/guide/reading-a-verdict.md for each in a reader's words.
const (
	Contradicted Verdict = "contradicted" // the declared claim is false
	Supported    Verdict = "supported"    // the declared claim was tested and nothing spoke against it
	Confirmed    Verdict = "confirmed"    // the declared cautious value was seen to be true
	Overcautious Verdict = "overcautious" // the evidence supports a safer value than the declared or default one
	Undeclared   Verdict = "undeclared"   // absent, and the evidence shows that the default is right
	Untested     Verdict = "untested"     // could not be told; the reason says why
	Moot         Verdict = "moot"         // destructive and idempotent of a tool observed to be read-only
)

// All lists the seven verdicts in summary order.
func All() []Verdict {
	return []Verdict{Contradicted, Supported, Confirmed, Overcautious, Undeclared, Untested, Moot}
}

// Tier says how well the world could be observed.
type Tier string

// Namespaces is full isolation; the others are weaker, see ARCHITECTURE.md.
const (
	Namespaces Tier = "namespaces"
	Landlock   Tier = "landlock"
	Copies     Tier = "copies"
	Remote     Tier = "remote"
)

// Hint is the verdict on one hint of one tool.
type Hint struct {
	Declared hint.Value `json:"declared"`
	// DeclaredRaw is the JSON text of a value that is present but not a boolean.
	DeclaredRaw json.RawMessage `json:"declared_raw,omitzero"`
	// Effective is the declared value, else the default: what a client acts on.
	Effective bool `json:"effective"`
	// Observed is nil exactly when the verdict is Untested.
	Observed *bool   `json:"observed"`
	Verdict  Verdict `json:"verdict"`
	// Suggested is the value to publish: the cautious one unless the evidence
	// supports the safer one.
	Suggested bool `json:"suggested"`
	Tier      Tier `json:"tier"`
	// ReasonCode is stable and short, for programs; Reason is a sentence.
	ReasonCode string `json:"reason_code"`
	Reason     string `json:"reason"`
	// Evidence holds trial ids; never empty unless Untested.
	Evidence []string `json:"evidence"`
}

// Boundary says what was observed and what was not.
type Boundary struct {
	Tier        Tier     `json:"tier"`
	Observed    []string `json:"observed"`
	NotObserved []string `json:"not_observed"`
}

// Tool is the verdicts on all four hints of one tool.
type Tool struct {
	// Name is nil for a malformed entry of the list.
	Name  *string
	Index int
	// Made and Effective count the calls of the tool.
	Made, Effective int
	// Incidental names targets that were set apart as bookkeeping.
	Incidental []string
	Hints      map[hint.Name]Hint
}

// Undecided is the verdict on a tool that nothing is known about: all four
// hints untested, with the same reason.
func Undecided(name *string, index int, declared hint.Set, raw map[hint.Name]json.RawMessage, tier Tier, code, reason string) Tool {
	t := Tool{Name: name, Index: index, Hints: map[hint.Name]Hint{}}
	for _, n := range hint.Names() {
		t.Hints[n] = Hint{
			Declared:    declared[n],
			DeclaredRaw: raw[n],
			Effective:   declared[n].Effective(n),
			Verdict:     Untested,
			Suggested:   n.Default(),
			Tier:        tier,
			ReasonCode:  code,
			Reason:      reason,
		}
	}
	return t
}
