package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// Client is a connection to one server. Its methods may be called by several
// goroutines at once.
type Client struct {
	transport Transport
	options   Options
	server    atomic.Pointer[Server] // set while connecting, which has two requests under way
	faults    faultLog

	// life ends with Close; it bounds the answers to the server's requests.
	life context.Context
	end  context.CancelFunc
	// The goroutines that Close waits for: the reader, and the one that answers.
	running sync.WaitGroup
	asked   chan incoming
	lost    chan struct{} // closed by the reader when nothing more will come

	// mu guards what follows.
	mu      sync.Mutex
	cause   error // why lost was closed
	lastID  int64
	pending map[int64]chan reply
	ignored int
	mirrors map[string][]mirror

	// lastWords asks the transport once: it may take a moment.
	lastWords func() string
}

// reply is the outcome of one request: a result, or an error.
type reply struct {
	result json.RawMessage
	err    error
}

// askedAtOnce is how many of the server's requests wait for an answer; further
// ones are ignored.
const askedAtOnce = 64

func newClient(t Transport, o Options) *Client {
	c := &Client{
		transport: t, options: o,
		asked: make(chan incoming, askedAtOnce), lost: make(chan struct{}),
		pending: map[int64]chan reply{}, mirrors: map[string][]mirror{},
		lastWords: func() string { return "" },
	}
	c.server.Store(&Server{Transport: transportName(t)})
	if p, ok := t.(interface{ LastWords() string }); ok {
		c.lastWords = sync.OnceValue(p.LastWords)
	}
	c.life, c.end = context.WithCancel(context.Background())
	c.running.Go(c.read)
	c.running.Go(c.answerAll)
	return c
}

func transportName(t Transport) string {
	if _, ok := t.(*httpTransport); ok {
		return "http"
	}
	return "stdio"
}

// Server is what the server said about itself.
func (c *Client) Server() Server { return *c.server.Load() }

// Faults are what the server did wrong so far, in order of first occurrence.
func (c *Client) Faults() []Fault { return c.faults.all() }

// Ignored counts the messages so far that answered nothing: notifications, second
// replies, replies to no request.
func (c *Client) Ignored() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ignored
}

// Close ends the connection, and the server where the transport owns one. It
// returns when no goroutine of the client runs any more.
func (c *Client) Close() error {
	c.end()
	err := c.transport.Close()
	c.running.Wait()
	return err
}

// Ping asks for a sign of life.
func (c *Client) Ping(ctx context.Context) error {
	method := "ping"
	if c.server.Load().Modern {
		method = "server/discover" // ping was removed
	}
	_, err := c.request(ctx, request{method: method})
	return err
}

// read takes everything that comes from the server until nothing more will.
func (c *Client) read() {
	broken := false // whether the last line was a part of a message
	for {
		raw, err := c.transport.Receive()
		var large *TooLargeError
		switch {
		case errors.As(err, &large):
			c.failPending(err)
		case err != nil:
			c.lose(err)
			return
		default:
			broken = c.take(bytes.TrimSpace(raw), broken)
		}
	}
}

// take handles one line or body. Lines after a broken one that are no messages
// themselves count as its continuation.
func (c *Client) take(raw []byte, broken bool) (stillBroken bool) {
	if len(raw) == 0 {
		return broken
	}
	if m, ok := parseMessage(raw); ok {
		c.deliver(m)
		return false
	}
	var batch []json.RawMessage // revision 2025-03-26 has batches
	if raw[0] == '[' && json.Unmarshal(raw, &batch) == nil && c.takeBatch(batch) {
		return false
	}
	if broken || looksCutOff(raw) {
		c.faults.add(BadJSON, raw)
		return true
	}
	c.faults.add(StdoutNoise, raw)
	return false
}

func (c *Client) takeBatch(batch []json.RawMessage) (found bool) {
	for _, raw := range batch {
		if m, ok := parseMessage(raw); ok {
			c.deliver(m)
			found = true
		}
	}
	return found
}

// looksCutOff reports whether text begins as a JSON object does, but is none.
func looksCutOff(text []byte) bool {
	if text[0] != '{' || json.Valid(text) {
		return false
	}
	rest := bytes.TrimLeft(text[1:], " \t\r")
	return len(rest) == 0 || rest[0] == '"'
}

func (c *Client) deliver(m incoming) {
	switch {
	case m.isReply():
		c.settle(m)
	case m.id != nil:
		select {
		case c.asked <- m:
		default:
			c.ignore()
		}
	default:
		c.ignore()
	}
}

func (c *Client) ignore() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ignored++
}

// settle hands a reply to the request that waits for it.
func (c *Client) settle(m incoming) {
	outcome := reply{result: m.result}
	if m.err != nil {
		outcome = reply{err: m.err}
	}
	id, exact, ok := m.number()
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.id == nil && m.err != nil && len(c.pending) == 1 {
		// The server could not even read the id, and there is only one it can mean.
		for only := range c.pending {
			id, exact, ok = only, true, true
		}
	}
	waiting, found := c.pending[id]
	if !ok || !found {
		c.ignored++
		return
	}
	if !exact {
		c.faults.add(IDType, m.id)
	}
	delete(c.pending, id)
	waiting <- outcome // has room for one
}

