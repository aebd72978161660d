package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Connect dials a server, finds out which era it is of, and makes it ready for
// requests. A server that ends on the question for its era is dialled once more
// and greeted with the older handshake only.
//
// Errors: ErrTimeout, ErrGone, ErrProtocol, *RPCError, *StatusError, or what the
// dialer returned.
func Connect(ctx context.Context, d Dialer, o Options) (*Client, error) {
	o = o.withDefaults()
	c, err := open(ctx, d, o, (*Client).negotiate)
	if errors.Is(err, errEndedOnProbe) {
		c, err = open(ctx, d, o, func(c *Client, ctx context.Context) error {
			return c.initialize(ctx, legacyRevision)
		})
	}
	return c, err
}

// errEndedOnProbe marks the end of a server that had been asked for its era and
// had not answered.
var errEndedOnProbe = errors.New("ended when asked for its revisions")

func open(ctx context.Context, d Dialer, o Options, greet func(*Client, context.Context) error) (*Client, error) {
	within, cancel := context.WithTimeoutCause(ctx, o.StartTimeout, &TimeoutError{Method: "the first request", After: o.StartTimeout})
	defer cancel()
	t, err := d.Dial(within)
	if err != nil {
		return nil, err
	}
	c := newClient(t, o)
	if err := greet(c, within); err != nil {
		_ = c.Close() // the reason to give up says more
		return nil, err
	}
	return c, nil
}

// negotiate finds the server's era, as
// https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
// describes: server/discover first, and initialize unless the answer is modern.
func (c *Client) negotiate(ctx context.Context) error {
	if known := c.options.Known; known != nil && known.Modern {
		c.become(*known)
		return nil
	} else if known != nil {
		return c.initialize(ctx, known.Protocol)
	}
	probing, stop := context.WithCancel(ctx)
	defer stop()
	probe := make(chan reply, 1)
	c.running.Go(func() { probe <- c.discover(probing) })

	patience := time.NewTimer(c.options.ProbeTimeout)
	defer patience.Stop()
	select {
	case answer := <-probe:
		return c.decide(ctx, answer)
	case <-patience.C:
		return c.negotiateLate(ctx, probe)
	}
}

// become records what the server is.
func (c *Client) become(s Server) {
	s.Transport = c.server.Load().Transport
	c.server.Store(&s)
}

func (c *Client) discover(ctx context.Context) reply {
	result, err := c.request(ctx, request{method: "server/discover", timeout: c.options.StartTimeout, abandon: true})
	return reply{result, err}
}

// decide follows the answer to server/discover.
func (c *Client) decide(ctx context.Context, answer reply) error {
	if server, ok := modernServer(answer.result); ok {
		c.become(server)
		return nil
	}
	var status *StatusError
	var rpc *RPCError
	switch err := answer.err; {
	case errors.Is(err, ErrGone):
		return errors.Join(err, errEndedOnProbe)
	case errors.As(err, &status) && status.denied():
		return err
	case errors.As(err, &rpc) && modernOnly(rpc):
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return c.initialize(ctx, legacyRevision)
}

// negotiateLate goes on when the probe has no answer yet: the server may still be
// starting, or leave unknown methods without an answer. Both questions are then
// open at once, and the first useful answer counts.
func (c *Client) negotiateLate(ctx context.Context, probe <-chan reply) error {
	greeting, stop := context.WithCancel(ctx)
	defer stop()
	greeted := make(chan reply, 1)
	c.running.Go(func() { greeted <- c.greet(greeting, legacyRevision) })
	var refusal error
	for {
		select {
		case answer := <-probe:
			if _, ok := modernServer(answer.result); ok || errors.Is(answer.err, ErrGone) {
				return c.decide(ctx, answer)
			}
			if refusal != nil {
				return refusal
			}
			probe = nil
		case answer := <-greeted:
			switch {
			case answer.err == nil:
				return c.accept(ctx, answer.result)
			case probe != nil && errors.Is(answer.err, ErrGone):
				return errors.Join(answer.err, errEndedOnProbe)
			case probe == nil || !errors.As(answer.err, new(*RPCError)):
				return answer.err
			}
			// A modern server refuses the older handshake, and still has to answer.
			refusal, greeted = answer.err, nil
		}
	}
}

// modernServer reads the answer to server/discover. Servers that answer anything
// with success are told apart by the revisions they name.
func modernServer(result json.RawMessage) (Server, bool) {
	o, ok := objectIn(result)
	if !ok || !slices.Contains(revisionsIn(o["supportedVersions"]), modernRevision) {
		return Server{}, false
	}
	s := Server{Protocol: modernRevision, Modern: true, Capabilities: o["capabilities"], Instructions: o.text("instructions")}
	meta, _ := objectIn(o["_meta"])
	info, _ := objectIn(meta["io.modelcontextprotocol/serverInfo"])
	s.Name, s.Version = info.text("name"), info.text("version")
	return s, true
}

// modernOnly reports whether an error to server/discover is one that only a
// modern server gives, so that no handshake is to follow. A server that names an
// older revision as supported can be greeted.
func modernOnly(e *RPCError) bool {
	switch e.Code {
	case codeHeaderMismatch, codeMissingCapability:
		return true
	case codeUnsupportedVersion:
		return !slices.ContainsFunc(supported(e), isLegacy)
	}
	return false
}

// Revisions are dates, so their order is that of their text.
func isLegacy(revision string) bool { return revision < modernRevision }

// supported are the revisions that an error names in its data.
func supported(e *RPCError) []string {
	data, _ := objectIn(e.Data)
	return revisionsIn(data["supported"])
}

func revisionsIn(raw json.RawMessage) []string {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return nil
	}
	var revisions []string
	for _, item := range items {
		if s, ok := stringIn(item); ok {
			revisions = append(revisions, s)
		}
	}
	return revisions
}

// initialize makes the handshake of the revisions before 2026-07-28. A server
// that refuses the revision and names others is asked once more.
func (c *Client) initialize(ctx context.Context, revision string) error {
	answer := c.greet(ctx, revision)
	var refused *RPCError
	if errors.As(answer.err, &refused) {
		if other, ok := common(supported(refused)); ok && other != revision {
			answer = c.greet(ctx, other)
		}
	}
	if answer.err != nil {
		return answer.err
	}
	return c.accept(ctx, answer.result)
}

// common is the newest revision with a handshake that both sides know.
func common(offered []string) (revision string, ok bool) {
	for _, known := range legacyRevisions {
		if slices.Contains(offered, known) {
			return known, true
		}
	}
	return "", false
}

// greet sends the request of the handshake.
func (c *Client) greet(ctx context.Context, revision string) reply {
	result, err := c.request(ctx, request{
		method: "initialize",
		params: map[string]any{
			"protocolVersion": revision,
			"capabilities":    c.options.capabilities(),
			"clientInfo":      c.options.clientInfo(),
		},
		timeout: c.options.StartTimeout, abandon: true,
	})
	return reply{result, err}
}

// accept takes the server's part of the handshake and completes it.
func (c *Client) accept(ctx context.Context, result json.RawMessage) error {
	o, ok := objectIn(result)
	if !ok {
		return violation("the server's answer to initialize is not an object")
	}
	info, _ := objectIn(o["serverInfo"])
	c.become(Server{
		Name: info.text("name"), Version: info.text("version"), Protocol: o.text("protocolVersion"),
		Capabilities: o["capabilities"], Instructions: o.text("instructions"),
	})
	if err := c.notify(ctx, "notifications/initialized", nil); err != nil {
		return fmt.Errorf("completing the handshake: %w", c.explain(ctx, err))
	}
	return nil
}
