package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxPages bounds a list whose cursors never repeat and never end.
const maxPages = 1000

// ListTools fetches the whole tool list, always from the server. A cursor that
// repeats ends the list with a fault; an empty cursor is a cursor like any other.
func (c *Client) ListTools(ctx context.Context) (List, error) {
	var list List
	var cursor, previous json.RawMessage // nil: none
	followed := map[string]bool{}
	size := 0
	for list.Pages < maxPages {
		p, err := c.page(ctx, cursor)
		if err != nil {
			return list, err
		}
		if size += p.size; size > defaultMaxMessage {
			return list, &TooLargeError{Limit: defaultMaxMessage}
		}
		list.Pages++
		if p.next != nil && followed[string(p.next)] {
			c.faults.add(CursorRepeats, p.next)
			p.next = nil
			if bytes.Equal(p.tools, previous) {
				p.entries = nil // the server pays no heed to the cursor
			}
		}
		list.Tools = append(list.Tools, p.entries...)
		if p.next == nil {
			c.remember(list.Tools)
			return list, nil
		}
		followed[string(p.next)], cursor, previous = true, p.next, p.tools
	}
	return list, violation("the server's tool list has more than %d pages", maxPages)
}

type page struct {
	size    int             // bytes
	tools   json.RawMessage // the array, exact bytes
	entries []json.RawMessage
	next    json.RawMessage // nil when this is the last
}

func (c *Client) page(ctx context.Context, cursor json.RawMessage) (page, error) {
	r := request{method: "tools/list"}
	if cursor != nil {
		r.params = map[string]any{"cursor": cursor}
	}
	result, err := c.request(ctx, r)
	if err != nil {
		return page{}, err
	}
	o, ok := objectIn(result)
	if !ok {
		return page{}, violation("the server's answer to tools/list is not an object")
	}
	p := page{size: len(result), tools: o["tools"]}
	if isNull(p.tools) || json.Unmarshal(p.tools, &p.entries) != nil {
		return page{}, violation("the server's answer to tools/list has no array %q", "tools")
	}
	if next := o["nextCursor"]; next != nil && !isNull(next) {
		p.next = next
	}
	return p, nil
}

// remember keeps what HTTP has to repeat of the arguments of each tool.
func (c *Client) remember(tools []json.RawMessage) {
	if server := c.server.Load(); server.Transport != "http" || !server.Modern {
		return
	}
	mirrors := map[string][]mirror{}
	for _, raw := range tools {
		tool, _ := objectIn(raw)
		if m := mirrorsOf(tool["inputSchema"]); m != nil {
			mirrors[tool.text("name")] = m
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mirrors = mirrors
}

// maxRounds is how many requests one call may take.
const maxRounds = 10

// CallTool calls a tool and sees it through: input that the tool asks for on the
// way is given as Options says. The arguments are sent as they are, or left out
// when nil. Over HTTP a modern server may want some arguments repeated in headers,
// which ListTools has to find out first.
//
// A tool's own failure, and a protocol error that the server answers with, are
// results and not errors. Errors: ErrTimeout, ErrGone, ErrProtocol,
// *InputRequiredError, *StatusError.
func (c *Client) CallTool(ctx context.Context, name string, arguments json.RawMessage) (CallResult, error) {
	r := request{method: "tools/call", name: name, params: map[string]any{"name": name}}
	if arguments != nil {
		r.params["arguments"] = arguments
	}
	c.mu.Lock()
	r.mirror = headersFor(c.mirrors[name], arguments)
	c.mu.Unlock()
	for round := 1; ; round++ {
		raw, err := c.request(ctx, r)
		var rpc *RPCError
		if errors.As(err, &rpc) {
			return CallResult{Error: rpc, Rounds: round}, nil
		}
		if err != nil {
			return CallResult{Rounds: round}, err
		}
		result, o, err := callResult(raw, round)
		if err != nil {
			return result, err
		}
		switch kind := o.text("resultType"); kind {
		case "", "complete":
			return result, nil
		case "input_required":
			if r.params, err = c.nextRound(ctx, r.params, o, round); err != nil {
				return result, err
			}
		default:
			return result, violation("the result of the call has the unknown type %q", printable(kind))
		}
	}
}

func callResult(raw json.RawMessage, round int) (CallResult, object, error) {
	r := CallResult{Raw: raw, Rounds: round}
	o, ok := objectIn(raw)
	if !ok {
		return r, nil, violation("the server's answer to tools/call is not an object")
	}
	r.IsError = string(o["isError"]) == "true"
	r.Structured = o["structuredContent"]
	r.Text = textOf(o["content"])
	return r, o, nil
}

// textOf joins the text items of a content array.
func textOf(content json.RawMessage) string {
	var items []json.RawMessage
	if json.Unmarshal(content, &items) != nil {
		return ""
	}
	var texts []string
	for _, raw := range items {
		item, _ := objectIn(raw)
		if text, ok := stringIn(item["text"]); ok && item.text("type") == "text" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

// nextRound answers the input that a result asks for and gives the parameters of
// the next request
// (https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr).
func (c *Client) nextRound(ctx context.Context, params map[string]any, result object, round int) (map[string]any, error) {
	wanted, asks := objectIn(result["inputRequests"])
	state, stateful := result["requestState"]
	unmet := &InputRequiredError{Methods: methodsIn(wanted)}
	switch {
	case round >= maxRounds:
		unmet.Reason = fmt.Sprintf("it still does after %d rounds", round)
		return nil, unmet
	case !asks && !stateful:
		return nil, violation("the result asks for input, but names none and no state to go on with")
	}
	responses := map[string]json.RawMessage{}
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		asked, _ := objectIn(wanted[key])
		answer, declined := c.answerFor(ctx, asked.text("method"), asked["params"])
		if declined != nil {
			unmet.Reason = declined.Message
			return nil, unmet
		}
		responses[key] = answer
	}
	next := maps.Clone(params)
	delete(next, "inputResponses")
	delete(next, "requestState")
	if len(responses) > 0 {
		next["inputResponses"] = responses
	}
	if stateful {
		next["requestState"] = state
	}
	return next, nil
}

// methodsIn names the kinds of input in a map of input requests, each once.
func methodsIn(wanted object) []string {
	var methods []string
	for _, raw := range wanted {
		asked, _ := objectIn(raw)
		methods = append(methods, printable(asked.text("method")))
	}
	slices.Sort(methods)
	return slices.Compact(methods)
}
