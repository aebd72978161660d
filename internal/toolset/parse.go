package toolset

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ax-check/ax-check/internal/jsondoc"
)

// MaxBytes is the largest document that is read: 64 MB. The largest published
// list that we know of has under 1 MB.
const MaxBytes = 64 << 20

var limits = jsondoc.Limits{Bytes: MaxBytes, Depth: 500, Values: 2_000_000}

// Accepted says which documents Parse reads, as one clause of a sentence.
const Accepted = `an array of tools, one tool, {"tools": [...]}, a JSON-RPC response to tools/list, or an array of result pages`

// Parse reads a tool list out of a document. The name is the file's, for
// reports. It accepts what Accepted names; an error says what was found instead.
func Parse(name string, text []byte) (Set, error) {
	doc, err := jsondoc.Parse(text, limits)
	if err != nil {
		var bad *jsondoc.Error
		if errors.As(err, &bad) {
			return Set{}, fmt.Errorf("%s:%d:%d: cannot be read as JSON: %s", name, bad.Line, bad.Column, bad.Problem)
		}
		return Set{}, fmt.Errorf("%s: %w", name, err)
	}
	entries, err := find(doc.Root)
	if err != nil {
		return Set{}, fmt.Errorf("%s: %w", name, err)
	}
	if format := foreignFormat(entries); format != "" {
		return Set{}, fmt.Errorf("%s: %s, not MCP tools; accepted is %s", name, format, Accepted)
	}
	set := Set{File: &name, Tools: make([]Tool, len(entries))}
	for i, entry := range entries {
		set.Tools[i] = read(doc, entry, i)
	}
	return set, nil
}

// find returns the entries of the tool list, in whatever it is wrapped.
func find(root *jsondoc.Node) ([]*jsondoc.Node, error) {
	switch {
	case root.Kind == jsondoc.Array && slices.ContainsFunc(root.Items, isPage):
		return findInPages(root.Items)
	case root.Kind == jsondoc.Array:
		return root.Items, nil
	case isPage(root):
		return findInPage(root)
	case root.Kind == jsondoc.Object && looksLikeTool(root):
		return []*jsondoc.Node{root}, nil
	case root.Kind == jsondoc.Object:
		return nil, fmt.Errorf("found an object with %s; accepted is %s", keys(root), Accepted)
	}
	return nil, fmt.Errorf("found %v; accepted is %s", root.Kind, Accepted)
}

// isPage reports whether a value is a result page or a JSON-RPC response.
func isPage(n *jsondoc.Node) bool {
	return n.Get("tools") != nil || n.Get("result").Is(jsondoc.Object) || n.Get("jsonrpc") != nil
}

func findInPages(pages []*jsondoc.Node) ([]*jsondoc.Node, error) {
	var entries []*jsondoc.Node
	for i, page := range pages {
		if !isPage(page) {
			return nil, fmt.Errorf("found %v at place %d of an array of result pages; accepted is %s", page.Kind, i+1, Accepted)
		}
		more, err := findInPage(page)
		if err != nil {
			return nil, fmt.Errorf("page %d: %w", i+1, err)
		}
		entries = append(entries, more...)
	}
	return entries, nil
}

func findInPage(page *jsondoc.Node) ([]*jsondoc.Node, error) {
	if failure := page.Get("error"); failure != nil && page.Get("result") == nil && page.Get("tools") == nil {
		return nil, fmt.Errorf("found a JSON-RPC error instead of a tool list: %s", serverMessage(failure))
	}
	tools := page.Get("tools")
	if tools == nil {
		tools = page.Get("result").Get("tools")
	}
	switch {
	case tools == nil:
		return nil, errors.New("found a JSON-RPC message without result.tools; accepted is the response to tools/list")
	case tools.Kind != jsondoc.Array:
		return nil, fmt.Errorf(`found %v under "tools"; it must be an array`, tools.Kind)
	}
	return tools.Items, nil
}

func serverMessage(failure *jsondoc.Node) string {
	message, ok := failure.Get("message").Text()
	if !ok {
		return string(failure.Raw())
	}
	if code := failure.Get("code"); code != nil {
		return fmt.Sprintf("%s (code %s)", message, code.Raw())
	}
	return message
}

func looksLikeTool(n *jsondoc.Node) bool {
	return n.Get("name") != nil || n.Get("inputSchema") != nil || formatOf(n) != ""
}

// foreignFormat names the format that every object of the list is written in,
// or "" when at least one may be an MCP tool.
func foreignFormat(entries []*jsondoc.Node) string {
	format := ""
	for _, entry := range entries {
		if entry.Kind != jsondoc.Object {
			continue
		}
		if format = formatOf(entry); format == "" {
			return ""
		}
	}
	return format
}

// formatOf recognises an entry by the key that stands in place of inputSchema.
func formatOf(entry *jsondoc.Node) string {
	switch {
	case entry.Get("inputSchema") != nil:
		return ""
	case entry.Get("input_schema") != nil:
		return "found tools of the Anthropic Messages API (input_schema)"
	case entry.Get("function").Is(jsondoc.Object), entry.Get("parameters").Is(jsondoc.Object):
		return "found functions of the OpenAI API (function, parameters)"
	case entry.Get("arguments").Is(jsondoc.Array):
		return "found a catalogue listing with an array of arguments, such as the Docker catalogue's"
	}
	return ""
}

// keys lists the first keys of an object, for a message.
func keys(n *jsondoc.Node) string {
	if len(n.Members) == 0 {
		return "no keys"
	}
	var names []string
	for _, m := range n.Members[:min(5, len(n.Members))] {
		names = append(names, fmt.Sprintf("%q", m.Key))
	}
	if len(n.Members) > len(names) {
		names = append(names, "...")
	}
	return "the keys " + strings.Join(names, ", ")
}
