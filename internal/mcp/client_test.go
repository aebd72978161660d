package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fake is a server in this process. For each message it gets, it writes lines,
// and may end.
type fake func(f *session, m incoming)

// session is one start of a fake.
type session struct {
	t     *testing.T
	start int // 1 for the first
	out   *io.PipeWriter
}

// write sends lines to the client. $ID stands for the id of m.
func (s *session) write(m incoming, lines ...string) {
	for _, line := range lines {
		line = strings.ReplaceAll(line, "$ID", string(m.id))
		if _, err := io.WriteString(s.out, line+"\n"); err != nil {
			return // the client has closed
		}
	}
}

func (s *session) end() { _ = s.out.Close() }

// result writes a reply.
func (s *session) result(m incoming, result string) {
	s.write(m, `{"jsonrpc":"2.0","id":$ID,"result":`+result+`}`)
}

func (s *session) error(m incoming, object string) {
	s.write(m, `{"jsonrpc":"2.0","id":$ID,"error":`+object+`}`)
}

// handshake answers as a server of 2025-11-25 does, and reports whether m was a
// part of that.
func (s *session) handshake(m incoming) bool {
	switch m.method {
	case "server/discover":
		s.error(m, `{"code":-32601,"message":"Method not found"}`)
	case "initialize":
		s.result(m, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}`)
	case "notifications/initialized":
	default:
		return false
	}
	return true
}

// Dial starts the fake.
func (f *fakeDialer) Dial(context.Context) (Transport, error) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	s := &session{t: f.t, start: int(f.starts.Add(1)), out: outW}
	f.running.Go(func() {
		defer s.end()
		lines := bufio.NewScanner(inR)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			m, ok := parseMessage(lines.Bytes())
			if !ok {
				f.t.Errorf("the client wrote %q", lines.Text())
			}
			f.serve(s, m)
		}
	})
	return NewStdio(inW, outR, f.limits), nil
}

type fakeDialer struct {
	t       *testing.T
	serve   fake
	limits  Limits
	starts  atomic.Int32
	running sync.WaitGroup
}

func newFake(t *testing.T, serve fake) *fakeDialer { return &fakeDialer{t: t, serve: serve} }

// quick are times for a test in which something stays unanswered.
var quick = Options{RequestTimeout: 300 * time.Millisecond, ProbeTimeout: 50 * time.Millisecond, StartTimeout: 600 * time.Millisecond}

func connect(t *testing.T, d *fakeDialer, o Options) *Client {
	t.Helper()
	c, err := Connect(t.Context(), d, o)
	if err != nil {
		t.Fatalf("Connect: %v", err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		d.running.Wait()
	})
	return c
}

func TestConnectFindsTheEra(t *testing.T) {
	const discovered = `{"supportedVersions":["2025-11-25","2026-07-28"],"capabilities":{"tools":{}},"instructions":"hi","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"fake","version":"2"}}}`
	legacy := Server{Name: "fake", Version: "1", Protocol: "2025-11-25", Capabilities: json.RawMessage(`{"tools":{}}`), Transport: "stdio"}
	modern := Server{Name: "fake", Version: "2", Protocol: "2026-07-28", Modern: true, Capabilities: json.RawMessage(`{"tools":{}}`), Instructions: "hi", Transport: "stdio"}
	old := legacy
	old.Protocol = "2024-11-05"
	tests := []struct {
		name   string
		serve  fake
		known  *Server
		want   Server
		starts int
	}{
		{name: "modern", want: modern, serve: func(s *session, m incoming) { s.result(m, discovered) }},
		{name: "modern that names its revisions in an error only", want: legacy, serve: func(s *session, m incoming) {
			if m.method == "server/discover" {
				s.error(m, `{"code":-32022,"message":"no","data":{"supported":["2025-11-25"]}}`)
				return
			}
			s.handshake(m)
		}},
		{name: "unknown method", want: legacy, serve: func(s *session, m incoming) { s.handshake(m) }},
		{name: "error without an id", want: legacy, serve: func(s *session, m incoming) {
			if m.method == "server/discover" {
				s.write(m, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"what?"}}`)
				return
			}
			s.handshake(m)
		}},
		{name: "success to anything", want: legacy, serve: func(s *session, m incoming) {
			if m.method == "server/discover" {
				s.result(m, `{}`)
				return
			}
			s.handshake(m)
		}},
		{name: "silence", want: legacy, serve: func(s *session, m incoming) {
			if m.method != "server/discover" {
				s.handshake(m)
			}
		}},
		{name: "modern, but late", want: modern, serve: func(s *session, m incoming) {
			if m.method == "initialize" { // the probe timed out
				s.error(m, `{"code":-32601,"message":"Method not found"}`)
				s.write(m, `{"jsonrpc":"2.0","id":1,"result":`+discovered+`}`)
			}
		}},
		{name: "ends on the probe", want: legacy, starts: 2, serve: func(s *session, m incoming) {
			if m.method == "server/discover" {
				s.end()
				return
			}
			s.handshake(m)
		}},
		{name: "ends on the probe after a slow start", want: legacy, starts: 2, serve: func(s *session, m incoming) {
			switch {
			case m.method == "initialize" && s.start == 1:
				s.end()
			case m.method != "server/discover":
				s.handshake(m)
			}
		}},
		{name: "knows older revisions only", want: old, serve: func(s *session, m incoming) {
			if m.method == "initialize" {
				params, _ := objectIn(m.params)
				if params.text("protocolVersion") != "2024-11-05" {
					s.error(m, `{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2024-11-05"],"requested":"x"}}`)
					return
				}
				s.result(m, `{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}`)
				return
			}
			s.handshake(m)
		}},
		{name: "known to be modern", want: modern, known: &modern, serve: func(s *session, m incoming) {
			s.t.Errorf("asked again: %s", m.method)
		}},
		{name: "known to be legacy", want: legacy, known: &legacy, serve: func(s *session, m incoming) {
			if m.method == "server/discover" {
				s.t.Error("asked for its era again")
			}
			s.handshake(m)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newFake(t, tt.serve)
			o := quick
			o.Known = tt.known
			c := connect(t, d, o)
			if diff := cmp.Diff(tt.want, c.Server()); diff != "" {
				t.Errorf("Server (-want +got):\n%s", diff)
			}
			if want := max(tt.starts, 1); int(d.starts.Load()) != want {
				t.Errorf("%d starts, want %d", d.starts.Load(), want)
			}
			if faults := c.Faults(); faults != nil {
				t.Errorf("faults: %v", faults)
			}
		})
	}
}

func TestConnectFails(t *testing.T) {
	tests := []struct {
		name  string
		serve fake
		kind  error
		text  string
	}{
		{"silence", func(*session, incoming) {}, ErrTimeout, "did not answer"},
		{"ends at once", func(s *session, _ incoming) { s.end() }, ErrGone, "the server is gone: EOF"},
		{"an answer that is no object", func(s *session, m incoming) { s.result(m, `"fine"`) }, ErrProtocol, "initialize is not an object"},
		{"only revisions to come", func(s *session, m incoming) {
			s.error(m, `{"code":-32022,"message":"unsupported","data":{"supported":["2031-01-01"]}}`)
		}, nil, "error -32022: unsupported"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newFake(t, tt.serve)
			_, err := Connect(t.Context(), d, quick)
			if err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error %v, want one with %q", err, tt.text)
			}
			if tt.kind != nil && !errors.Is(err, tt.kind) {
				t.Errorf("error %v is not %v", err, tt.kind)
			}
			d.running.Wait()
		})
	}
}

