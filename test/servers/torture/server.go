package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
)

// server is one run. Its fields are what a mode may change.
type server struct {
	in  *bufio.Reader
	out io.Writer
	log io.Writer // stderr
	// methods answers requests; an unknown one gets the error that is due.
	methods map[string]method
	// write puts one message on the wire.
	write func(message []byte)
	// exit is the exit status once serving is over, set by quit.
	exit int
	over bool
}

// method gives the result of a request, or the error. Neither means no reply.
type method func(s *server, r request) (result any, err *rpcError)

type request struct {
	ID     json.RawMessage            `json:"id"`
	Method string                     `json:"method"`
	Params map[string]json.RawMessage `json:"params"`
}

// rpcError is the error of a JSON-RPC response.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

const (
	methodNotFound = -32601
	invalidParams  = -32602
)

// object is a JSON object written out in code.
type object = map[string]any

func newServer(in io.Reader, out, log io.Writer, m mode) *server {
	s := &server{in: bufio.NewReader(in), out: out, log: log, methods: legacy()}
	s.write = s.line
	m.change(s)
	return s
}

// serve handles one message after the other until stdin ends or a mode quits.
func (s *server) serve() int {
	for !s.over {
		r, ok := s.read()
		if !ok {
			break
		}
		s.handle(r)
	}
	return s.exit
}

// read gives the next message, and false at the end of stdin.
func (s *server) read() (request, bool) {
	for {
		line, err := s.in.ReadBytes('\n')
		var r request
		if json.Unmarshal(line, &r) == nil {
			return r, true
		}
		if err != nil {
			return request{}, false
		}
	}
}

func (s *server) handle(r request) {
	answer, known := s.methods[r.Method]
	if !known {
		answer = unknown
	}
	result, failure := answer(s, r)
	switch {
	case r.ID == nil || r.Method == "":
	case failure != nil:
		s.send(object{"jsonrpc": "2.0", "id": r.ID, "error": failure})
	case result != nil:
		s.send(object{"jsonrpc": "2.0", "id": r.ID, "result": result})
	}
}

func (s *server) send(message object) {
	text, err := json.Marshal(message)
	if err != nil {
		panic(err) // all of it is written in this program
	}
	s.write(text)
}

// line writes a message as it should be written.
func (s *server) line(message []byte) { s.raw(append(message, '\n')) }

func (s *server) raw(bytes []byte) {
	if _, err := s.out.Write(bytes); err != nil {
		s.quit(1, "writing to stdout: "+err.Error())
	}
}

// quit ends the server after the current message.
func (s *server) quit(status int, words string) {
	fmt.Fprintln(s.log, words)
	s.exit, s.over = status, true
}

func unknown(_ *server, r request) (any, *rpcError) {
	return nil, &rpcError{Code: methodNotFound, Message: "unknown method " + r.Method}
}

// legacy is a well-behaved server of the era with initialize.
func legacy() map[string]method {
	return map[string]method{
		"initialize": func(_ *server, r request) (any, *rpcError) {
			return object{
				"protocolVersion": text(r.Params["protocolVersion"]),
				"capabilities":    object{"tools": object{}},
				"serverInfo":      object{"name": "torture", "version": "1.0.0"},
			}, nil
		},
		"ping":       func(*server, request) (any, *rpcError) { return object{}, nil },
		"tools/list": func(*server, request) (any, *rpcError) { return object{"tools": tools()}, nil },
		"tools/call": call,
	}
}

// modern is a well-behaved server of the stateless era, and refuses the other.
func modern() map[string]method {
	complete := func(result object) object {
		result["resultType"] = "complete"
		result["_meta"] = object{"io.modelcontextprotocol/serverInfo": object{"name": "torture", "version": "1.0.0"}}
		return result
	}
	cached := func(result object) object {
		result["ttlMs"], result["cacheScope"] = 0, "private"
		return complete(result)
	}
	described := func(m method) method {
		return func(s *server, r request) (any, *rpcError) {
			var meta map[string]json.RawMessage
			_ = json.Unmarshal(r.Params["_meta"], &meta) // missing is seen below
			if meta["io.modelcontextprotocol/protocolVersion"] == nil || meta["io.modelcontextprotocol/clientCapabilities"] == nil {
				return nil, &rpcError{Code: invalidParams, Message: "params._meta lacks the protocol version or the client's capabilities"}
			}
			return m(s, r)
		}
	}
	return map[string]method{
		"server/discover": described(func(*server, request) (any, *rpcError) {
			return cached(object{"supportedVersions": []string{"2026-07-28"}, "capabilities": object{"tools": object{}}, "instructions": "Keep notes."}), nil
		}),
		"tools/list": described(func(*server, request) (any, *rpcError) {
			return cached(object{"tools": tools()}), nil
		}),
		"tools/call": described(func(s *server, r request) (any, *rpcError) {
			result, err := call(s, r)
			if err != nil {
				return nil, err
			}
			return complete(result.(object)), nil
		}),
	}
}

// text is a JSON string's own text, or "".
func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // no string is no text
	return s
}

const notes = "notes.txt"

func tools() []any {
	return []any{
		tool("read_note", "Read all notes.", object{}, hints(true, false, true)),
		tool("append_note", "Append one line to the notes.", object{"line": object{"type": "string"}}, hints(false, false, false)),
	}
}

func tool(name, description string, properties, annotations object) object {
	required := slices.AppendSeq([]string{}, maps.Keys(properties)) // [] rather than null
	slices.Sort(required)
	return object{
		"name": name, "description": description, "annotations": annotations,
		"inputSchema": object{"type": "object", "properties": properties, "required": required},
	}
}

func hints(readOnly, destructive, idempotent bool) object {
	return object{"readOnlyHint": readOnly, "destructiveHint": destructive, "idempotentHint": idempotent, "openWorldHint": false}
}

func call(_ *server, r request) (any, *rpcError) {
	var arguments map[string]json.RawMessage
	_ = json.Unmarshal(r.Params["arguments"], &arguments) // missing is no argument
	switch name := text(r.Params["name"]); name {
	case "read_note":
		content, err := os.ReadFile(notes)
		if err != nil && !os.IsNotExist(err) {
			return failed(err.Error()), nil
		}
		return said(string(content)), nil
	case "append_note":
		line := text(arguments["line"])
		if line == "" {
			return failed("line must be a text"), nil
		}
		if err := appendLine(line); err != nil {
			return failed(err.Error()), nil
		}
		return said("appended"), nil
	default:
		return nil, &rpcError{Code: invalidParams, Message: "unknown tool " + name}
	}
}

func appendLine(line string) error {
	file, err := os.OpenFile(notes, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(file, line); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}

func said(words string) object {
	return object{"content": []any{object{"type": "text", "text": words}}}
}

func failed(words string) object {
	result := said(words)
	result["isError"] = true
	return result
}
