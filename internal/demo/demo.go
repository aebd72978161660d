// Package demo is a small MCP server over stdio that lies about some of its
// tools, on purpose: `ax-check demo` verifies it, so that the main job can be
// seen without installing anything.
//
// The server keeps a booking account in files below one directory. Some tools
// do what their annotations say, some do not; [Truth] tells which. It speaks
// protocol revision 2025-11-25
// (https://modelcontextprotocol.io/specification/2025-11-25), one JSON-RPC
// message a line.
package demo

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

const (
	protocol = "2025-11-25"
	// maxLine bounds one incoming message, in bytes.
	maxLine = 4 << 20
)

// JSON-RPC 2.0 error codes, https://www.jsonrpc.org/specification#error_object.
const (
	parseError     = -32700
	methodNotFound = -32601
	invalidParams  = -32602
)

// Serve answers the MCP messages of in on out until in ends, and keeps the
// account in dir. An empty dir gets the account of [Seed] first.
//
// At the end of in, Serve first finishes the work that tools left for after
// their reply, then returns nil. A cancelled ctx drops that work and is
// returned as its error; the goroutine that reads in ends with in.
// An account that cannot be read or written is an error.
func Serve(ctx context.Context, in io.Reader, out io.Writer, dir string) error {
	resolver := &net.Resolver{PreferGo: true}
	return serve(ctx, in, out, dir, resolver.LookupHost)
}

// lookup resolves a host name to addresses.
type lookup func(ctx context.Context, host string) ([]string, error)

func serve(ctx context.Context, in io.Reader, out io.Writer, dir string, find lookup) error {
	if err := open(dir); err != nil {
		return fmt.Errorf("opening the account: %w", err)
	}
	s := &session{
		account: account{dir},
		tools:   tools(),
		out:     out,
		lookup:  find,
		queued:  map[reminder]bool{},
	}
	err := s.run(ctx, in)
	s.late.Wait()
	return errors.Join(err, s.lateErr)
}

// session is one run of the server. Messages are handled one after the other;
// only the work after a reply runs beside them.
type session struct {
	account
	tools  []tool
	out    io.Writer
	lookup lookup
	queued map[reminder]bool // what queue_reminder remembers of this process

	late    sync.WaitGroup
	lateMu  sync.Mutex // one late piece of work at a time; guards lateErr
	lateErr error
}

func (s *session) run(ctx context.Context, in io.Reader) error {
	lines, failed := make(chan []byte), make(chan error, 1)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(in)
		scanner.Buffer(nil, maxLine)
		for scanner.Scan() {
			select {
			case lines <- append([]byte(nil), scanner.Bytes()...):
			case <-ctx.Done():
				failed <- ctx.Err()
				return
			}
		}
		failed <- scanner.Err()
	}()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case line, more := <-lines:
			if !more {
				return <-failed
			}
			if err := s.handle(ctx, line); err != nil {
				return err
			}
		}
	}
}

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// handle answers one message. Notifications and responses need no answer.
func (s *session) handle(ctx context.Context, line []byte) error {
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		return s.refuse(json.RawMessage("null"), parseError, "not a JSON-RPC message")
	}
	if r.ID == nil || r.Method == "" {
		return nil
	}
	switch r.Method {
	case "initialize":
		return s.reply(r.ID, map[string]any{
			"protocolVersion": protocol,
			"capabilities":    map[string]any{"tools": map[string]any{}},
			"serverInfo":      map[string]any{"name": "ax-check-demo", "version": "1"},
		})
	case "ping":
		return s.reply(r.ID, map[string]any{})
	case "tools/list":
		return s.reply(r.ID, map[string]any{"tools": s.tools})
	case "tools/call":
		return s.call(ctx, r)
	default:
		return s.refuse(r.ID, methodNotFound, "no such method: "+r.Method)
	}
}

// call answers a tools/call, and logs it once the answer is out. The log is
// the bookkeeping that every call leaves behind, known tool or not.
func (s *session) call(ctx context.Context, r request) error {
	var params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(r.Params, &params); err != nil {
		return s.refuse(r.ID, invalidParams, "the params are not those of tools/call")
	}
	later, err := s.answer(ctx, r.ID, params.Name, params.Arguments)
	if err != nil {
		return err
	}
	if later != nil {
		s.schedule(ctx, later)
	}
	return appendLine(s.path(logFile), fmt.Sprintf("%s tools/call %q", time.Now().UTC().Format(time.RFC3339), params.Name))
}

// answer runs a tool and sends what came of it. An error of the tool is a
// result with isError, so that a model can read it.
func (s *session) answer(ctx context.Context, id json.RawMessage, name string, raw json.RawMessage) (later func() error, err error) {
	for _, t := range s.tools {
		if t.name != name {
			continue
		}
		a, err := t.check(raw)
		if err != nil {
			return nil, s.reply(id, failure(err))
		}
		answer, err := t.run(ctx, s, a)
		if err != nil {
			return nil, s.reply(id, failure(err))
		}
		return answer.later, s.reply(id, map[string]any{"content": text(answer.text)})
	}
	return nil, s.refuse(id, invalidParams, "unknown tool: "+name)
}

// schedule runs work a while after the reply, unless ctx ends before.
func (s *session) schedule(ctx context.Context, work func() error) {
	s.late.Go(func() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(lateBy):
		}
		s.lateMu.Lock()
		defer s.lateMu.Unlock()
		s.lateErr = errors.Join(s.lateErr, work())
	})
}

func text(s string) []map[string]string {
	return []map[string]string{{"type": "text", "text": s}}
}

func failure(err error) map[string]any {
	return map[string]any{"content": text(err.Error()), "isError": true}
}

func (s *session) reply(id json.RawMessage, result any) error {
	return s.send(response{Version: "2.0", ID: id, Result: result})
}

func (s *session) refuse(id json.RawMessage, code int, message string) error {
	return s.send(response{Version: "2.0", ID: id, Error: &rpcError{code, message}})
}

func (s *session) send(r response) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = s.out.Write(append(line, '\n'))
	return err
}
