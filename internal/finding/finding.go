// Package finding is the vocabulary of what lint and the wire client report.
package finding

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// Severity orders findings; the zero value is not a severity.
type Severity int

// Error breaks a MUST or loses tools, Warn is legal but rejected, dropped or
// mis-prompted somewhere, Info is cost or quality.
const (
	Info Severity = iota + 1
	Warn
	Error
)

var severityNames = map[Severity]string{Info: "info", Warn: "warn", Error: "error"}

func (s Severity) String() string { return severityNames[s] }

// MarshalText writes the severity as in every report.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote; an unknown word is left as zero.
func (s *Severity) UnmarshalText(b []byte) error {
	*s, _ = ParseSeverity(string(b))
	return nil
}

// ParseSeverity reads "info", "warn" or "error".
func ParseSeverity(word string) (Severity, bool) {
	for s, n := range severityNames {
		if n == word {
			return s, true
		}
	}
	return 0, false
}

// Kind says how sure a finding is.
type Kind string

// Conformance is a fact about the input, Heuristic a judgement from words.
const (
	Conformance Kind = "conformance"
	Heuristic   Kind = "heuristic"
)

// Finding is one thing to report about a tool list or a server.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Kind     Kind     `json:"kind"`
	// Tool and Index are nil for a finding about the whole list or the wire.
	Tool  *string `json:"tool"`
	Index *int    `json:"index"`
	// Pointer is an RFC 6901 pointer into the input document.
	Pointer string `json:"pointer"`
	// File is nil for a server; Line and Column are 1-based and nil with it.
	File    *string `json:"file"`
	Line    *int    `json:"line"`
	Column  *int    `json:"column"`
	Message string  `json:"message"`
	Fix     string  `json:"fix"`
	Docs    string  `json:"docs"`
	// Fingerprint stays the same when lines move or wording changes.
	Fingerprint string `json:"fingerprint"`
}

// Sign sets the fingerprint from the rule, the tool's name and the place below
// the tool, never from line numbers, array positions or wording.
func (f *Finding) Sign(below string) {
	name := ""
	if f.Tool != nil {
		name = *f.Tool
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{f.Rule, name, below}, "\x00")))
	f.Fingerprint = hex.EncodeToString(sum[:8])
}

// Sort puts findings in report order: by file, place in the list, rule, pointer.
func Sort(fs []Finding) {
	slices.SortStableFunc(fs, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(deref(a.File), deref(b.File)),
			cmp.Compare(deref(a.Index), deref(b.Index)),
			cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Pointer, b.Pointer),
		)
	})
}

func deref[T any](p *T) T {
	var zero T
	if p == nil {
		return zero
	}
	return *p
}
