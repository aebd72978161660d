package rules

import (
	_ "embed"
	"fmt"

	"github.com/ax-check/ax-check/internal/finding"
	"github.com/ax-check/ax-check/internal/hint"
	"github.com/ax-check/ax-check/internal/jsondoc"
	"github.com/ax-check/ax-check/internal/rule"
	"github.com/ax-check/ax-check/internal/toolset"
	"github.com/ax-check/ax-check/internal/verbs"
)

//go:embed no_hints.md
var noHintsPage string

// NoHints reports tools that say nothing about their side effects.
var NoHints = rule.Rule{
	ID:        "AXC-D010",
	Title:     "No side-effect annotations",
	Severity:  finding.Info,
	Kind:      finding.Conformance,
	Mode:      rule.Lint,
	AppliesTo: "MCP tool lists",
	Tags:      []string{"approval", "confirmation", "idempotency"},
	Fix:       "Declare readOnlyHint, destructiveHint, idempotentHint and openWorldHint explicitly.",
	Page:      noHintsPage,
	Run:       noHints,
}

func noHints(pass *rule.Pass) {
	for _, tool := range pass.Tools {
		if tool.Node.Kind == jsondoc.Object && !declaresAny(tool) {
			pass.Report(tool, nil, "/annotations", fmt.Sprintf(
				"%s declares none of the four side-effect hints; %s", tool.Label(), adviceFor(pass.Sense(tool))))
		}
	}
}

func declaresAny(tool toolset.Tool) bool {
	for _, name := range hint.Names() {
		if tool.Hints[name].Value != hint.Absent {
			return true
		}
	}
	return false
}

func adviceFor(sense verbs.Sense) string {
	switch {
	case sense.Kind.Writes():
		return fmt.Sprintf("its %s suggests a write (%q): declare destructiveHint and idempotentHint", sense.Place, sense.Verb)
	case sense.Kind == verbs.Read:
		return fmt.Sprintf("its %s suggests a read (%q): declare readOnlyHint: true", sense.Place, sense.Verb)
	}
	return "clients will assume that it may be destructive"
}
