package mcp

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// object is a JSON object with exact keys. Of duplicate keys the last one counts,
// as for JSON.parse.
type object map[string]json.RawMessage

// objectIn reads raw as an object; ok is false for anything else.
func objectIn(raw json.RawMessage) (o object, ok bool) {
	err := json.Unmarshal(raw, &o)
	return o, err == nil && o != nil
}

// text gives the string under key, or "".
func (o object) text(key string) string {
	s, _ := stringIn(o[key])
	return s
}

func stringIn(raw json.RawMessage) (s string, ok bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	return s, json.Unmarshal(raw, &s) == nil
}

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

// incoming is a JSON-RPC message from the server.
type incoming struct {
	id     json.RawMessage // nil when absent or null
	method string          // "" for a reply
	params json.RawMessage
	result json.RawMessage
	err    *RPCError
}

// isReply reports whether the message answers a request.
func (m incoming) isReply() bool { return m.method == "" }

// parseMessage reads one message. Other JSON, such as a structured log line, is
// none: a message says that it is JSON-RPC, or at least has an id and an outcome.
func parseMessage(raw []byte) (m incoming, ok bool) {
	o, ok := objectIn(raw)
	if !ok {
		return m, false
	}
	if id := o["id"]; id != nil && !isNull(id) {
		m.id = id
	}
	if e, failed := objectIn(o["error"]); failed {
		m.err = errorIn(e)
	}
	m.method, m.params, m.result = o.text("method"), o["params"], o["result"]
	outcome := m.err != nil || m.result != nil
	if _, said := o["jsonrpc"]; !said {
		return m, m.id != nil && m.method == "" && outcome
	}
	return m, m.method != "" || outcome
}

func errorIn(o object) *RPCError {
	e := &RPCError{Message: o.text("message"), Data: o["data"]}
	if code, ok := integerIn(o["code"]); ok {
		e.Code = int(code)
	}
	return e
}

// number gives a reply's id as one of ours. exact is false when it is a string
// where a number was sent.
func (m incoming) number() (id int64, exact, ok bool) {
	if s, isString := stringIn(m.id); isString {
		id, err := strconv.ParseInt(s, 10, 64)
		return id, false, err == nil
	}
	id, ok = integerIn(m.id)
	return id, true, ok
}

// integerIn reads a JSON number that is a whole one, however it is written.
func integerIn(raw json.RawMessage) (n int64, ok bool) {
	var f float64
	if len(raw) == 0 || isNull(raw) || json.Unmarshal(raw, &f) != nil {
		return 0, false
	}
	const exact = 1<<53 - 1 // beyond it a number and its neighbour are the same
	if f != math.Trunc(f) || math.Abs(f) > exact {
		return 0, false
	}
	return int64(f), true
}

// outgoing is a JSON-RPC message to the server.
type outgoing struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      any             `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  map[string]any  `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *RPCError       `json:"error,omitempty"`
}

// encode writes the message on one line, without a line feed. Raw parts keep
// their characters; only white space between tokens is lost.
func (m outgoing) encode() ([]byte, error) {
	m.JSONRPC = "2.0"
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
