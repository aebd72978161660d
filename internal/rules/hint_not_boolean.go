package rules

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/ax-check/ax-check/internal/finding"
	"github.com/ax-check/ax-check/internal/hint"
	"github.com/ax-check/ax-check/internal/jsondoc"
	"github.com/ax-check/ax-check/internal/rule"
	"github.com/ax-check/ax-check/internal/toolset"
)

//go:embed hint_not_boolean.md
var hintNotBooleanPage string

// HintNotBoolean reports hints whose value has the wrong type.
var HintNotBoolean = rule.Rule{
	ID:        "AXC-D013",
	Title:     "Hint is not a boolean",
	Severity:  finding.Error,
	Kind:      finding.Conformance,
	Mode:      rule.Lint,
	AppliesTo: "MCP tool lists",
	Tags:      []string{"schema", "interoperability"},
	Fix:       "Write true or false without quotes, or leave the key out.",
	Page:      hintNotBooleanPage,
	Run:       hintNotBoolean,
}

func hintNotBoolean(pass *rule.Pass) {
	for _, tool := range pass.Tools {
		for _, name := range hint.Names() {
			node := tool.Hints[name].Node
			if node != nil && node.Kind != jsondoc.Bool {
				reportType(pass, tool, node, string(name), "true or false without quotes")
			}
		}
		if title := tool.Annotations.Get("title"); title != nil && title.Kind != jsondoc.String {
			reportType(pass, tool, title, "title", "a string")
		}
	}
}

func reportType(pass *rule.Pass, tool toolset.Tool, node *jsondoc.Node, key, want string) {
	found := node.Kind.String()
	if text := string(node.Raw()); node.Kind != jsondoc.Null && len(text) <= 20 {
		_, kind, _ := strings.Cut(found, " ")
		found = "the " + kind + " " + text
	}
	pass.Report(tool, node, "/annotations/"+key, fmt.Sprintf(
		"%s sets %s to %s; write %s, or leave the key out", tool.Label(), key, found, want))
}
