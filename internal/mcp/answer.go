package mcp

import (
	"context"
	"encoding/json"
	"fmt"
)

// answerAll answers the server's own requests, one after the other, until the
// client is closed. Only servers of the older revisions make any.
func (c *Client) answerAll() {
	for {
		select {
		case m := <-c.asked:
			c.answer(m)
		case <-c.life.Done():
			return
		}
	}
}

func (c *Client) answer(m incoming) {
	out := outgoing{ID: m.id}
	switch result, err := c.answerFor(c.life, m.method, m.params); {
	case err != nil:
		out.Error = err
	default:
		out.Result = result
	}
	body, err := out.encode()
	if err != nil {
		body, _ = outgoing{ID: m.id, Error: internal(err)}.encode() // plain strings: cannot fail
	}
	ctx, cancel := context.WithTimeout(c.life, c.options.RequestTimeout)
	defer cancel()
	// A server that does not take the answer will not finish its call either, and
	// the call reports that.
	_ = c.transport.Send(ctx, Message{Body: body, Header: c.headers(request{})})
}

// answerFor gives the result for one request of the server, or the error that
// declines it.
func (c *Client) answerFor(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, *RPCError) {
	if method == "ping" {
		return json.RawMessage(`{}`), nil
	}
	if !c.answers(method) {
		return nil, &RPCError{Code: codeMethodNotFound, Message: fmt.Sprintf("this client has not declared a capability for %s", method)}
	}
	result, err := c.options.Answer(ctx, method, params)
	if err != nil {
		return nil, internal(err)
	}
	return result, nil
}

func internal(err error) *RPCError {
	return &RPCError{Code: codeInternal, Message: err.Error()}
}

// answers reports whether requests of this method were invited.
func (c *Client) answers(method string) bool {
	if c.options.Answer == nil {
		return false
	}
	switch method {
	case "elicitation/create":
		return c.options.Elicitation
	case "sampling/createMessage":
		return c.options.Sampling
	}
	return false
}
