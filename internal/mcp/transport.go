package mcp

import (
	"context"
	"net/http"
)

// Transport carries messages to one server and back. Send may be called by
// several goroutines at once, Receive by one.
type Transport interface {
	// Send delivers one message. Over HTTP it stays until the exchange is over, and
	// the answer comes through Receive meanwhile; ending ctx ends the exchange.
	Send(ctx context.Context, m Message) error
	// Receive waits for the next line or body from the server, whatever it is. A
	// *TooLargeError says that one was skipped; any other error that nothing more
	// will come.
	Receive() ([]byte, error)
	// Close ends the connection, and a Receive or Send that is under way.
	Close() error
}

// Message is one message to the server.
type Message struct {
	// Body is one JSON-RPC message on one line, without a line feed.
	Body []byte
	// Header is what HTTP repeats of it; other transports leave it alone.
	Header http.Header
	// Request is true when an answer is due.
	Request bool
}

// Dialer starts or reaches a server. It is asked again when the server ended on
// the first message, as some do that know only the older handshake.
type Dialer interface {
	Dial(ctx context.Context) (Transport, error)
}

// Limits bound what is taken from a server. The zero value has the defaults.
type Limits struct {
	// Message is the longest message accepted, in bytes, default 64 MiB. It bounds
	// all pages of a list together too.
	Message int
}

const defaultMaxMessage = 64 << 20

func (l Limits) message() int {
	if l.Message <= 0 {
		return defaultMaxMessage
	}
	return l.Message
}

// Process is the process behind a transport.
type Process interface {
	// Stop ends it, and all that it started.
	Stop() error
	// LastWords is how it ended and the end of what it printed to stderr. It may
	// wait a moment for the end.
	LastWords() string
}

// WithProcess gives a transport whose Close also stops the process, and whose
// errors carry its last words.
func WithProcess(t Transport, p Process) Transport { return &owned{Transport: t, process: p} }

type owned struct {
	Transport
	process Process
}

// Close stops the process first: until then it may still want to write.
func (o *owned) Close() error {
	err := o.process.Stop()
	if closing := o.Transport.Close(); err == nil {
		err = closing
	}
	return err
}

func (o *owned) LastWords() string { return o.process.LastWords() }
