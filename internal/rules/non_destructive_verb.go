package rules

import (
	_ "embed"
	"fmt"

	"github.com/ax-check/ax-check/internal/finding"
	"github.com/ax-check/ax-check/internal/hint"
	"github.com/ax-check/ax-check/internal/rule"
	"github.com/ax-check/ax-check/internal/verbs"
)

//go:embed non_destructive_verb.md
var nonDestructiveVerbPage string

// NonDestructiveVerb reports tools whose words say that they destroy while the
// hint says that they only add.
var NonDestructiveVerb = rule.Rule{
	ID:        "AXC-D011",
	Title:     "Destructive verb with destructiveHint false",
	Severity:  finding.Warn,
	Kind:      finding.Heuristic,
	Mode:      rule.Lint,
	AppliesTo: "MCP tool lists",
	Tags:      []string{"approval", "confirmation", "data-loss"},
	Fix:       "Set destructiveHint to true, or say in the name that the change only adds.",
	Page:      nonDestructiveVerbPage,
	Run:       nonDestructiveVerb,
}

func nonDestructiveVerb(pass *rule.Pass) {
	for _, tool := range pass.Tools {
		declared := tool.Hints[hint.Destructive]
		sense := pass.Sense(tool)
		readOnly := tool.Hints[hint.ReadOnly].Value == hint.True
		if declared.Value == hint.False && !readOnly && sense.Kind == verbs.Destructive {
			pass.Report(tool, declared.Node, "/annotations/destructiveHint", fmt.Sprintf(
				"%s sets destructiveHint to false but its %s says that it destroys (%q); set the hint to true or rename the tool",
				tool.Label(), sense.Place, sense.Verb))
		}
	}
}
