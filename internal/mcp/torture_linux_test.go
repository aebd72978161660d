package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ax-check/ax-check/internal/mcp"
	"github.com/ax-check/ax-check/internal/process"
)

// scratch is for what is built once for all tests.
var scratch string

// TestMain lets this binary guard the servers that the tests start.
func TestMain(m *testing.M) {
	process.MaybeGuard()
	var err error
	// Under the race detector each guard would stay for another second.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	if scratch, err = os.MkdirTemp("", "mcp-test"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(scratch) // the tests have said what they had to
	os.Exit(code)
}

// torture builds the server that misbehaves.
var torture = sync.OnceValues(func() (path string, err error) {
	path = filepath.Join(scratch, "torture")
	out, err := exec.Command("go", "build", "-o", path, "../../test/servers/torture").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return path, err
})

// tortureDialer starts the server in one mode, in a folder of its own.
type tortureDialer struct {
	mode   string
	dir    string
	limits mcp.Limits

	mu      sync.Mutex
	started []*process.Process
}

func newTorture(t *testing.T, mode string) *tortureDialer {
	return &tortureDialer{mode: mode, dir: t.TempDir()}
}

func (d *tortureDialer) Dial(context.Context) (mcp.Transport, error) {
	path, err := torture()
	if err != nil {
		return nil, err
	}
	p, err := process.Start(context.Background(), []string{path, d.mode}, d.dir, nil)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.started = append(d.started, p)
	return mcp.WithProcess(mcp.NewStdio(p.Stdin, p.Stdout, d.limits), p), nil
}

// outcome is what a checker gets to see of a server. The errors are one word, or
// "" for none.
type outcome struct {
	Connect  string
	Protocol string
	List     string
	Tools    int
	Pages    int
	Call     string
	Text     string
	IsError  bool
	Rounds   int
	Ping     string
	Faults   []mcp.FaultCode
	Starts   int
}

func kind(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, mcp.ErrTimeout):
		return "timeout"
	case errors.Is(err, mcp.ErrGone):
		return "gone"
	case errors.Is(err, mcp.ErrProtocol):
		return "protocol"
	case errors.As(err, new(*mcp.InputRequiredError)):
		return "input"
	}
	return err.Error()
}

// meet does with a server all that a checker does, and ends it.
func meet(t *testing.T, d *tortureDialer, o mcp.Options) (got outcome, errs []string) {
	t.Helper()
	defer func() { got.Starts = len(d.started) }()
	said := func(err error) string {
		if err != nil {
			errs = append(errs, err.Error())
		}
		return kind(err)
	}
	c, err := mcp.Connect(t.Context(), d, o)
	if err != nil {
		got.Connect = said(err)
		return got, errs
	}
	got.Protocol = c.Server().Protocol
	list, err := c.ListTools(t.Context())
	got.List, got.Tools, got.Pages = said(err), len(list.Tools), list.Pages
	result, err := c.CallTool(t.Context(), "append_note", json.RawMessage(`{"line":"milk"}`))
	got.Call, got.Text, got.IsError, got.Rounds = said(err), result.Text, result.IsError, result.Rounds
	got.Ping = said(c.Ping(t.Context()))
	for _, fault := range c.Faults() {
		got.Faults = append(got.Faults, fault.Code)
	}
	if err := c.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	return got, errs
}