func TestListTools(t *testing.T) {
	// Each page is chosen by the cursor of the request as it was written.
	tests := []struct {
		name  string
		pages map[string]string
		want  []string
		count int
		fault FaultCode
		err   string
	}{
		{
			name:  "exact bytes of whatever is listed",
			pages: map[string]string{"": `{"tools":[{"name":"a", "annotations":{"readOnlyHint":"true","readonlyhint":1}} , "text",null,{"name":"b","name":"c","x":"é\u00e9<"}]}`},
			want:  []string{`{"name":"a", "annotations":{"readOnlyHint":"true","readonlyhint":1}}`, `"text"`, `null`, `{"name":"b","name":"c","x":"é\u00e9<"}`},
			count: 1,
		},
		{
			name:  "an empty cursor is a cursor, null is none",
			pages: map[string]string{"": `{"tools":[1],"nextCursor":""}`, `""`: `{"tools":[2],"nextCursor":null}`},
			want:  []string{"1", "2"}, count: 2,
		},
		{
			name:  "a cursor that leads to itself",
			pages: map[string]string{"": `{"tools":[1],"nextCursor":"a"}`, `"a"`: `{"tools":[2],"nextCursor":"a"}`},
			want:  []string{"1", "2"}, count: 2, fault: CursorRepeats,
		},
		{
			name:  "a cursor that is not heeded",
			pages: map[string]string{"": `{"tools":[1],"nextCursor":"a"}`, `"a"`: `{"tools":[1],"nextCursor":"a"}`},
			want:  []string{"1"}, count: 2, fault: CursorRepeats,
		},
		{name: "no tools at all", pages: map[string]string{"": `{"Tools":[1]}`}, err: `no array "tools"`},
		{name: "null", pages: map[string]string{"": `{"tools":null}`}, err: `no array "tools"`},
		{name: "no object", pages: map[string]string{"": `[]`}, err: "not an object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := connect(t, newFake(t, func(s *session, m incoming) {
				if !s.handshake(m) {
					params, _ := objectIn(m.params)
					s.result(m, tt.pages[string(params["cursor"])])
				}
			}), Options{})
			list, err := c.ListTools(t.Context())
			if tt.err != "" {
				if !errors.Is(err, ErrProtocol) || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want ErrProtocol with %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, raw := range list.Tools {
				got = append(got, string(raw))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			if list.Pages != tt.count {
				t.Errorf("%d pages, want %d", list.Pages, tt.count)
			}
			if diff := cmp.Diff(tt.fault, onlyFault(t, c)); diff != "" {
				t.Errorf("fault (-want +got):\n%s", diff)
			}
		})
	}
}

