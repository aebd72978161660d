package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// HTTP reaches a server by Streamable HTTP, of the revisions with sessions and of
// those without
// (https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http).
// The headers go with every request. They, and the user and query of the address,
// stay out of all errors. Redirects are not followed, so that they reach no one
// else.
func HTTP(address string, header http.Header) Dialer {
	return &httpDialer{address: address, header: header}
}

type httpDialer struct {
	address string
	header  http.Header
	limits  Limits
}

// Dial makes no connection yet: the first request does.
func (d *httpDialer) Dial(context.Context) (Transport, error) {
	u, err := url.Parse(d.address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("not an address of the form https://host/path")
	}
	return &httpTransport{
		url: u, header: d.header, limit: d.limits.message(), secrets: secretsOf(u, d.header),
		client: &http.Client{
			Transport:     http.DefaultTransport.(*http.Transport).Clone(),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		incoming: make(chan []byte), closed: make(chan struct{}),
	}, nil
}

type httpTransport struct {
	url     *url.URL
	header  http.Header
	limit   int
	secrets []string
	client  *http.Client

	incoming chan []byte
	closed   chan struct{}
	once     sync.Once

	mu       sync.Mutex
	session  string // "" before and without one
	revision string // that goes with the session
}

const sessionHeader = "Mcp-Session-Id"

// Send makes one exchange. It returns when the server has said all, and hands
// each message over to Receive on the way.
func (t *httpTransport) Send(ctx context.Context, m Message) error {
	request, err := t.newRequest(ctx, http.MethodPost, m.Body, m.Header)
	if err != nil {
		return err
	}
	response, err := t.client.Do(request)
	if err != nil {
		return t.unreachable(ctx, err)
	}
	defer func() { _ = response.Body.Close() }() // all that counts has been read
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return t.refusal(response)
	}
	t.keepSession(response, m)
	if !m.Request {
		return nil
	}
	answered, err := t.takeBody(ctx, response)
	if err == nil && !answered {
		return violation("the server ended the exchange without an answer (HTTP %d)", response.StatusCode)
	}
	return err
}

func (t *httpTransport) newRequest(ctx context.Context, method string, body []byte, header http.Header) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, method, t.url.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("not an address that can be asked")
	}
	maps.Copy(request.Header, t.header.Clone())
	maps.Copy(request.Header, header)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.session != "" {
		request.Header.Set(sessionHeader, t.session)
	}
	return request, nil
}

func (t *httpTransport) keepSession(response *http.Response, m Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if id := response.Header.Get(sessionHeader); id != "" {
		t.session = id
	}
	t.revision = m.Header.Get("Mcp-Protocol-Version")
}

// takeBody hands over the messages of a body, and reports whether a reply was
// among them.
func (t *httpTransport) takeBody(ctx context.Context, response *http.Response) (answered bool, err error) {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch kind {
	case "application/json":
		body, err := t.readAll(response.Body)
		if err != nil {
			return false, t.brokenOff(ctx, err)
		}
		return t.hand(ctx, body)
	case "text/event-stream":
		events := newEvents(response.Body, t.limit)
		for {
			data, err := events.next()
			if err == io.EOF {
				return answered, nil
			}
			if err != nil {
				return answered, t.brokenOff(ctx, err)
			}
			reply, err := t.hand(ctx, data)
			if err != nil {
				return answered, err
			}
			answered = answered || reply
		}
	case "":
		return false, nil
	}
	return false, violation("the server answers with %s instead of JSON or an event stream", printable(kind))
}

func (t *httpTransport) readAll(body io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(body, int64(t.limit)+1))
	if len(text) > t.limit {
		return nil, &TooLargeError{Limit: t.limit}
	}
	return text, err
}

// brokenOff is the error for a body that could not be read to its end.
func (t *httpTransport) brokenOff(ctx context.Context, err error) error {
	if large, ok := err.(*TooLargeError); ok {
		return large
	}
	return t.unreachable(ctx, err)
}

// hand gives one body or event to Receive.
func (t *httpTransport) hand(ctx context.Context, body []byte) (reply bool, err error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return false, nil
	}
	if !json.Valid(body) {
		return false, violation("the server's answer is not valid JSON: %s", t.hide(excerpt(body)))
	}
	select {
	case t.incoming <- body:
	case <-t.closed:
		return false, errClosed
	case <-ctx.Done():
		return false, ctx.Err()
	}
	m, ok := parseMessage(body)
	return bytes.TrimSpace(body)[0] == '[' || ok && m.isReply(), nil
}

// Receive waits for the next message of any exchange.
func (t *httpTransport) Receive() ([]byte, error) {
	select {
	case body := <-t.incoming:
		return body, nil
	case <-t.closed:
		return nil, errClosed
	}
}

// leaveTime bounds telling the server that a session is over.
const leaveTime = 2 * time.Second

// Close ends the session, where there is one.
func (t *httpTransport) Close() error {
	t.once.Do(func() {
		close(t.closed)
		t.leave()
		t.client.CloseIdleConnections()
	})
	return nil
}

// leave is a courtesy: servers may refuse it, and forget the session anyway.
func (t *httpTransport) leave() {
	t.mu.Lock()
	session, revision := t.session, t.revision
	t.mu.Unlock()
	if session == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	request, err := t.newRequest(ctx, http.MethodDelete, nil, http.Header{"Mcp-Protocol-Version": {revision}})
	if err != nil {
		return
	}
	if response, err := t.client.Do(request); err == nil {
		_ = response.Body.Close()
	}
}

// unreachable is the error for a connection that failed. What net/http says is
// unwrapped, because it repeats the whole address.
func (t *httpTransport) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if u, ok := err.(*url.Error); ok {
		err = u.Err
	}
	return fmt.Errorf("%w: %s: %s", ErrGone, t.shown(t.url), t.hide(err.Error()))
}

// refusalBytes is how much of the body of a refusal is looked at.
const refusalBytes = 64 << 10

// refusal reads what the server says about a status other than success.
func (t *httpTransport) refusal(response *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(response.Body, refusalBytes)) // the status is what counts
	e := &StatusError{Status: response.StatusCode, URL: t.shown(t.url), RetryAfter: printable(t.hide(response.Header.Get("Retry-After")))}
	if location, err := response.Location(); err == nil {
		e.Detail = t.shown(location)
		return e
	}
	text := []byte(t.hide(string(body)))
	if m, ok := parseMessage(text); ok && m.err != nil {
		e.RPC = m.err
	} else if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind != "text/html" {
		e.Detail = strings.TrimSpace(excerpt(text))
	}
	return e
}

// shown is an address without what may be secret in it.
func (t *httpTransport) shown(u *url.URL) string {
	return t.hide((&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String())
}

// secretsOf lists the values that must not appear in errors: of headers, with and
// without a scheme such as Bearer before them, of the query, and the password.
func secretsOf(u *url.URL, header http.Header) []string {
	var secrets []string
	add := func(s string) {
		const guessable = 4 // hiding shorter ones would blot out ordinary words
		if len(s) >= guessable {
			secrets = append(secrets, s)
		}
	}
	for _, values := range header {
		for _, value := range values {
			add(value)
			_, after, _ := strings.Cut(value, " ")
			add(after)
		}
	}
	for _, values := range u.Query() {
		for _, value := range values {
			add(value)
			add(url.QueryEscape(value))
		}
	}
	password, _ := u.User.Password()
	add(password)
	// The longest first, so that no rest of one is left.
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	return secrets
}

func (t *httpTransport) hide(text string) string {
	for _, secret := range t.secrets {
		text = strings.ReplaceAll(text, secret, "[hidden]")
	}
	return text
}
