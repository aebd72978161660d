package rules

import (
	_ "embed"
	"fmt"

	"github.com/ax-check/ax-check/internal/finding"
	"github.com/ax-check/ax-check/internal/hint"
	"github.com/ax-check/ax-check/internal/rule"
)

//go:embed read_only_write_verb.md
var readOnlyWriteVerbPage string

// ReadOnlyWriteVerb reports tools whose words say that they write while the
// hint says that they only read.
var ReadOnlyWriteVerb = rule.Rule{
	ID:        "AXC-D009",
	Title:     "Read-only hint contradicted by a write verb",
	Severity:  finding.Warn,
	Kind:      finding.Heuristic,
	Mode:      rule.Lint,
	AppliesTo: "MCP tool lists",
	Tags:      []string{"approval", "confirmation", "least-surprise"},
	Fix:       "Set readOnlyHint to false and declare destructiveHint, or rename the tool.",
	Page:      readOnlyWriteVerbPage,
	Run:       readOnlyWriteVerb,
}

func readOnlyWriteVerb(pass *rule.Pass) {
	for _, tool := range pass.Tools {
		declared := tool.Hints[hint.ReadOnly]
		sense := pass.Sense(tool)
		if declared.Value == hint.True && sense.Kind.Writes() {
			pass.Report(tool, declared.Node, "/annotations/readOnlyHint", fmt.Sprintf(
				"%s sets readOnlyHint to true but its %s says that it writes (%q); set the hint to false or rename the tool",
				tool.Label(), sense.Place, sense.Verb))
		}
	}
}