// onlyFault is the code of the only fault, or "".
func onlyFault(t *testing.T, c *Client) FaultCode {
	t.Helper()
	switch faults := c.Faults(); len(faults) {
	case 0:
		return ""
	case 1:
		return faults[0].Code
	default:
		t.Errorf("faults: %v", faults)
		return ""
	}
}

// A list without end stops at the page limit.
func TestListToolsWithoutEnd(t *testing.T) {
	page := 0
	c := connect(t, newFake(t, func(s *session, m incoming) {
		if !s.handshake(m) {
			page++
			s.result(m, fmt.Sprintf(`{"tools":[],"nextCursor":"%d"}`, page))
		}
	}), Options{})
	list, err := c.ListTools(t.Context())
	if !errors.Is(err, ErrProtocol) || list.Pages != maxPages {
		t.Errorf("%d pages and error %v, want %d and ErrProtocol", list.Pages, err, maxPages)
	}
}

func TestCallTool(t *testing.T) {
	tests := []struct {
		name  string
		reply string // after "id":N,
		want  CallResult
		err   string
	}{
		{
			name:  "text, in order, other content left out",
			reply: `"result":{"content":[{"type":"text","text":"a"},{"type":"image","text":"x"},7,{"type":"text","text":"b"}]}`,
			want:  CallResult{Text: "a\nb", Rounds: 1},
		},
		{
			name:  "structured null is kept, isError must be a boolean",
			reply: `"result":{"resultType":"complete","isError":"true","structuredContent":null}`,
			want:  CallResult{Structured: json.RawMessage("null"), Rounds: 1},
		},
		{
			name:  "the tool's own failure",
			reply: `"result":{"isError":true,"content":[{"type":"text","text":"no"}]}`,
			want:  CallResult{IsError: true, Text: "no", Rounds: 1},
		},
		{
			name:  "a protocol error is a result",
			reply: `"error":{"code":-32602,"message":"unknown tool","data":[1]}`,
			want:  CallResult{Error: &RPCError{Code: -32602, Message: "unknown tool", Data: json.RawMessage("[1]")}, Rounds: 1},
		},
		{name: "a task that nobody asked for", reply: `"result":{"resultType":"task"}`, err: `unknown type "task"`},
		{name: "no object", reply: `"result":3`, err: "not an object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			const arguments = `{"b":1.50,"a":"<é>"}`
			c := connect(t, newFake(t, func(s *session, m incoming) {
				if s.handshake(m) {
					return
				}
				if want := `{"arguments":` + arguments + `,"name":"x"}`; string(m.params) != want {
					s.t.Errorf("params %s, want %s", m.params, want)
				}
				s.write(m, `{"jsonrpc":"2.0","id":$ID,`+tt.reply+`}`)
			}), Options{})
			got, err := c.CallTool(t.Context(), "x", json.RawMessage(arguments))
			if tt.err != "" {
				if !errors.Is(err, ErrProtocol) || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want ErrProtocol with %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got.Raw = nil // compared by its parts
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

// A tool that asks for input gets it, with its state, until it is content or the
// rounds are used up.
func TestCallToolInRounds(t *testing.T) {
	const ask = `{"resultType":"input_required","requestState":"s1","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"sure?"}}}}`
	accept := func(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`{"action":"accept","asked":` + string(params) + `}`), nil
	}
	tests := []struct {
		name    string
		options Options
		asks    int
		rounds  int
		err     string
	}{
		{"answered", Options{Elicitation: true, Answer: accept}, 2, 3, ""},
		{"not declared", Options{Answer: accept}, 1, 1, "asks for input (elicitation/create): this client has not declared"},
		{"no answer", Options{Elicitation: true, Answer: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
			return nil, errors.New("no idea")
		}}, 1, 1, "no idea"},
		{"without end", Options{Elicitation: true, Answer: accept}, 99, maxRounds, "still does after 10 rounds"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked := 0
			c := connect(t, newFake(t, func(s *session, m incoming) {
				params, _ := objectIn(m.params)
				switch {
				case m.method == "server/discover":
					s.result(m, `{"supportedVersions":["2026-07-28"]}`)
				case asked < tt.asks:
					asked++
					s.result(m, ask)
				default:
					s.result(m, `{"content":[],"structuredContent":{"state":`+string(params["requestState"])+`,"got":`+string(params["inputResponses"])+`}}`)
				}
			}), tt.options)
			got, err := c.CallTool(t.Context(), "x", nil)
			if got.Rounds != tt.rounds {
				t.Errorf("%d rounds, want %d", got.Rounds, tt.rounds)
			}
			if tt.err != "" {
				if err == nil || !errors.As(err, new(*InputRequiredError)) || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want an InputRequiredError with %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := `{"state":"s1","got":{"q":{"action":"accept","asked":{"message":"sure?"}}}}`
			if string(got.Structured) != want {
				t.Errorf("the server saw %s, want %s", got.Structured, want)
			}
		})
	}
}

// Requests of an older server in the middle of a call are answered or declined.
func TestServerAsks(t *testing.T) {
	asks := []string{"elicitation/create", "sampling/createMessage", "roots/list", "ping"}
	var answers []string
	var call incoming
	c := connect(t, newFake(t, func(s *session, m incoming) {
		switch {
		case s.handshake(m):
		case m.method == "tools/call":
			call = m
			s.write(m, `{"jsonrpc":"2.0","id":"ask-0","method":"`+asks[0]+`","params":{}}`)
		case m.isReply():
			outcome := string(m.result)
			if m.err != nil {
				outcome = fmt.Sprint(m.err.Code)
			}
			answers = append(answers, string(m.id)+" "+outcome)
			if n := len(answers); n < len(asks) {
				s.write(m, fmt.Sprintf(`{"jsonrpc":"2.0","id":"ask-%d","method":"%s"}`, n, asks[n]))
				return
			}
			s.result(call, `{"content":[]}`)
		}
	}), Options{Elicitation: true, Answer: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`{"action":"accept"}`), nil
	}})
	if _, err := c.CallTool(t.Context(), "x", nil); err != nil {
		t.Fatal(err)
	}
	want := []string{`"ask-0" {"action":"accept"}`, `"ask-1" -32601`, `"ask-2" -32601`, `"ask-3" {}`}
	if diff := cmp.Diff(want, answers); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

// A request without an answer ends in time, the server hears of it, and the
// connection goes on.
func TestTimeout(t *testing.T) {
	var cancelled string
	c := connect(t, newFake(t, func(s *session, m incoming) {
		switch {
		case s.handshake(m), m.method == "tools/call":
		case m.method == "notifications/cancelled":
			cancelled = string(m.params)
		default:
			s.result(m, `{"tools":[]}`)
		}
	}), quick)
	_, err := c.CallTool(t.Context(), "x", nil)
	if !errors.Is(err, ErrTimeout) {
		t.Fatalf("error %v, want ErrTimeout", err)
	}
	if want := "the server did not answer tools/call within 300ms"; err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
	if _, err := c.ListTools(t.Context()); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if want := `{"requestId":3}`; cancelled != want {
		t.Errorf("cancelled %q, want %q", cancelled, want)
	}
}

// The end of the caller's context is no timeout of the server.
func TestCallerGivesUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := connect(t, newFake(t, func(s *session, m incoming) {
		if !s.handshake(m) {
			cancel()
		}
	}), Options{})
	if _, err := c.CallTool(ctx, "x", nil); !errors.Is(err, context.Canceled) || errors.Is(err, ErrTimeout) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

// What a server does wrong on the way to a good answer is kept as a fault.
func TestFaults(t *testing.T) {
	const good = `{"jsonrpc":"2.0","id":$ID,"result":{"tools":[]}}`
	tests := []struct {
		name  string
		lines []string
		want  []Fault
	}{
		{"none", []string{good}, nil},
		{"noise of every kind", []string{"Listening...", `{"level":"error","error":"x"}`, "[info] up", "{brace}", "", "[1]", good}, []Fault{{Code: StdoutNoise, Excerpt: "Listening...", Count: 5}}},
		{"control characters are not shown", []string{"\x1b[31mred", good}, []Fault{{Code: StdoutNoise, Excerpt: "[31mred", Count: 1}}},
		{"id as a string", []string{`{"jsonrpc":"2.0","id":"$ID","result":{"tools":[]}}`}, []Fault{{Code: IDType, Excerpt: `"3"`, Count: 1}}},
		{"id as a float is the same number", []string{`{"jsonrpc":"2.0","id":$ID.0,"result":{"tools":[]}}`}, nil},
		{"cut off, with what follows", []string{`{"jsonrpc":"2.0","id":9,`, `"result":{}`, "}", good}, []Fault{{Code: BadJSON, Excerpt: `{"jsonrpc":"2.0","id":9,`, Count: 3}}},
		{"a batch", []string{`[{"jsonrpc":"2.0","method":"notifications/message"},` + good + `]`}, nil},
		{"carriage returns", []string{good + "\r"}, nil},
		{"no jsonrpc member", []string{`{"id":$ID,"result":{"tools":[]}}`}, nil},
		{"twice, and to nothing", []string{`{"jsonrpc":"2.0","id":77,"result":{}}`, good, good}, nil},
		{"bytes that are no UTF-8", []string{"{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"tools\":[\"\xff\"]}}"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := connect(t, newFake(t, func(s *session, m incoming) {
				if !s.handshake(m) {
					s.write(m, tt.lines...)
				}
			}), quick)
			if _, err := c.ListTools(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := c.Faults()
			for i := range got {
				if got[i].Message == "" {
					t.Errorf("no message for %s", got[i].Code)
				}
				got[i].Message = ""
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

// A message over the limit fails the request that waits, and the next one works.
func TestTooLarge(t *testing.T) {
	large := true
	d := newFake(t, func(s *session, m incoming) {
		switch {
		case s.handshake(m):
		case large:
			large = false
			s.result(m, `"`+strings.Repeat("x", 300_000)+`"`)
		default:
			s.result(m, `{"tools":[]}`)
		}
	})
	d.limits.Message = 200_000
	c := connect(t, d, Options{})
	if _, err := c.ListTools(t.Context()); !errors.Is(err, ErrProtocol) || !strings.Contains(err.Error(), "more than 200000 bytes") {
		t.Errorf("error %v, want a TooLargeError", err)
	}
	if _, err := c.ListTools(t.Context()); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// A flood of notifications and of requests is counted, not kept.
func TestFlood(t *testing.T) {
	const flood = 20_000
	c := connect(t, newFake(t, func(s *session, m incoming) {
		if s.handshake(m) || m.method != "tools/list" {
			return
		}
		line := `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"` + strings.Repeat("x", 100) + `"}}`
		s.write(m, strings.Repeat(line+"\n", flood)+`{"jsonrpc":"2.0","id":$ID,"result":{"tools":[]}}`)
	}), Options{})
	if _, err := c.ListTools(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := c.Ignored(); got != flood {
		t.Errorf("%d messages ignored, want %d", got, flood)
	}
}

// A server that does not read holds up neither a request nor Close.
func TestServerThatDoesNotRead(t *testing.T) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	defer func() { _, _ = inR.Close(), outW.Close() }()
	c := newClient(NewStdio(inW, outR, Limits{}), quick.withDefaults())
	if err := c.Ping(t.Context()); !errors.Is(err, ErrTimeout) {
		t.Errorf("error %v, want ErrTimeout", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	for range 1000 { // what is noticed first varies
		if err := c.Ping(t.Context()); !errors.Is(err, ErrGone) {
			t.Fatalf("after Close: error %v, want ErrGone", err)
		}
	}
}

// stuck sends nothing until it is told to stop.
type stuck struct {
	closed  chan struct{}
	sending atomic.Int32
}

func (s *stuck) Send(ctx context.Context, _ Message) error {
	s.sending.Add(1)
	defer s.sending.Add(-1)
	<-ctx.Done()
	time.Sleep(5 * time.Millisecond) // widens the window in which it could be left behind
	return ctx.Err()
}

func (s *stuck) Receive() ([]byte, error) {
	<-s.closed
	return nil, io.EOF
}

func (s *stuck) Close() error {
	close(s.closed)
	return nil
}

// No goroutine is left behind by a request.
func TestRequestWaitsForItsSend(t *testing.T) {
	s := &stuck{closed: make(chan struct{})}
	c := newClient(s, quick.withDefaults())
	_, err := c.request(t.Context(), request{method: "x", timeout: time.Millisecond, abandon: true})
	if n := s.sending.Load(); n != 0 || !errors.Is(err, ErrTimeout) {
		t.Errorf("%d still sending, error %v; want none and ErrTimeout", n, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// The last words of a process are a part of the error: how it ended, and the end
// of what it printed.
func TestLastWords(t *testing.T) {
	long := strings.Repeat("x", lastWordsShown)
	tests := []struct{ name, words, want string }{
		{"one line, without control characters", "exit status 1: \x1bAPI_KEY is not set\n", "exit status 1: API_KEY is not set"},
		{"several", "exit status 1\na\nb\n", "exit status 1\na\nb"},
		{"too many", "exit status 1\nfirst" + long, "exit status 1\n..." + long},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newFake(t, func(s *session, _ incoming) { s.end() })
			dial := dialerFunc(func(ctx context.Context) (Transport, error) {
				inner, err := d.Dial(ctx)
				return WithProcess(inner, epitaph(tt.words)), err
			})
			_, err := Connect(t.Context(), dial, quick)
			if want := "the server is gone: " + tt.want; err == nil || err.Error() != want {
				t.Errorf("error %v, want %q", err, want)
			}
			d.running.Wait()
		})
	}
}

type dialerFunc func(context.Context) (Transport, error)

func (f dialerFunc) Dial(ctx context.Context) (Transport, error) { return f(ctx) }

// epitaph is a process that has ended.
type epitaph string

func (e epitaph) Stop() error       { return nil }
func (e epitaph) LastWords() string { return string(e) }

// Many calls at once each get their own answer.
func TestConcurrentCalls(t *testing.T) {
	c := connect(t, newFake(t, func(s *session, m incoming) {
		if !s.handshake(m) {
			s.result(m, `{"structuredContent":`+string(m.params)+`}`)
		}
	}), Options{})
	var calls sync.WaitGroup
	for i := range 50 {
		calls.Go(func() {
			r, err := c.CallTool(t.Context(), fmt.Sprint(i), nil)
			if want := fmt.Sprintf(`{"name":"%d"}`, i); err != nil || string(r.Structured) != want {
				t.Errorf("got %s and error %v, want %s", r.Structured, err, want)
			}
		})
	}
	calls.Wait()
}
