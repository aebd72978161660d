package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestModes holds what each mode says on the wire. What a client makes of it is
// the business of the client's own tests.
func TestModes(t *testing.T) {
	const (
		initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`
		discover   = `{"jsonrpc":"2.0","id":1,"method":"server/discover"}`
		ping       = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
		list       = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
		next       = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":""}}`
		read       = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_note"}}`
		write      = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"append_note","arguments":{"line":"milk"}}}`
		pong       = `{"id":1,"jsonrpc":"2.0","result":{}}`
	)
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	inModern := func(line string) string {
		if strings.Contains(line, `"params":{`) {
			return strings.Replace(line, `"params":{`, `"params":{`+meta+",", 1)
		}
		return strings.TrimSuffix(line, "}") + `,"params":{` + meta + "}}"
	}
	tests := []struct {
		mode string
		in   []string
		// wants are parts of stdout, in this order.
		wants  []string
		status int
	}{
		{"ok", []string{initialize, list}, []string{`"protocolVersion":"2025-11-25"`, "\n", `"name":"read_note"`, `"name":"append_note"`}, 0},
		{"ok", []string{read, write, write, read}, []string{`"text":""`, `"text":"appended"`, `"text":"appended"`, `"text":"milk\nmilk\n"`}, 0},
		{"ok", []string{discover, "no JSON", `{"id":"r","result":{}}`, ping}, []string{`"code":-32601`, "\n" + pong + "\n"}, 0},
		{"ok-modern", []string{list, initialize}, []string{`"code":-32602`, `"code":-32601`}, 0},
		{"ok-modern", []string{inModern(discover), inModern(list), inModern(read)}, []string{`"supportedVersions":["2026-07-28"]`, `"cacheScope":"private"`, `"read_note"`, `"text":""`, `"resultType":"complete"`}, 0},
		{"noise", []string{ping}, []string{"listening on stdio\n", "about to reply\n\n{\"level\"", pong}, 0},
		{"hang-start", []string{initialize, list}, nil, 0},
		{"hang-list", []string{list, ping}, []string{pong}, 0},
		{"hang-call", []string{read, ping}, []string{pong}, 0},
		{"hang-discover", []string{discover, ping}, []string{pong}, 0},
		{"die-start", []string{initialize}, nil, 1},
		{"die-discover", []string{discover, ping}, nil, 1},
		{"die-list", []string{ping, list, ping}, []string{pong}, 3},
		{"die-call", []string{ping, read, ping}, []string{pong}, 3},
		{"exit0", []string{initialize}, nil, 0},
		{"key-missing", []string{initialize}, nil, 1},
		{"string-tool", []string{list}, []string{`"tools":["read_note",{`}, 0},
		{"wrong-types", []string{list}, []string{`"readOnlyHint":"true"`, `"readOnlyHint":1`, `"readOnlyHint":null`, `"readOnlyHint":{}`, `"readOnlyHint":[]`}, 0},
		{"no-tools", []string{list}, []string{`"result":{}`}, 0},
		{"stderr-flood", []string{ping}, []string{pong}, 0},
		{"notification-flood", []string{ping}, []string{"notifications/message", pong}, 0},
		{"giant-line", []string{list}, []string{strings.Repeat("Read all notes. ", 1000)}, 0},
		{"bad-utf8", []string{list, write}, []string{"Read all notes \xff\xfe.", "app\xffended"}, 0},
		{"split-reply", []string{list, ping}, []string{"{\n  \"id\": 1", "\n" + pong + "\n"}, 0},
		{"cut-reply", []string{list, ping}, []string{`{"id":1,`, "\n" + pong + "\n"}, 0},
		{"string-id", []string{ping}, []string{`"id":"1"`}, 0},
		{"dup-reply", []string{ping}, []string{pong + "\n" + pong + "\n"}, 0},
		{"cursor-loop", []string{list}, []string{`"nextCursor":"again"`}, 0},
		{"cursor-empty", []string{list, next}, []string{`"nextCursor":""`, "\n", `"result":{"tools":[{`, `"append_note"`}, 0},
		{"slow-drip", []string{ping}, []string{pong}, 0},
		{"elicit", []string{write, ping, `{"id":"ask-1","result":{"action":"accept","content":{"sure":true}}}`}, []string{`"method":"elicitation/create"`, pong, `"text":"appended"`}, 0},
		{"elicit", []string{write, `{"id":"ask-1","error":{"code":-32601}}`}, []string{`"isError":true`}, 0},
		{"elicit", []string{write}, []string{`"method":"elicitation/create"`}, 0},
		{"elicit-modern", []string{inModern(write)}, []string{`"resultType":"input_required"`}, 0},
		{"elicit-modern", []string{strings.Replace(inModern(write), `"params":{`, `"params":{"requestState":"opaque 1.0","inputResponses":{"sure":{"action":"accept","content":{"sure":true}}},`, 1)}, []string{`"text":"appended"`}, 0},
		{"elicit-forever", []string{inModern(write)}, []string{`"requestState":"again"`}, 0},
		{"no such mode", nil, nil, 2},
	}
	tried := []string{"ignore-eof", "grandchild"} // they make sense only as processes
	for i, test := range tests {
		tried = append(tried, test.mode)
		t.Run(fmt.Sprintf("%s %d", test.mode, i), func(t *testing.T) {
			t.Chdir(t.TempDir())
			var out, log strings.Builder
			status := run([]string{test.mode}, strings.NewReader(strings.Join(test.in, "\n")+"\n"), &out, &log)
			if status != test.status {
				t.Errorf("status %d, want %d", status, test.status)
			}
			rest := out.String()
			if test.wants == nil && rest != "" {
				t.Errorf("it said %q", rest)
			}
			for _, want := range test.wants {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Fatalf("no %q in %.2000q", want, rest)
				}
				rest = after
			}
		})
	}
	for _, m := range modes() {
		if !slices.Contains(tried, m.name) {
			t.Errorf("mode %s is not tested", m.name)
		}
	}
}

// TestNotes holds that the two tools do what they claim.
func TestNotes(t *testing.T) {
	t.Chdir(t.TempDir())
	in := `{"id":1,"method":"tools/call","params":{"name":"append_note","arguments":{"line":"a"}}}` + "\n" +
		`{"id":2,"method":"tools/call","params":{"name":"append_note","arguments":{"line":1}}}` + "\n" +
		`{"id":3,"method":"tools/call","params":{"name":"read_note"}}` + "\n" +
		`{"id":4,"method":"tools/call","params":{"name":"other"}}` + "\n"
	var out, log strings.Builder
	run([]string{"ok"}, strings.NewReader(in), &out, &log)
	want := `{"id":1,"jsonrpc":"2.0","result":{"content":[{"text":"appended","type":"text"}]}}
{"id":2,"jsonrpc":"2.0","result":{"content":[{"text":"line must be a text","type":"text"}],"isError":true}}
{"id":3,"jsonrpc":"2.0","result":{"content":[{"text":"a\n","type":"text"}]}}
{"error":{"code":-32602,"message":"unknown tool other"},"id":4,"jsonrpc":"2.0"}
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	if content, err := os.ReadFile(notes); err != nil || string(content) != "a\n" {
		t.Errorf("notes are %q, %v", content, err)
	}
}
