package rules

import (
	_ "embed"
	"fmt"

	"github.com/ax-check/ax-check/internal/finding"
	"github.com/ax-check/ax-check/internal/hint"
	"github.com/ax-check/ax-check/internal/rule"
)

//go:embed read_only_and_destructive.md
var readOnlyAndDestructivePage string

// ReadOnlyAndDestructive reports tools that claim both at once.
var ReadOnlyAndDestructive = rule.Rule{
	ID:        "AXC-D012",
	Title:     "Read-only and destructive at once",
	Severity:  finding.Warn,
	Kind:      finding.Conformance,
	Mode:      rule.Lint,
	AppliesTo: "MCP tool lists",
	Tags:      []string{"approval", "confirmation"},
	Fix:       "Keep the hint that is true and drop the other.",
	Page:      readOnlyAndDestructivePage,
	Run:       readOnlyAndDestructive,
}

func readOnlyAndDestructive(pass *rule.Pass) {
	for _, tool := range pass.Tools {
		if tool.Hints[hint.ReadOnly].Value == hint.True && tool.Hints[hint.Destructive].Value == hint.True {
			pass.Report(tool, tool.Annotations, "/annotations", fmt.Sprintf(
				"%s sets both readOnlyHint and destructiveHint to true; a tool that only reads destroys nothing, so one of them is wrong",
				tool.Label()))
		}
	}
}
