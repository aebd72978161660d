// Package toolset holds the tools under test: what their entries say, the four
// hints with true, false and absent kept apart, and where each was written.
//
// Entries are read one by one and leniently, so that one bad field does not
// hide the rest of a list. What is wrong with an entry is for the rules to say.
package toolset

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ax-check/ax-check/internal/hint"
	"github.com/ax-check/ax-check/internal/jsondoc"
)

// Set is one tool list.
type Set struct {
	// File is the name of the file the list was read from; nil for a server.
	File  *string
	Tools []Tool
}

// Tool is one entry of a list.
type Tool struct {
	// Index is the place in the whole list, from 0, over all its pages.
	Index int
	// Name is nil when the entry has no name that is a string.
	Name *string
	// Title and Description are empty when absent or not a string.
	Title, Description string
	// The three objects are nil when absent; they may be of any kind.
	InputSchema, OutputSchema, Annotations *jsondoc.Node
	// Hints holds all four.
	Hints map[hint.Name]Declared
	// Pointer leads from the root of the document to the entry.
	Pointer string
	// Node is the entry itself; for a malformed list it may be of any kind.
	Node *jsondoc.Node
	Doc  *jsondoc.Doc
	// Raw is the exact text of the entry.
	Raw json.RawMessage
}

// Declared is a hint as an entry has it.
type Declared struct {
	Value hint.Value
	// Node is what stands under the hint's key, boolean or not; nil when absent.
	Node *jsondoc.Node
}

// DeclaredSet gives the declared values of the four hints.
func (t Tool) DeclaredSet() hint.Set {
	set := make(hint.Set, len(t.Hints))
	for name, declared := range t.Hints {
		set[name] = declared.Value
	}
	return set
}

// Label names the tool in a message: its name in quotes, else its place.
func (t Tool) Label() string {
	if t.Name == nil || strings.TrimSpace(*t.Name) == "" {
		return t.Place()
	}
	return fmt.Sprintf("%q", *t.Name)
}

// Place names the tool by its index, for an entry that has no name.
func (t Tool) Place() string { return fmt.Sprintf("the entry at index %d", t.Index) }

// FromServer makes a set of the entries that a server sent, each in its exact
// bytes. An entry that is not JSON is an error.
func FromServer(entries []json.RawMessage) (Set, error) {
	set := Set{Tools: make([]Tool, 0, len(entries))}
	for i, raw := range entries {
		doc, err := jsondoc.Parse(raw, limits)
		if err != nil {
			return Set{}, fmt.Errorf("reading the entry at index %d of the server's list: %w", i, err)
		}
		tool := read(doc, doc.Root, i)
		tool.Pointer = fmt.Sprintf("/tools/%d", i)
		set.Tools = append(set.Tools, tool)
	}
	return set, nil
}

// read makes a tool of an entry, whatever it is.
func read(doc *jsondoc.Doc, node *jsondoc.Node, index int) Tool {
	tool := Tool{
		Index:        index,
		InputSchema:  node.Get("inputSchema"),
		OutputSchema: node.Get("outputSchema"),
		Annotations:  node.Get("annotations"),
		Hints:        make(map[hint.Name]Declared, 4),
		Pointer:      node.Pointer(),
		Node:         node,
		Doc:          doc,
		Raw:          node.Raw(),
	}
	if name, ok := node.Get("name").Text(); ok {
		tool.Name = &name
	}
	tool.Title, _ = node.Get("title").Text()
	tool.Description, _ = node.Get("description").Text()
	for _, name := range hint.Names() {
		tool.Hints[name] = readHint(tool.Annotations.Get(string(name)))
	}
	return tool
}

func readHint(node *jsondoc.Node) Declared {
	declared := Declared{Node: node}
	if value, ok := node.Bool(); ok {
		declared.Value = hint.Of(value)
	}
	return declared
}
