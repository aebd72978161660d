// Package rule defines what a lint rule is and runs rules over a tool list.
// It is pure: no file, no clock, no state that outlives a run.
package rule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ax-check/ax-check/internal/finding"
)

// Docs is where the rules' pages are published.
const Docs = "https://github.com/ax-check/ax-check/blob/main/docs/rules/"

// Mode says what a rule looks at.
type Mode string

// Lint rules look at tool lists, Wire rules at what a running server sends.
const (
	Lint Mode = "lint"
	Wire Mode = "wire"
)

// Rule is one check, with everything that is told about it anywhere: reports,
// `ax-check rules`, `ax-check explain` and docs/rules are printed from it.
type Rule struct {
	ID        string // "AXC-D010"; never given to another rule
	Title     string
	Severity  finding.Severity
	Kind      finding.Kind
	Mode      Mode
	AppliesTo string
	Tags      []string
	Fix       string // one line
	// Page is the prose in the form that ParseDoc reads.
	Page string
	// Run reports through the pass and keeps no state. It is nil for Wire rules.
	Run func(*Pass)
}

// DocsURL is the address of the rule's page.
func (r Rule) DocsURL() string { return Docs + r.ID + ".md" }

// OfServer makes a finding about a server as a whole, for Wire rules.
func (r Rule) OfServer(message string) finding.Finding {
	f := r.finding(message)
	f.Sign("")
	return f
}

func (r Rule) finding(message string) finding.Finding {
	return finding.Finding{
		Rule: r.ID, Severity: r.Severity, Kind: r.Kind,
		Message: message, Fix: r.Fix, Docs: r.DocsURL(),
	}
}

// Find returns the rule with the id, whose case does not matter, or an
// *UnknownError.
func Find(rules []Rule, id string) (Rule, error) {
	for _, r := range rules {
		if strings.EqualFold(r.ID, id) {
			return r, nil
		}
	}
	return Rule{}, &UnknownError{ID: id, Near: near(rules, id)}
}

// Without returns the rules that are not named. A name that no rule has is an
// *UnknownError: a misspelt one must not pass for a disabled rule.
func Without(rules []Rule, disabled []string) ([]Rule, error) {
	off := map[string]bool{}
	for _, id := range disabled {
		r, err := Find(rules, id)
		if err != nil {
			return nil, err
		}
		off[r.ID] = true
	}
	return slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool { return off[r.ID] }), nil
}

// UnknownError says that there is no such rule.
type UnknownError struct {
	ID   string
	Near []string // ids that were perhaps meant
}

func (e *UnknownError) Error() string { return fmt.Sprintf("unknown rule %q", e.ID) }

// near finds ids that differ from the given one in a character, or in what
// people leave out of an id: the AXC-, the letter, the zeros.
func near(rules []Rule, id string) []string {
	given := bare(id)
	var ids []string
	for _, r := range rules {
		if oneEdit(bare(r.ID), given) || digits(r.ID) == digits(id) && digits(id) != "" {
			ids = append(ids, r.ID)
		}
	}
	return ids[:min(4, len(ids))]
}

func bare(id string) string { return strings.TrimPrefix(strings.ToUpper(id), "AXC-") }

func digits(id string) string {
	return strings.TrimLeft(strings.Trim(bare(id), "ABCDEFGHIJKLMNOPQRSTUVWXYZ-"), "0")
}

// oneEdit reports whether one character changed, added or left out makes a of b.
func oneEdit(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	if len(a)-len(b) > 1 {
		return false
	}
	i := 0
	for i < len(b) && a[i] == b[i] {
		i++
	}
	return len(a) == len(b) && (i == len(b) || a[i+1:] == b[i+1:]) || len(a) > len(b) && a[i+1:] == b[i:]
}
