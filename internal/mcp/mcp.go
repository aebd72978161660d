// Package mcp talks the Model Context Protocol as a client that judges its
// server: every tool is handed over as the exact bytes that came over the wire,
// a fault of the server is written down instead of ending the connection, and
// nothing is cached, filtered or repaired.
//
// It speaks all revisions from 2024-11-05 to 2026-07-28, over the standard
// streams of a process and over Streamable HTTP. A server of 2026-07-28 or later
// is called modern here: it has no handshake and no sessions, and each request
// carries the client's revision and capabilities.
//
// Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
// and the pages below it.
package mcp

import (
	"context"
	"encoding/json"
	"time"
)

// The protocol revisions that decide how a server is spoken to.
const (
	modernRevision = "2026-07-28"
	legacyRevision = "2025-11-25"
)

// legacyRevisions are those with a handshake, newest first.
var legacyRevisions = [...]string{legacyRevision, "2025-06-18", "2025-03-26", "2024-11-05"}

// Times that hold where Options has none.
const (
	defaultRequestTimeout = 30 * time.Second
	defaultProbeTimeout   = 5 * time.Second
	defaultStartTimeout   = 60 * time.Second
)

// Options say how a Client introduces itself and how long it waits. The zero
// value declares no capabilities and uses the default times.
type Options struct {
	ClientName, ClientVersion string

	// Elicitation and Sampling declare these capabilities to the server.
	Elicitation, Sampling bool
	// Answer gives the result for a request that the server makes under a declared
	// capability (method elicitation/create or sampling/createMessage). All other
	// requests are declined. It is called by one goroutine at a time for the
	// server's own requests, and by the caller's goroutine inside CallTool.
	Answer func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)

	// RequestTimeout is for one request, default 30 s.
	RequestTimeout time.Duration
	// ProbeTimeout is how long the question for the server's era may stay
	// unanswered before the older handshake is tried as well; default 5 s, and at most a
	// quarter of StartTimeout.
	ProbeTimeout time.Duration
	// StartTimeout is for everything from dialling until the server can be used,
	// default 60 s: a server may first have to be fetched.
	StartTimeout time.Duration

	// Known is what an earlier Connect learned about this server. The question for
	// its era is not asked again then.
	Known *Server
}

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, otherwise time.Duration) {
		if *d <= 0 {
			*d = otherwise
		}
	}
	set(&o.RequestTimeout, defaultRequestTimeout)
	set(&o.StartTimeout, defaultStartTimeout)
	// A short start must leave time for the older handshake too.
	set(&o.ProbeTimeout, min(defaultProbeTimeout, o.StartTimeout/4))
	if o.ClientName == "" {
		o.ClientName = "ax-check"
	}
	return o
}

func (o Options) clientInfo() map[string]any {
	return map[string]any{"name": o.ClientName, "version": o.ClientVersion}
}

func (o Options) capabilities() map[string]any {
	c := map[string]any{}
	if o.Elicitation {
		c["elicitation"] = map[string]any{}
	}
	if o.Sampling {
		c["sampling"] = map[string]any{}
	}
	return c
}

// Server is what a server said about itself.
type Server struct {
	Name, Version string
	// Protocol is the revision in use, as the server wrote it.
	Protocol string
	// Modern is true for revision 2026-07-28 and later.
	Modern       bool
	Capabilities json.RawMessage
	Instructions string
	// Transport is "stdio" or "http".
	Transport string
}

// List is the server's answer to tools/list, all pages together.
type List struct {
	// Tools are the exact bytes of each entry, whatever it is.
	Tools []json.RawMessage
	Pages int
}

// CallResult is how a tool answered.
type CallResult struct {
	// Raw is the last result, exact bytes; nil when Error is set.
	Raw json.RawMessage
	// Error is the protocol error that the server answered with instead of a result.
	Error *RPCError
	// IsError is the tool's own word for a failure.
	IsError bool
	// Text is all text content, joined with line feeds.
	Text string
	// Structured is structuredContent; nil when absent.
	Structured json.RawMessage
	// Rounds is how many requests the call took: 1, or more when the server asked
	// for input in between.
	Rounds int
}
