package rules

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/ax-check/ax-check/internal/finding"
	"github.com/ax-check/ax-check/internal/jsondoc"
	"github.com/ax-check/ax-check/internal/rule"
)

//go:embed malformed_entry.md
var malformedEntryPage string

// MalformedEntry reports entries of a list that no client can call.
var MalformedEntry = rule.Rule{
	ID:        "AXC-D001",
	Title:     "Malformed tool entry",
	Severity:  finding.Error,
	Kind:      finding.Conformance,
	Mode:      rule.Lint,
	AppliesTo: "MCP tool lists",
	Tags:      []string{"schema", "interoperability"},
	Fix:       "Make the entry an object whose name is a string that is not blank.",
	Page:      malformedEntryPage,
	Run:       malformedEntry,
}

func malformedEntry(pass *rule.Pass) {
	for _, tool := range pass.Tools {
		name := tool.Node.Get("name")
		switch {
		case tool.Node.Kind != jsondoc.Object:
			// Entries without a name are told apart by their text.
			pass.Report(tool, nil, string(tool.Raw), fmt.Sprintf("%s is %v; an entry must be an object with a name", tool.Place(), tool.Node.Kind))
		case name == nil:
			pass.Report(tool, nil, string(tool.Raw), fmt.Sprintf("%s has no name; without one it cannot be called", tool.Place()))
		case name.Kind != jsondoc.String:
			pass.Report(tool, name, string(tool.Raw), fmt.Sprintf("the name of %s is %v; it must be a string", tool.Place(), name.Kind))
		case strings.TrimSpace(*tool.Name) == "":
			pass.Report(tool, name, string(tool.Raw), fmt.Sprintf("the name of %s is blank; without one it cannot be called", tool.Place()))
		}
	}
}
