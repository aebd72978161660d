package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"
)

// The kinds of failure that callers tell apart with errors.Is. An answer that is
// a JSON-RPC error is an *RPCError, a refusal by HTTP a *StatusError.
var (
	// ErrTimeout: no answer in time.
	ErrTimeout = errors.New("no answer in time")
	// ErrGone: the server has ended, closed its output, or cannot be reached.
	ErrGone = errors.New("the server is gone")
	// ErrProtocol: the server answered with something that the protocol does not have.
	ErrProtocol = errors.New("the server broke the protocol")
)

// RPCError is a JSON-RPC error object.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *RPCError) Error() string {
	return fmt.Sprintf("the server answered with error %d: %s", e.Code, printable(e.Message))
}

// Error codes of JSON-RPC and of MCP that have a meaning here.
const (
	codeMethodNotFound     = -32601
	codeInternal           = -32603
	codeHeaderMismatch     = -32020
	codeMissingCapability  = -32021
	codeUnsupportedVersion = -32022
)

// TimeoutError says which request stayed without an answer. It is ErrTimeout.
type TimeoutError struct {
	Method string
	After  time.Duration
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("the server did not answer %s within %s", e.Method, e.After)
}

// Is makes errors.Is(err, ErrTimeout) true.
func (e *TimeoutError) Is(target error) bool { return target == ErrTimeout }

// GoneError says what was heard of a server last. It is ErrGone.
type GoneError struct {
	// Cause is what the transport saw, such as io.EOF.
	Cause error
	// LastWords is how it ended and the end of what it printed to stderr, where
	// the transport knows of it.
	LastWords string
}

// lastWordsShown caps what an error shows below the first line of LastWords, in
// bytes. The end is what tells.
const lastWordsShown = 2000

func (e *GoneError) Error() string {
	if e.LastWords == "" {
		return fmt.Sprintf("the server is gone: %v", e.Cause)
	}
	how, printed, more := strings.Cut(strings.TrimSpace(e.LastWords), "\n")
	if over := len(printed) - lastWordsShown; over > 0 {
		printed = "..." + printed[over:]
	}
	if more {
		how += "\n" + printed
	}
	return "the server is gone: " + printable(how)
}

// Is makes errors.Is(err, ErrGone) true.
func (e *GoneError) Is(target error) bool { return target == ErrGone }

func (e *GoneError) Unwrap() error { return e.Cause }

// ProtocolError says what was wrong with an answer. It is ErrProtocol.
type ProtocolError struct{ Problem string }

func (e *ProtocolError) Error() string { return e.Problem }

// Is makes errors.Is(err, ErrProtocol) true.
func (e *ProtocolError) Is(target error) bool { return target == ErrProtocol }

func violation(format string, args ...any) error {
	return &ProtocolError{Problem: fmt.Sprintf(format, args...)}
}

// TooLargeError says that a message was longer than the limit, and was skipped.
// It is ErrProtocol.
type TooLargeError struct{ Limit int } // bytes

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the server sent a message of more than %d bytes", e.Limit)
}

// Is makes errors.Is(err, ErrProtocol) true.
func (e *TooLargeError) Is(target error) bool { return target == ErrProtocol }

// InputRequiredError says that a tool asked for input that it did not get.
type InputRequiredError struct {
	// Methods are the kinds of input asked for, sorted.
	Methods []string
	Reason  string
}

func (e *InputRequiredError) Error() string {
	return fmt.Sprintf("the tool asks for input (%s): %s", strings.Join(e.Methods, ", "), e.Reason)
}

// StatusError is a refusal by HTTP status. Nothing in it repeats the headers or
// the query that the request was sent with.
type StatusError struct {
	Status int
	// URL is the address without user, query and fragment.
	URL string
	// RPC is the JSON-RPC error in the body, if there was one.
	RPC *RPCError
	// Detail is the body's beginning, or where a redirect leads.
	Detail string
	// RetryAfter is that header.
	RetryAfter string
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("%s: %s (HTTP %d)", e.URL, e.meaning(), e.Status)
	if e.RPC != nil {
		return text + ": " + printable(e.RPC.Message)
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

func (e *StatusError) meaning() string {
	switch {
	case e.Status == http.StatusUnauthorized:
		return "the server asks for credentials, and has accepted none"
	case e.Status == http.StatusForbidden:
		return "the server forbids this client or these credentials"
	case e.Status == http.StatusNotFound:
		return "there is no MCP server at this address"
	case e.Status == http.StatusMethodNotAllowed:
		return "this address takes no MCP requests by POST; it may be of the older HTTP+SSE transport, which is not supported"
	case e.Status == http.StatusTooManyRequests && e.RetryAfter != "":
		return "the server asks for fewer requests; retry after " + e.RetryAfter
	case e.Status == http.StatusTooManyRequests:
		return "the server asks for fewer requests"
	case e.Status >= 300 && e.Status < 400:
		return "the server has moved; give the new address"
	case e.Status >= 500:
		return "the server failed"
	}
	return "the server refused the request"
}

// denied reports whether the refusal is about who asks, or how often, so that
// asking in another way is of no use.
func (e *StatusError) denied() bool {
	switch e.Status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden,
		http.StatusProxyAuthRequired, http.StatusTooManyRequests:
		return true
	}
	return e.Status >= 500 || e.Status < 400
}

// printable makes text of a server safe to show: valid UTF-8 without control
// characters other than line feed and tab.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