func (c *Client) failPending(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, waiting := range c.pending {
		delete(c.pending, id)
		waiting <- reply{err: err}
	}
}

func (c *Client) lose(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cause = cause
	close(c.lost)
}

// gone is the error for requests to a server that has ended.
func (c *Client) gone(cause error) error {
	if c.life.Err() != nil {
		return &GoneError{Cause: errClosed}
	}
	return &GoneError{Cause: cause, LastWords: c.lastWords()}
}

// request is one request to make.
type request struct {
	method string
	params map[string]any
	name   string   // of the tool, for HTTP
	mirror []header // arguments that HTTP repeats
	// timeout is the client's RequestTimeout when 0.
	timeout time.Duration
	// abandon leaves the server without a word when the time is over: a handshake
	// must not be cancelled.
	abandon bool
}

// request makes one request and waits for its result.
func (c *Client) request(ctx context.Context, r request) (json.RawMessage, error) {
	if r.timeout <= 0 {
		r.timeout = c.options.RequestTimeout
	}
	id, answer := c.expect()
	defer c.forget(id)
	m, err := c.message(id, r)
	if err != nil {
		return nil, fmt.Errorf("writing the request %s: %w", r.method, err)
	}
	within, cancel := context.WithTimeout(ctx, r.timeout)
	sent := make(chan error, 1)
	var sending sync.WaitGroup
	sending.Go(func() { sent <- c.transport.Send(within, m) })
	result, err := c.await(within, answer, sent)
	cancel()
	sending.Wait()
	if !errors.Is(err, errExpired) {
		return result, err
	}
	if !r.abandon {
		c.cancelled(ctx, id)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, &TimeoutError{Method: r.method, After: r.timeout}
}

// expect makes the place where the reply to a new request will arrive.
func (c *Client) expect() (id int64, answer chan reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastID++
	answer = make(chan reply, 1)
	c.pending[c.lastID] = answer
	return c.lastID, answer
}

func (c *Client) forget(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, id)
}

func (c *Client) message(id int64, r request) (Message, error) {
	params := r.params
	if c.server.Load().Modern || r.method == "server/discover" {
		params = maps.Clone(params)
		if params == nil {
			params = map[string]any{}
		}
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    c.revision(),
			"io.modelcontextprotocol/clientCapabilities": c.options.capabilities(),
			"io.modelcontextprotocol/clientInfo":         c.options.clientInfo(),
		}
	}
	body, err := outgoing{ID: id, Method: r.method, Params: params}.encode()
	return Message{Body: body, Header: c.headers(r), Request: true}, err
}

// revision is the one in use; until it is known, the one that is asked for.
func (c *Client) revision() string {
	if server := c.server.Load(); server.Protocol != "" {
		return server.Protocol
	}
	return modernRevision
}

// errExpired stands for the end of a request's context.
var errExpired = errors.New("expired")

// await waits for what comes first: the reply, a failure to send, the server's
// end, or the end of ctx.
func (c *Client) await(ctx context.Context, answer <-chan reply, sent <-chan error) (json.RawMessage, error) {
	var failed error
	for failed == nil {
		select {
		case r := <-answer:
			return r.result, r.err
		case err := <-sent:
			sent = nil // nothing more of it; an answer is still to come
			if err != nil {
				failed = c.explain(ctx, err)
			}
		case <-c.lost:
			failed = c.gone(c.lossCause())
		case <-ctx.Done():
			failed = errExpired
		}
	}
	select {
	case r := <-answer: // it was there all the same
		return r.result, r.err
	default:
		return nil, failed
	}
}

func (c *Client) lossCause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}

// explain turns a failure to send into the error that the caller sees.
func (c *Client) explain(ctx context.Context, err error) error {
	var status *StatusError
	switch {
	case ctx.Err() != nil:
		return errExpired
	case errors.As(err, &status) && status.RPC != nil && !status.denied():
		return status.RPC
	case errors.Is(err, ErrGone), errors.Is(err, errClosed):
		return c.gone(err)
	}
	return err
}

// cancelTime bounds telling a server that an answer is not waited for any more.
const cancelTime = time.Second

// cancelled tells the server that the request is given up. A modern server over
// HTTP has seen that from the end of the exchange.
func (c *Client) cancelled(ctx context.Context, id int64) {
	if server := c.server.Load(); server.Modern && server.Transport == "http" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer cancel()
	_ = c.notify(ctx, "notifications/cancelled", map[string]any{"requestId": id}) // it is given up either way
}

func (c *Client) notify(ctx context.Context, method string, params map[string]any) error {
	body, err := outgoing{Method: method, Params: params}.encode()
	if err != nil {
		return err
	}
	return c.transport.Send(ctx, Message{Body: body, Header: c.headers(request{method: method})})
}
