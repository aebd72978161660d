package docs

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the documents anew with the output of their examples")

// repository is the root of the checkout.
const repository = "../.."

// sessionTimeout bounds one block; a first run of a package from npm takes longest.
const sessionTimeout = 3 * time.Minute

func TestExamples(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the examples are written for sh, which is not here")
	}
	program := t.TempDir()
	build := exec.Command("go", "build", "-o", program, "./cmd/ax-check")
	build.Dir = repository
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the program: %v\n%s", err, output)
	}
	m := &machine{path: program + string(os.PathListSeparator) + os.Getenv("PATH")}
	m.world = sync.OnceValue(m.withoutWorld)
	for _, name := range pageNames(t) {
		t.Run(name, func(t *testing.T) { m.checkPage(t, name) })
	}
}

// pageNames lists the documents that hold examples.
func pageNames(t *testing.T) []string {
	t.Helper()
	guides, err := filepath.Glob(repository + "/docs/guide/*.md")
	if err != nil || len(guides) == 0 {
		t.Fatalf("no guides found: %v", err)
	}
	names := []string{"README.md"}
	for _, g := range guides {
		names = append(names, "docs/guide/"+filepath.Base(g))
	}
	return names
}

func readPage(t *testing.T, name string) page {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, name))
	if err != nil {
		t.Fatal(err)
	}
	return newPage(name, string(text))
}

// machine is where the examples run.
type machine struct {
	path  string
	world func() string // why no sandbox can be made; "" when one can
}

// edit is lines of a page that are to be others.
type edit struct {
	lines span
	text  string
}

// checkPage runs the blocks of a page in order, in one folder.
func (m *machine) checkPage(t *testing.T, name string) {
	p := readPage(t, name)
	blocks, err := p.blocks()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var edits []edit
	for _, b := range blocks {
		for _, file := range b.values("file") {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(p.shown(b.body)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if b.kind == "console" {
			t.Run(fmt.Sprintf("line %d", b.body.from), func(t *testing.T) {
				edits = append(edits, m.checkBlock(t, dir, p, b)...)
			})
		}
	}
	if !*update || len(edits) == 0 {
		return
	}
	for _, e := range slices.Backward(edits) { // what stands before stays in place
		p.replace(e.lines, e.text)
	}
	if err := os.WriteFile(filepath.Join(repository, name), []byte(p.text()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// checkBlock returns what has to change in the page.
func (m *machine) checkBlock(t *testing.T, dir string, p page, b block) (edits []edit) {
	for _, need := range b.values("needs") {
		if reason := m.lacks(t, need); reason != "" {
			t.Skip(reason)
		}
	}
	steps := p.steps(b)
	if len(steps) == 0 {
		t.Fatalf("%s:%d: the example has no command", p.name, b.body.from)
	}
	for i, output := range m.session(t, dir, steps) {
		s := steps[i]
		diff := cmp.Diff(settled(p.shown(s.output)), settled(output))
		if diff == "" {
			continue
		}
		edits = append(edits, edit{s.output, output})
		if !*update {
			t.Errorf("%s:%d: %s\nprints something else (-page +program):\n%s", p.name, s.output.from, s.command, diff)
		}
	}
	return edits
}

// endOfStep stands after each step's output; the shell that reads the steps
// keeps $? for the next one.
const endOfStep = "end of step\n"

// session runs the steps in one shell and returns the output of each.
func (m *machine) session(t *testing.T, dir string, steps []step) []string {
	t.Helper()
	var script strings.Builder
	for _, s := range steps {
		fmt.Fprintf(&script, "%s\n(status=$?; printf '%s'; exit $status)\n", s.command, endOfStep)
	}
	ctx, cancel := context.WithTimeout(t.Context(), sessionTimeout)
	defer cancel()
	shell := exec.CommandContext(ctx, "sh", "-c", script.String())
	shell.Dir = dir
	shell.Env = append(os.Environ(), "PATH="+m.path)
	shell.WaitDelay = time.Second
	output, err := shell.CombinedOutput()
	outputs := strings.SplitAfter(string(output), endOfStep)
	if len(outputs) != len(steps)+1 {
		t.Fatalf("the steps did not run to their end: %v\n%s", err, output)
	}
	outputs = outputs[:len(steps)]
	for i := range outputs {
		outputs[i] = strings.TrimSuffix(outputs[i], endOfStep)
	}
	return outputs
}

// lacks says why this machine can't run an example with a need, "" when it can.
func (m *machine) lacks(t *testing.T, need string) string {
	t.Helper()
	if spec, ok := strings.CutPrefix(need, "npm:"); ok {
		return withoutPackage(t.Context(), spec)
	}
	if need != "world" {
		t.Fatalf("unknown need %q", need)
	}
	return m.world()
}

// withoutWorld asks the program itself whether it can make a sandbox.
func (m *machine) withoutWorld() string {
	doctor := exec.Command("sh", "-c", "ax-check doctor")
	doctor.Env = append(os.Environ(), "PATH="+m.path)
	if output, err := doctor.CombinedOutput(); err != nil {
		return "no sandbox on this machine: " + string(output)
	}
	return ""
}

// withoutPackage asks npm, which needs the network for that.
func withoutPackage(ctx context.Context, spec string) string {
	if _, err := exec.LookPath("npx"); err != nil {
		return "npx is not installed"
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if output, err := exec.CommandContext(ctx, "npm", "view", spec, "version").CombinedOutput(); err != nil {
		return fmt.Sprintf("npm can't find %s from here: %v\n%s", spec, err, output)
	}
	return ""
}
