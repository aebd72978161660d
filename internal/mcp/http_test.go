package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const discovered = `{"supportedVersions":["2026-07-28"],"capabilities":{}}`

// replyTo writes a JSON-RPC result over HTTP.
func replyTo(w http.ResponseWriter, m incoming, result string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.id, result)
}

// web is a server of which each POST is one message.
func web(t *testing.T, serve func(w http.ResponseWriter, r *http.Request, m incoming)) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		m, _ := parseMessage(body)
		serve(w, r, m)
	}))
	t.Cleanup(s.Close)
	return s
}

func connectHTTP(t *testing.T, d Dialer, o Options) *Client {
	t.Helper()
	c, err := Connect(t.Context(), d, o)
	if err != nil {
		t.Fatalf("Connect: %v", err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// A refusal says what it means, and never repeats what the client is known by.
func TestHTTPRefusals(t *testing.T) {
	const token = "tok-1234567890"
	tests := []struct {
		name   string
		status int
		header map[string]string
		body   string
		asked  int // how many requests are made before giving up
		want   string
	}{
		{"credentials", 401, nil, "bad token " + token, 1, "the server asks for credentials, and has accepted none (HTTP 401): bad token [hidden]"},
		{"credentials, with an error object", 401, map[string]string{"Content-Type": "application/json"}, `{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no ` + token + `"}}`, 1, "accepted none (HTTP 401): no [hidden]"},
		{"forbidden", 403, nil, "", 1, "the server forbids this client or these credentials (HTTP 403)"},
		{"not found", 404, map[string]string{"Content-Type": "text/html"}, "<html>404</html>", 2, "there is no MCP server at this address (HTTP 404)"},
		{"POST not allowed", 405, nil, "", 2, "it may be of the older HTTP+SSE transport, which is not supported (HTTP 405)"},
		{"too many", 429, map[string]string{"Retry-After": "17"}, "", 1, "the server asks for fewer requests; retry after 17 (HTTP 429)"},
		{"broken", 502, nil, "upstream", 1, "the server failed (HTTP 502): upstream"},
		{"moved", 307, map[string]string{"Location": "/other?key=" + token}, "", 1, "the server has moved; give the new address (HTTP 307): http://HOST/other"},
		{"a page", 200, map[string]string{"Content-Type": "text/html"}, "<html>", 2, "the server answers with text/html instead of JSON or an event stream"},
		{"nothing", 202, nil, "", 2, "the server ended the exchange without an answer (HTTP 202)"},
		{"no JSON", 200, map[string]string{"Content-Type": "application/json"}, token, 2, "the server's answer is not valid JSON: [hidden]"},
		{"a stream without an answer", 200, map[string]string{"Content-Type": "text/event-stream"}, ": hello\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n", 2, "without an answer (HTTP 200)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked := 0
			s := web(t, func(w http.ResponseWriter, _ *http.Request, _ incoming) {
				asked++
				for name, value := range tt.header {
					w.Header().Set(name, value)
				}
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			})
			address := strings.Replace(s.URL, "http://", "http://user:"+token+"@", 1) + "/mcp?key=" + token
			_, err := Connect(t.Context(), HTTP(address, http.Header{"Authorization": {"Bearer " + token}, "X-Key": {token}}), Options{})
			if err == nil {
				t.Fatal("no error")
			}
			if strings.Contains(err.Error(), token) {
				t.Errorf("the token is in the error: %v", err)
			}
			if asked != tt.asked {
				t.Errorf("%d requests, want %d", asked, tt.asked)
			}
			u, _ := url.Parse(s.URL)
			if want := strings.ReplaceAll(tt.want, "HOST", u.Host); !strings.HasSuffix(err.Error(), want) {
				t.Errorf("error %q, want it to end in %q", err, want)
			}
		})
	}
}

func TestHTTPUnreachable(t *testing.T) {
	s := web(t, nil)
	s.Close()
	_, err := Connect(t.Context(), HTTP(s.URL+"/mcp?key=a", nil), Options{})
	if !errors.Is(err, ErrGone) || !strings.Contains(err.Error(), "/mcp: ") || strings.Contains(err.Error(), "key=") {
		t.Errorf("error %v, want ErrGone that names the address without its query", err)
	}
	for _, address := range []string{"", "mcp", "ftp://host/mcp", "http://", "http://[::1"} {
		if _, err := Connect(t.Context(), HTTP(address, nil), Options{}); err == nil || !strings.Contains(err.Error(), "https://host/path") {
			t.Errorf("%q: error %v, want one that shows the form of an address", address, err)
		}
	}
}

// The headers of a modern request repeat what is in the body.
func TestHTTPHeaders(t *testing.T) {
	var got []map[string]string
	s := web(t, func(w http.ResponseWriter, r *http.Request, m incoming) {
		seen := map[string]string{}
		for name := range r.Header {
			if strings.HasPrefix(name, "Mcp-") || name == "X-Mine" {
				seen[name] = r.Header.Get(name)
			}
		}
		got = append(got, seen)
		switch m.method {
		case "server/discover":
			replyTo(w, m, discovered)
		case "tools/list":
			replyTo(w, m, `{"tools":[{"name":"naïve","inputSchema":{"properties":{
				"region":{"type":"string","x-mcp-header":"Region"},
				"deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}},
				"on":{"type":"boolean","x-mcp-header":"On"},
				"absent":{"type":"string","x-mcp-header":"Absent"}}}}]}`)
		default:
			replyTo(w, m, `{}`)
		}
	})
	c := connectHTTP(t, HTTP(s.URL, http.Header{"X-Mine": {"1"}}), Options{})
	if _, err := c.ListTools(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CallTool(t.Context(), "naïve", json.RawMessage(`{"region":" eu","deep":{"n":3.0},"on":false,"absent":null}`)); err != nil {
		t.Fatal(err)
	}
	want := []map[string]string{
		{"X-Mine": "1", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "server/discover"},
		{"X-Mine": "1", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"},
		{
			"X-Mine": "1", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call",
			"Mcp-Name": "=?base64?bmHDr3Zl?=", "Mcp-Param-Region": "=?base64?IGV1?=", "Mcp-Param-N": "3", "Mcp-Param-On": "false",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

func TestMirrors(t *testing.T) {
	tests := []struct {
		name, schema string
		want         []mirror
	}{
		{"none", `{"type":"object"}`, nil},
		{"sorted by path", `{"properties":{"b":{"type":"string","x-mcp-header":"B"},"a":{"type":"object","properties":{"c":{"type":"integer","x-mcp-header":"C"}}}}}`, []mirror{{[]string{"a", "c"}, "C"}, {[]string{"b"}, "B"}}},
		{"not below items", `{"properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}}`, nil},
		{"one number voids all", `{"properties":{"a":{"type":"number","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"B"}}}`, nil},
		{"the same name in another case", `{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}`, nil},
		{"no token", `{"properties":{"a":{"type":"string","x-mcp-header":"A b"}}}`, nil},
		{"no string", `{"properties":{"a":{"type":"string","x-mcp-header":1}}}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, mirrorsOf(json.RawMessage(tt.schema)), cmp.AllowUnexported(mirror{})); diff != "" {
				t.Errorf("mirrors (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHeaderValue(t *testing.T) {
	for text, want := range map[string]string{
		"plain text":         "plain text",
		"":                   "=?base64??=",
		" a":                 "=?base64?IGE=?=",
		"a\nb":               "=?base64?YQpi?=",
		"日本":                 "=?base64?5pel5pys?=",
		"=?base64?literal?=": "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=",
	} {
		if got := headerValue(text); got != want {
			t.Errorf("headerValue(%q) = %q, want %q", text, got, want)
		}
	}
}

// A server of the older revisions has a session, which goes along with every
// request and is ended at last.
func TestHTTPSession(t *testing.T) {
	var mu sync.Mutex
	var got []string
	s := web(t, func(w http.ResponseWriter, r *http.Request, m incoming) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, fmt.Sprintf("%s %s session=%s version=%s", r.Method, m.method, r.Header.Get("Mcp-Session-Id"), r.Header.Get("Mcp-Protocol-Version")))
		switch m.method {
		case "server/discover":
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, "Bad Request: no session")
		case "initialize":
			w.Header().Set("Mcp-Session-Id", "s1")
			replyTo(w, m, `{"protocolVersion":"2025-06-18"}`)
		case "tools/list":
			replyTo(w, m, `{"tools":[]}`)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})
	c := connectHTTP(t, HTTP(s.URL, nil), Options{})
	if _, err := c.ListTools(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := (Server{Protocol: "2025-06-18", Transport: "http"}); !cmp.Equal(want, c.Server()) {
		t.Errorf("Server %+v, want %+v", c.Server(), want)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"POST server/discover session= version=2026-07-28",
		"POST initialize session= version=",
		"POST notifications/initialized session=s1 version=2025-06-18",
		"POST tools/list session=s1 version=2025-06-18",
		"DELETE  session=s1 version=2025-06-18",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// An error object in a refusal is the server's answer, not a failure of the way.
func TestHTTPErrorObject(t *testing.T) {
	s := web(t, func(w http.ResponseWriter, _ *http.Request, m incoming) {
		if m.method == "server/discover" {
			replyTo(w, m, discovered)
			return
		}
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"unknown tool"}}`, m.id)
	})
	c := connectHTTP(t, HTTP(s.URL, nil), Options{})
	got, err := c.CallTool(t.Context(), "x", nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := (&RPCError{Code: -32602, Message: "unknown tool"}); !cmp.Equal(want, got.Error) {
		t.Errorf("error %v, want %v", got.Error, want)
	}
}

// The end of the wait ends the exchange.
func TestHTTPTimeout(t *testing.T) {
	ended := make(chan struct{})
	s := web(t, func(w http.ResponseWriter, r *http.Request, m incoming) {
		if m.method == "server/discover" {
			replyTo(w, m, discovered)
			return
		}
		<-r.Context().Done()
		close(ended)
	})
	c := connectHTTP(t, HTTP(s.URL, nil), quick)
	if _, err := c.CallTool(t.Context(), "x", nil); !errors.Is(err, ErrTimeout) {
		t.Errorf("error %v, want ErrTimeout", err)
	}
	<-ended
}

func TestHTTPTooLarge(t *testing.T) {
	for _, kind := range []string{"application/json", "text/event-stream"} {
		t.Run(kind, func(t *testing.T) {
			s := web(t, func(w http.ResponseWriter, _ *http.Request, m incoming) {
				w.Header().Set("Content-Type", kind)
				_, _ = fmt.Fprintf(w, "data: \"%s\"\n\n", strings.Repeat("x", 1000))
			})
			d := &httpDialer{address: s.URL, limits: Limits{Message: 999}}
			c := newClient(mustDial(t, d), Options{}.withDefaults())
			defer func() { _ = c.Close() }()
			if err := c.Ping(t.Context()); !errors.As(err, new(*TooLargeError)) {
				t.Errorf("error %v, want a TooLargeError", err)
			}
		})
	}
}

func mustDial(t *testing.T, d Dialer) Transport {
	t.Helper()
	transport, err := d.Dial(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return transport
}

func TestEvents(t *testing.T) {
	tests := []struct {
		name, stream string
		want         []string
		err          error
	}{
		{"nothing", "", nil, io.EOF},
		{"one", "event: message\nid: 1\ndata: {}\n\n", []string{"{}"}, io.EOF},
		{"no space, CRLF, comments, several lines", ": hi\r\ndata:a\r\ndata:  b\r\n\r\nretry: 3\n\ndata\n\n", []string{"a\n b", ""}, io.EOF},
		{"not finished", "data: a\n\ndata: b\n", []string{"a"}, io.EOF},
		{"too long", "data: 123456789\n\n", nil, &TooLargeError{Limit: 8}},
		{"too long in parts", "data: 12345\ndata: 6789\n\n", nil, &TooLargeError{Limit: 8}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newEvents(strings.NewReader(tt.stream), 8)
			var got []string
			var err error
			for {
				var data []byte
				if data, err = e.next(); err != nil {
					break
				}
				got = append(got, string(data))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if err.Error() != tt.err.Error() {
				t.Errorf("error %v, want %v", err, tt.err)
			}
		})
	}
}
