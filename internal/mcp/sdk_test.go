package mcp

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// sdkServer is a server made with the official SDK: an honest tool, one that
// fails, and one that asks for input.
func sdkServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "official", Version: "3"}, &sdk.ServerOptions{Instructions: "Add."})
	type sum struct {
		Total int `json:"total"`
	}
	type pair struct {
		A int `json:"a"`
		B int `json:"b"`
	}
	no := false
	sdk.AddTool(s, &sdk.Tool{Name: "add", Description: "Adds <two> numbers.", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &no}},
		func(_ context.Context, _ *sdk.CallToolRequest, in pair) (*sdk.CallToolResult, sum, error) {
			return nil, sum{in.A + in.B}, nil
		})
	sdk.AddTool(s, &sdk.Tool{Name: "fail", Description: "Fails."},
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			return nil, nil, io.ErrUnexpectedEOF
		})
	sdk.AddTool(s, &sdk.Tool{Name: "ask", Description: "Asks."},
		func(_ context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
			answer, ok := r.Params.InputResponses["who"].(*sdk.ElicitResult)
			if !ok {
				return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"who": &sdk.ElicitParams{Message: "Who?"}}, RequestState: "half"}, nil, nil
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: answer.Action + " " + r.Params.RequestState}}}, nil, nil
		})
	return s
}

// pipes reaches the SDK's server over streams as those of a process.
func pipes(t *testing.T) Dialer {
	return dialerFunc(func(context.Context) (Transport, error) {
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		session, err := sdkServer().Connect(context.Background(), &sdk.IOTransport{Reader: inR, Writer: outW}, nil)
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { _ = session.Close() })
		return NewStdio(inW, outR, Limits{}), nil
	})
}

func sdkHTTP(t *testing.T, o *sdk.StreamableHTTPOptions) Dialer {
	server := sdkServer()
	s := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, o))
	t.Cleanup(s.Close)
	return HTTP(s.URL, nil)
}

// The official server and this client understand each other, over both transports
// and in both eras, and the list is the one that the official client sees.
func TestOfficialServer(t *testing.T) {
	legacy := &Server{Protocol: legacyRevision}
	tests := []struct {
		name     string
		dialer   func(*testing.T) Dialer
		known    *Server
		protocol string
		rounds   int // of the call that asks for input
	}{
		{"stdio, modern", pipes, nil, "2026-07-28", 2},
		{"stdio, legacy", pipes, legacy, "2025-11-25", 1},
		{"stdio, oldest", pipes, &Server{Protocol: "2024-11-05"}, "2024-11-05", 1},
		{"http, modern", func(t *testing.T) Dialer { return sdkHTTP(t, &sdk.StreamableHTTPOptions{Stateless: true}) }, nil, "2026-07-28", 2},
		{"http, modern, JSON replies", func(t *testing.T) Dialer {
			return sdkHTTP(t, &sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
		}, nil, "2026-07-28", 2},
		{"http, sessions", func(t *testing.T) Dialer { return sdkHTTP(t, nil) }, nil, "2025-11-25", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := connectHTTP(t, tt.dialer(t), Options{Known: tt.known, Elicitation: true, Answer: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
				return json.RawMessage(`{"action":"decline"}`), nil
			}})
			got := c.Server()
			if got.Protocol != tt.protocol || got.Modern != (tt.protocol == modernRevision) {
				t.Errorf("protocol %s, modern %t; want %s", got.Protocol, got.Modern, tt.protocol)
			}
			if got.Name != "official" || got.Version != "3" || got.Instructions != "Add." {
				t.Errorf("server %+v, want what it says of itself", got)
			}
			if err := c.Ping(t.Context()); err != nil {
				t.Errorf("Ping: %v", err)
			}
			if diff := cmp.Diff(officialList(t), ourList(t, c)); diff != "" {
				t.Errorf("tools (-official +got):\n%s", diff)
			}
			want := CallResult{Structured: json.RawMessage(`{"total":5}`), Text: `{"total":5}`, Rounds: 1}
			checkCall(t, c, "add", `{"a":2,"b":3}`, want)
			checkCall(t, c, "fail", `{}`, CallResult{IsError: true, Text: "unexpected EOF", Rounds: 1})
			checkCall(t, c, "ask", `{}`, CallResult{Text: "decline half", Rounds: tt.rounds})
			unknown, err := c.CallTool(t.Context(), "nothing", json.RawMessage(`{}`))
			if err != nil || unknown.Error == nil || unknown.Error.Code != -32602 {
				t.Errorf("unknown tool: %+v, error %v; want error -32602", unknown, err)
			}
			if faults := c.Faults(); faults != nil {
				t.Errorf("faults: %v", faults)
			}
		})
	}
}

func checkCall(t *testing.T, c *Client, tool, arguments string, want CallResult) {
	t.Helper()
	got, err := c.CallTool(t.Context(), tool, json.RawMessage(arguments))
	if err != nil {
		t.Errorf("%s: %v", tool, err)
		return
	}
	got.Raw = nil // compared by its parts
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", tool, diff)
	}
}

// officialList is what the SDK's own client sees, as plain values.
func officialList(t *testing.T) []any {
	t.Helper()
	clientSide, serverSide := sdk.NewInMemoryTransports()
	if _, err := sdkServer().Connect(t.Context(), serverSide, nil); err != nil {
		t.Fatal(err)
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(), clientSide, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var tools []any
	for _, tool := range list.Tools {
		raw, err := json.Marshal(tool)
		if err != nil {
			t.Fatal(err)
		}
		tools = append(tools, plain(t, raw))
	}
	return tools
}

func ourList(t *testing.T, c *Client) []any {
	t.Helper()
	list, err := c.ListTools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var tools []any
	for _, raw := range list.Tools {
		tools = append(tools, plain(t, raw))
	}
	return tools
}

func plain(t *testing.T, raw json.RawMessage) (v any) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
