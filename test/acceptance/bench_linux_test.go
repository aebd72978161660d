package acceptance

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ax-check/ax-check/internal/mcp"
	"github.com/ax-check/ax-check/internal/sandbox"
)

// manyTools is a list as large servers have it: about 700 bytes a tool, with
// hints of every kind.
func manyTools(count int) string {
	hints := []string{"", `, "annotations": {}`, `, "annotations": {"readOnlyHint": true}`, `, "annotations": {"readOnlyHint": false, "destructiveHint": "no"}`}
	verbs := []string{"get", "list", "create", "delete", "send", "run"}
	properties := make([]string, 5)
	for i := range properties {
		properties[i] = fmt.Sprintf(`"field_%d": {"type": "string", "description": "What the field is for, in one sentence of usual length."}`, i)
	}
	tools := make([]string, count)
	for i := range tools {
		tools[i] = fmt.Sprintf(`{"name": "%s_thing_%d", "description": "Does something with a thing. It is described in two sentences, as most are.", "inputSchema": {"type": "object", "properties": {%s}}%s}`,
			verbs[i%len(verbs)], i, strings.Join(properties, ", "), hints[i%len(hints)])
	}
	return `{"tools": [` + strings.Join(tools, ",\n") + "]}\n"
}

// BenchmarkLint is the whole process, from its start to its end.
func BenchmarkLint(b *testing.B) {
	for _, count := range []int{1, 1000, 4000} {
		b.Run(fmt.Sprintf("%d tools", count), func(b *testing.B) {
			s := newScene(b)
			text := manyTools(count)
			s.write(b, "here/tools.json", text)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				c := exec.Command(s.program, "lint", "tools.json")
				c.Dir, c.Env = s.path("here"), s.env
				if out, _ := c.Output(); len(out) == 0 { // it has findings, and so fails
					b.Fatal("lint said nothing")
				}
			}
		})
	}
}

// BenchmarkServer compares a server of its own with one in a world: until its
// list is there, and for one call.
func BenchmarkServer(b *testing.B) {
	needsWorlds(b)
	program := built(b, "torture")
	for _, place := range []struct {
		name  string
		start func(b *testing.B, program string) *served
	}{{"bare", startBare}, {"world", startInWorld}} {
		b.Run("start "+place.name, func(b *testing.B) {
			for b.Loop() {
				place.start(b, program).end()
			}
		})
		b.Run("call "+place.name, func(b *testing.B) {
			s := place.start(b, program)
			defer s.end()
			for b.Loop() {
				s.call(b)
			}
		})
	}
	b.Run("call world until at rest", func(b *testing.B) {
		s := startInWorld(b, program)
		defer s.end()
		for b.Loop() {
			s.call(b)
			if settled := s.world.Settle(b.Context(), sandbox.SettleOptions{Max: 5 * time.Second, Horizon: time.Second}); !settled.OK {
				b.Fatal(settled.Why)
			}
		}
	})
}

// served is a server that has given its list.
type served struct {
	client *mcp.Client
	world  *sandbox.World // nil of a bare one
	end    func()
}

// pipes dials what is at the other end of two pipes.
type pipes struct {
	in  io.WriteCloser
	out io.ReadCloser
}

func (p pipes) Dial(context.Context) (mcp.Transport, error) {
	return mcp.NewStdio(p.in, p.out, mcp.Limits{}), nil
}

func meet(b *testing.B, p pipes) *mcp.Client {
	b.Helper()
	client, err := mcp.Connect(b.Context(), p, mcp.Options{})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := client.ListTools(b.Context()); err != nil {
		b.Fatal(err)
	}
	return client
}

func startBare(b *testing.B, program string) *served {
	b.Helper()
	c := exec.Command(program, "ok")
	c.Dir = b.TempDir()
	in, err := c.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	client := meet(b, pipes{in, out})
	return &served{client: client, end: func() { _ = client.Close(); _ = c.Wait() }}
}

func startInWorld(b *testing.B, program string) *served {
	b.Helper()
	world, err := sandbox.Start(b.Context(), sandbox.Spec{})
	if err != nil {
		b.Fatal(err)
	}
	p, err := world.Run(sandbox.Command{Argv: []string{program, "ok"}, Dir: sandbox.Workspace, Recorded: true})
	if err != nil {
		b.Fatal(err)
	}
	client := meet(b, pipes{p.Stdin, p.Stdout})
	return &served{client: client, world: world, end: func() { world.Close(); _ = client.Close() }}
}

func (s *served) call(b *testing.B) {
	b.Helper()
	result, err := s.client.CallTool(b.Context(), "read_note", json.RawMessage("{}"))
	if err != nil || result.IsError {
		b.Fatal(result.Text, err)
	}
}
