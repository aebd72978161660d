package rules

import (
	_ "embed"

	"github.com/ax-check/ax-check/internal/finding"
	"github.com/ax-check/ax-check/internal/rule"
)

// The wire rules have no function: the client that talks to a server sees what
// they describe, and the front end turns what it saw into findings.

//go:embed stdout_noise.md
var stdoutNoisePage string

// StdoutNoise is reported when a server prints something else than messages.
var StdoutNoise = rule.Rule{
	ID:        "AXC-W001",
	Title:     "Server writes non-protocol text to stdout",
	Severity:  finding.Warn,
	Kind:      finding.Conformance,
	Mode:      rule.Wire,
	AppliesTo: "MCP servers over stdio",
	Tags:      []string{"transport", "interoperability"},
	Fix:       "Write logs to stderr; keep stdout for messages.",
	Page:      stdoutNoisePage,
}

//go:embed cursor_repeats.md
var cursorRepeatsPage string

// CursorRepeats is reported when the pages of a list go round in a circle.
var CursorRepeats = rule.Rule{
	ID:        "AXC-W002",
	Title:     "Pagination cursor repeats",
	Severity:  finding.Error,
	Kind:      finding.Conformance,
	Mode:      rule.Wire,
	AppliesTo: "MCP servers",
	Tags:      []string{"pagination", "interoperability"},
	Fix:       "Leave nextCursor out of the last page, and never hand out the same cursor twice.",
	Page:      cursorRepeatsPage,
}

//go:embed reply_id_type.md
var replyIDTypePage string

// ReplyIDType is reported when a reply's id is not the request's id.
var ReplyIDType = rule.Rule{
	ID:        "AXC-W003",
	Title:     "Reply id has the wrong type",
	Severity:  finding.Warn,
	Kind:      finding.Conformance,
	Mode:      rule.Wire,
	AppliesTo: "MCP servers",
	Tags:      []string{"json-rpc", "interoperability"},
	Fix:       "Send the id of the request back as it came, a number as a number.",
	Page:      replyIDTypePage,
}

//go:embed reply_not_json.md
var replyNotJSONPage string

// ReplyNotJSON is reported when a message looks like JSON and is not.
var ReplyNotJSON = rule.Rule{
	ID:        "AXC-W004",
	Title:     "Reply is not valid JSON",
	Severity:  finding.Error,
	Kind:      finding.Conformance,
	Mode:      rule.Wire,
	AppliesTo: "MCP servers",
	Tags:      []string{"json-rpc", "transport", "interoperability"},
	Fix:       "Write each message with a JSON library, in UTF-8, on one line.",
	Page:      replyNotJSONPage,
}