func TestTorture(t *testing.T) {
	const legacy, modern = "2025-11-25", "2026-07-28"
	patient := mcp.Options{}
	hasty := mcp.Options{RequestTimeout: time.Second, ProbeTimeout: 300 * time.Millisecond, StartTimeout: 3 * time.Second}
	agree := mcp.Options{Elicitation: true, Answer: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`{"action":"accept","content":{"sure":true}}`), nil
	}}
	good := outcome{Protocol: legacy, Tools: 2, Pages: 1, Text: "appended", Rounds: 1, Starts: 1}
	but := func(change func(*outcome)) outcome {
		o := good
		change(&o)
		return o
	}
	faulty := func(code mcp.FaultCode) outcome { return but(func(o *outcome) { o.Faults = []mcp.FaultCode{code} }) }
	stateless := but(func(o *outcome) { o.Protocol = modern })
	tests := []struct {
		mode    string
		options mcp.Options
		want    outcome
		says    string // a part of the first error
	}{
		{"ok", patient, good, ""},
		{"ok-modern", patient, stateless, ""},
		{"noise", patient, faulty(mcp.StdoutNoise), ""},
		{"hang-start", hasty, outcome{Connect: "timeout", Starts: 1}, "did not answer"},
		{"hang-list", hasty, but(func(o *outcome) { o.List, o.Tools, o.Pages = "timeout", 0, 0 }), "did not answer tools/list within 1s"},
		{"hang-call", hasty, but(func(o *outcome) { o.Call, o.Text = "timeout", "" }), "did not answer tools/call within 1s"},
		{"hang-discover", hasty, good, ""},
		{"die-start", patient, outcome{Connect: "gone", Starts: 2}, "exit status 1, and printed to stderr:\ncannot open the database"},
		{"die-discover", patient, but(func(o *outcome) { o.Starts = 2 }), ""},
		{"die-list", patient, but(func(o *outcome) {
			o.List, o.Tools, o.Pages, o.Call, o.Text, o.Ping = "gone", 0, 0, "gone", "", "gone"
		}), "exit status 3, and printed to stderr:\npanic: out of notes"},
		{"die-call", patient, but(func(o *outcome) { o.Call, o.Text, o.Ping = "gone", "", "gone" }), "panic: out of notes"},
		{"exit0", patient, outcome{Connect: "gone", Starts: 2}, "exit status 0, and printed nothing to stderr"},
		{"key-missing", patient, outcome{Connect: "gone", Starts: 2}, "API_KEY is not set"},
		{"string-tool", patient, but(func(o *outcome) { o.Tools = 3 }), ""},
		{"wrong-types", patient, but(func(o *outcome) { o.Tools = 5 }), ""},
		{"no-tools", patient, but(func(o *outcome) { o.List, o.Tools, o.Pages = "protocol", 0, 0 }), `no array "tools"`},
		{"stderr-flood", patient, good, ""},
		{"notification-flood", patient, good, ""},
		{"ignore-eof", patient, good, ""},
		{"grandchild", patient, good, ""},
		{"giant-line", patient, but(func(o *outcome) { o.Tools = 1 }), ""},
		{"bad-utf8", patient, but(func(o *outcome) { o.Text = "app\uFFFDended" }), ""},
		{"split-reply", hasty, but(func(o *outcome) {
			o.List, o.Tools, o.Pages, o.Faults = "timeout", 0, 0, []mcp.FaultCode{mcp.BadJSON}
		}), "did not answer tools/list"},
		{"cut-reply", hasty, but(func(o *outcome) {
			o.List, o.Tools, o.Pages, o.Faults = "timeout", 0, 0, []mcp.FaultCode{mcp.BadJSON}
		}), "did not answer tools/list"},
		{"string-id", patient, faulty(mcp.IDType), ""},
		{"dup-reply", patient, good, ""},
		{"cursor-loop", patient, but(func(o *outcome) { o.Pages, o.Faults = 2, []mcp.FaultCode{mcp.CursorRepeats} }), ""},
		{"cursor-empty", patient, but(func(o *outcome) { o.Pages = 2 }), ""},
		{"slow-drip", patient, good, ""},
		{"elicit", patient, but(func(o *outcome) {
			o.IsError = true
			o.Text = `the user did not agree: {"code":-32601,"message":"this client has not declared a capability for elicitation/create"}`
		}), ""},
		{"elicit", agree, good, ""},
		{"elicit-modern", patient, but(func(o *outcome) { o.Protocol, o.Call, o.Text = modern, "input", "" }), "asks for input (elicitation/create)"},
		{"elicit-modern", agree, but(func(o *outcome) { o.Protocol, o.Rounds = modern, 2 }), ""},
		{"elicit-forever", agree, but(func(o *outcome) { o.Protocol, o.Call, o.Text, o.Rounds = modern, "input", "", 10 }), "still does after 10 rounds"},
	}
	t.Run("modes", func(t *testing.T) {
		for _, test := range tests {
			t.Run(test.mode, func(t *testing.T) {
				t.Parallel()
				got, errs := meet(t, newTorture(t, test.mode), test.options)
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("outcome (-want +got):\n%s\nerrors: %q", diff, errs)
				}
				if test.says != "" && (len(errs) == 0 || !strings.Contains(errs[0], test.says)) {
					t.Errorf("errors %q, want %q in the first", errs, test.says)
				}
			})
		}
	})
	if left := running(t); left != nil {
		t.Errorf("still running: %v", left)
	}
}

// running lists the processes of the server that there are, of all modes.
func running(t *testing.T) (found []string) {
	t.Helper()
	path, err := torture()
	if err != nil {
		t.Fatal(err)
	}
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if exe, err := os.Readlink(link); err == nil && exe == path {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline")) // for the message only
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// TestExactBytes holds that neither an 8 MiB message nor broken text is touched.
func TestExactBytes(t *testing.T) {
	tests := []struct{ mode, want string }{
		{"giant-line", strings.Repeat("Read all notes. ", 8<<20/16)},
		{"bad-utf8", "Read all notes \xff\xfe."},
		{"wrong-types", `"annotations":{"readOnlyHint":"true"}`},
	}
	for _, test := range tests {
		t.Run(test.mode, func(t *testing.T) {
			c, err := mcp.Connect(t.Context(), newTorture(t, test.mode), mcp.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			list, err := c.ListTools(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(list.Tools[0]), test.want) {
				t.Errorf("%.300q has no %.100q", list.Tools[0], test.want)
			}
		})
	}
}

// TestTooLargeForTheLimit holds that one message too many is not the end.
func TestTooLargeForTheLimit(t *testing.T) {
	d := newTorture(t, "giant-line")
	d.limits.Message = 1 << 20
	got, errs := meet(t, d, mcp.Options{})
	want := outcome{Protocol: "2025-11-25", List: "protocol", Text: "appended", Rounds: 1, Starts: 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outcome (-want +got):\n%s\nerrors: %q", diff, errs)
	}
}

// TestStubbornServer holds that Close ends a server that does not want to.
func TestStubbornServer(t *testing.T) {
	d := newTorture(t, "ignore-eof")
	if got, errs := meet(t, d, mcp.Options{}); got.Connect != "" {
		t.Fatal(errs)
	}
	if status := d.started[0].Status(); status != 128+int(syscall.SIGKILL) {
		t.Errorf("it ended by itself, with status %d", status)
	}
}

// TestTheGrandchildGoesToo holds that Close ends what got away from the server.
func TestTheGrandchildGoesToo(t *testing.T) {
	d := newTorture(t, "grandchild")
	c, err := mcp.Connect(t.Context(), d, mcp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pid := 0
	for deadline := time.Now().Add(5 * time.Second); pid == 0; time.Sleep(time.Millisecond) {
		_, err := fmt.Sscanf(d.started[0].StderrTail(), "grandchild %d\n", &pid)
		if err != nil && time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	if len(running(t)) != 2 || syscall.Kill(pid, 0) != nil {
		t.Errorf("there is no grandchild %d in %v", pid, running(t))
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the grandchild %d is still there: %v", pid, err)
	}
}
