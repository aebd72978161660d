// Package rules holds the rules: for each one a Go file with the value and its
// function, a Markdown file with the page, and a folder of examples under
// testdata. It is pure: no file, no network, no clock.
package rules

import "github.com/ax-check/ax-check/internal/rule"

//go:generate go run ../gen/ruledocs ../../docs/rules

// All lists every rule, sorted by id.
func All() []rule.Rule {
	return []rule.Rule{
		MalformedEntry,
		ReadOnlyWriteVerb,
		NoHints,
		NonDestructiveVerb,
		ReadOnlyAndDestructive,
		HintNotBoolean,
		StdoutNoise,
		CursorRepeats,
		ReplyIDType,
		ReplyNotJSON,
	}
}
