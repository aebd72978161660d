package rule

import (
	"strings"

	"github.com/ax-check/ax-check/internal/finding"
	"github.com/ax-check/ax-check/internal/jsondoc"
	"github.com/ax-check/ax-check/internal/toolset"
	"github.com/ax-check/ax-check/internal/verbs"
)

// Run applies the lint rules among rules to a tool list. The findings are
// signed and in report order.
func Run(rules []Rule, set toolset.Set) []finding.Finding {
	senses := readSenses(set.Tools)
	var found []finding.Finding
	for _, r := range rules {
		if r.Mode != Lint {
			continue
		}
		pass := &Pass{Tools: set.Tools, rule: r, file: set.File, senses: senses}
		r.Run(pass)
		found = append(found, pass.found...)
	}
	finding.Sort(found)
	return found
}

// Pass is one rule at work on one tool list.
type Pass struct {
	// Tools is the whole list in its order, malformed entries included.
	Tools []toolset.Tool

	rule   Rule
	file   *string
	senses []verbs.Sense
	found  []finding.Finding
}

// Sense says what the tool's name and first sentence tell of its effects.
func (p *Pass) Sense(tool toolset.Tool) verbs.Sense { return p.senses[tool.Index] }

// Report adds a finding about a value inside a tool's entry; a nil node is the
// entry itself. below names the place for the fingerprint and must stay the
// same when the list is reordered or reformatted.
func (p *Pass) Report(tool toolset.Tool, node *jsondoc.Node, below, message string) {
	if node == nil {
		node = tool.Node
	}
	f := p.rule.finding(message)
	f.Tool, f.Index, f.File = tool.Name, &tool.Index, p.file
	f.Pointer = tool.Pointer + strings.TrimPrefix(node.Pointer(), tool.Node.Pointer())
	if p.file != nil {
		line, column := node.LineCol()
		f.Line, f.Column = &line, &column
	}
	f.Sign(below)
	p.found = append(p.found, f)
}

func readSenses(tools []toolset.Tool) []verbs.Sense {
	names := make([]string, len(tools))
	for i, tool := range tools {
		if tool.Name != nil {
			names[i] = *tool.Name
		}
	}
	context := verbs.Names(names)
	senses := make([]verbs.Sense, len(tools))
	for i, tool := range tools {
		senses[i] = context.Of(names[i], tool.Description)
	}
	return senses
}
