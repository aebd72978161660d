package sandbox

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ax-check/ax-check/internal/sandbox/overlay"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == probeName {
		probe(os.Args[2:])
	}
	if len(os.Args) > 1 && os.Args[1] == holderName {
		hold(os.Args[2:])
	}
	os.Exit(m.Run())
}

// start makes a world, or skips with the reason that this machine gives.
func start(t testing.TB, spec Spec) *World {
	t.Helper()
	w, err := Start(context.Background(), spec)
	if err != nil {
		if s := Check(context.Background()); !s.OK {
			t.Skipf("no isolation on this machine: %s", s.Problem)
		}
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// launch starts the probe (see probe_linux_test.go) in a world.
func launch(t testing.TB, w *World, act string, args ...string) *Process {
	t.Helper()
	p, err := w.Run(probeCommand(t, act, args...))
	if err != nil {
		t.Fatalf("%s: %v", act, err)
	}
	t.Cleanup(func() { _ = p.Stdin.Close(); _ = p.Stdout.Close() })
	return p
}

func probeCommand(t testing.TB, act string, args ...string) Command {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Command{
		Argv: append([]string{self, probeName, act}, args...), Dir: Workspace, Recorded: true,
		Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + Home},
	}
}

// try lets the probe do one act in a world, and returns how it ended: "ok", the
// name of an error, or what was read.
func try(t testing.TB, w *World, act string, args ...string) string {
	t.Helper()
	return finish(t, launch(t, w, act, args...))
}

// tryUnrecorded is try for a program that is not recorded, as set-up commands are.
func tryUnrecorded(t testing.TB, w *World, act string, args ...string) string {
	t.Helper()
	c := probeCommand(t, act, args...)
	c.Recorded = false
	p, err := w.Run(c)
	if err != nil {
		t.Fatalf("%s: %v", act, err)
	}
	t.Cleanup(func() { _ = p.Stdin.Close(); _ = p.Stdout.Close() })
	return finish(t, p)
}

func finish(t testing.TB, p *Process) string {
	t.Helper()
	out := make(chan string, 1)
	go func() {
		text, err := io.ReadAll(p.Stdout)
		if err != nil {
			text = append(text, err.Error()...)
		}
		out <- string(text)
	}()
	select {
	case text := <-out:
		waitFor(t, "the program to end", p.Done)
		return strings.TrimSpace(text + p.StderrTail())
	case <-time.After(20 * time.Second):
		t.Fatalf("the program hangs; it printed: %s", p.StderrTail())
		return ""
	}
}

func waitFor(t testing.TB, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("waited in vain for %s", what)
	}
}

// eventually waits for a condition of the machine that nothing signals.
func eventually(t testing.TB, what string, limit time.Duration, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", limit, what)
		}
	}
}

// inLayer reads a file from the layer that holds what was written to a path.
func inLayer(t testing.TB, w *World, path string) (text string, found bool) {
	t.Helper()
	layer := layerOf(w, path)
	fd, err := unix.Openat(int(layer.Upper.Fd()), below(layer, path), unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", false
	}
	f := os.NewFile(uintptr(fd), path)
	defer func() { _ = f.Close() }()
	content, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(content), true
}

func layerOf(w *World, path string) Layer {
	var best Layer
	for _, l := range w.Layers() {
		if overlay.Under(path, l.Mount) && len(l.Mount) >= len(best.Mount) {
			best = l
		}
	}
	return best
}

func below(l Layer, path string) string {
	return strings.TrimPrefix(path, strings.TrimSuffix(l.Mount, "/")+"/")
}

func TestRunReportsTheEnd(t *testing.T) {
	w := start(t, Spec{})
	for _, c := range []struct {
		name   string
		act    []string
		status int
		stderr string
	}{
		{"an exit status", []string{"exit", "7"}, 7, ""},
		{"a signal", []string{"kill-self", "9"}, 137, ""},
		{"the last words", []string{"complain", "no such account"}, 3, "no such account"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := launch(t, w, c.act[0], c.act[1:]...)
			waitFor(t, "the program to end", p.Done)
			if p.Status() != c.status {
				t.Errorf("status %d, want %d", p.Status(), c.status)
			}
			eventually(t, "stderr arrives", time.Second, func() bool { return strings.TrimSpace(p.StderrTail()) == c.stderr })
		})
	}
}

// Signals end a program as they do on the machine, whatever this process and
// the first process of the world ignore.
func TestSignalsHaveTheirDefaultAction(t *testing.T) {
	signal.Ignore(unix.SIGHUP)
	t.Cleanup(func() { signal.Reset(unix.SIGHUP) })
	w := start(t, Spec{})
	for _, s := range []syscall.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGTERM, unix.SIGUSR1, unix.SIGPIPE, unix.SIGALRM, unix.SIGXCPU, syscall.Signal(40)} {
		p, err := w.Run(Command{Argv: []string{"/bin/sh", "-c", fmt.Sprintf("kill -%d $$; echo survived", s)}, Dir: "/"})
		if err != nil {
			t.Fatal(err)
		}
		if got := finish(t, p); got != "" || p.Status() != 128+int(s) {
			t.Errorf("%s: status %d, want %d; printed %q", s, p.Status(), 128+int(s), got)
		}
		_, _ = p.Stdin.Close(), p.Stdout.Close()
	}
}

func TestRunSaysWhyNot(t *testing.T) {
	w := start(t, Spec{})
	for _, c := range []struct {
		name    string
		command Command
		want    string
	}{
		{"no such program", Command{Argv: []string{"no-such-program"}, Dir: "/", Env: []string{"PATH=/bin"}}, "no-such-program: command not found"},
		{"no such path", Command{Argv: []string{"/no/such/program"}, Dir: "/"}, "no such file"},
		{"no such folder", Command{Argv: []string{"/bin/sh"}, Dir: "/no/such/folder"}, "working folder /no/such/folder"},
		{"not a program", Command{Argv: []string{"/etc/passwd"}, Dir: "/", Recorded: true}, "permission denied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := w.Run(c.command)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one that contains %q", err, c.want)
			}
		})
	}
	if got := try(t, w, "exit", "0"); got != "" {
		t.Errorf("a program after the failures printed %q", got)
	}
}
