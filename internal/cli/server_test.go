package cli_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A server of the official SDK over Streamable HTTP, in both eras.
func TestLintOverHTTP(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "test"}, nil)
	server.AddTool(&mcp.Tool{
		Name: "send_mail", InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
	}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil })
	for _, stateless := range []bool{false, true} {
		handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: stateless})
		web := httptest.NewServer(handler)
		code, stdout, stderr := run(t.Context(), nil, "lint", "--fail-on", "warn", web.URL)
		web.Close()
		if code != 1 || stderr != "" || !strings.Contains(stdout, `/tools/0/annotations/readOnlyHint: warn AXC-D009: "send_mail"`) {
			t.Errorf("stateless %v: code %d, stdout %q, stderr %q", stateless, code, stdout, stderr)
		}
	}
}

func TestLintOfRefusingServer(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer web.Close()
	code, stdout, stderr := run(t.Context(), nil, "lint", web.URL+"/mcp?token=s3cret")
	if code != 3 || stdout != "" || !strings.Contains(stderr, "connecting to "+web.URL+"/mcp: ") || !strings.Contains(stderr, "HTTP 401") {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	if strings.Contains(stderr, "s3cret") {
		t.Errorf("the query is shown: %q", stderr)
	}
	web.Close()
	code, _, stderr = run(t.Context(), nil, "lint", web.URL)
	if code != 3 || !strings.Contains(stderr, "hint: check the address, and that the server is running") {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
}
