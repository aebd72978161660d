package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestMain lets this binary be the guard, and the programs that the tests start.
func TestMain(m *testing.M) {
	MaybeGuard()
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "as-echo":
			os.Exit(echo())
		case "as-stubborn":
			stubborn()
		case "as-sleeper":
			time.Sleep(time.Minute)
			os.Exit(0)
		case "as-owner":
			owner()
		}
	}
	// Under the race detector each guard would stay for another second.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	os.Exit(m.Run())
}

// echo repeats its input and ends with it.
func echo() int {
	fmt.Fprintln(os.Stderr, "started with", os.Args[2:], "in", os.Getenv("PWD"))
	_, _ = io.Copy(os.Stdout, os.Stdin)
	fmt.Fprintln(os.Stderr, "API_KEY is not set")
	return 7
}

// stubborn prints its process id and that of a child in a session of its own,
// and then takes no hint to end.
func stubborn() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	child := exec.Command("/proc/self/exe", "as-sleeper")
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(os.Getpid(), child.Process.Pid)
	time.Sleep(time.Minute)
	os.Exit(0)
}

// owner starts a stubborn process and passes its first line on; it is there to
// be killed.
func owner() {
	p, err := Start(context.Background(), []string{"/proc/self/exe", "as-stubborn"}, "", nil)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_, _ = io.Copy(os.Stdout, p.Stdout)
}

func run(t *testing.T, args ...string) *Process {
	t.Helper()
	p, err := Start(t.Context(), append([]string{"/proc/self/exe"}, args...), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
		_ = p.Stdout.Close()
	})
	return p
}

func TestProcess(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Start(t.Context(), []string{self, "as-echo", "-x", "a b"}, dir, []string{"PWD=" + dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(p.Stdin, "one\ntwo"); err != nil {
		t.Fatal(err)
	}
	_ = p.Stdin.Close()
	out, err := io.ReadAll(p.Stdout)
	if err != nil || string(out) != "one\ntwo" {
		t.Errorf("stdout %q, %v", out, err)
	}
	<-p.Done
	if p.Status() != 7 {
		t.Errorf("status %d, want 7", p.Status())
	}
	want := "started with [-x a b] in " + dir + "\nAPI_KEY is not set\n"
	if diff := cmp.Diff(want, p.StderrTail()); diff != "" {
		t.Errorf("stderr: %s", diff)
	}
	if diff := cmp.Diff("it ended with exit status 7, and printed to stderr:\n"+strings.TrimSpace(want), p.LastWords()); diff != "" {
		t.Errorf("last words: %s", diff)
	}
	for _, end := range []func() error{p.Stop, p.Kill, p.Stdin.Close, p.Stdout.Close} {
		if err := end(); err != nil {
			t.Errorf("ending what has ended: %v", err)
		}
	}
}

func TestASignalIsAStatus(t *testing.T) {
	p, err := Start(t.Context(), []string{"sh", "-c", "kill -9 $$"}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done
	if p.Status() != 137 {
		t.Errorf("status %d, want 137", p.Status())
	}
	_, _ = p.Stdin.Close(), p.Stdout.Close()
}

func TestWhatCannotStart(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "garbage"), []byte("\x00no program"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "text"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, command, dir string
		is                 error
		says               string
	}{
		{"not in PATH", "no-such-command-anywhere", "", exec.ErrNotFound, `command "no-such-command-anywhere" not found: executable file not found in $PATH`},
		{"no such file", "./nothing", dir, fs.ErrNotExist, "not looked up in PATH"},
		{"not executable", "./text", dir, fs.ErrPermission, "permission denied"},
		{"no program", "./garbage", dir, nil, "starting ./garbage: exec format error"},
		{"no such folder", "sh", filepath.Join(dir, "gone"), fs.ErrNotExist, "gone"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Start(t.Context(), []string{test.command}, test.dir, nil)
			if err == nil {
				t.Fatal("it started")
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("%v is not %v", err, test.is)
			}
			if !strings.Contains(err.Error(), test.says) {
				t.Errorf("%q does not say %q", err, test.says)
			}
		})
	}
	if _, err := Start(t.Context(), nil, "", nil); err == nil {
		t.Error("nothing could be started")
	}
}

// TestRelativeToTheFolder holds that ./x means the x of the folder to run in.
func TestRelativeToTheFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "here"), []byte("#!/bin/sh\npwd\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, from, dir string }{
		{"the current folder", dir, ""},
		{"another folder", "/", dir},
		{"a relative folder", filepath.Dir(dir), filepath.Base(dir)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Chdir(test.from)
			p, err := Start(t.Context(), []string{"./here"}, test.dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			out, err := io.ReadAll(p.Stdout)
			if err != nil || string(out) != dir+"\n" {
				t.Errorf("got %q, %v, want %q", out, err, dir)
			}
			_, _ = p.Stop(), p.Stdout.Close()
		})
	}
}

// TestNothingIsLeft ends a server that takes no hint, in every way there is.
func TestNothingIsLeft(t *testing.T) {
	ways := []struct {
		name string
		end  func(p *Process, cancel context.CancelFunc) error
		most time.Duration
	}{
		{"stop", func(p *Process, _ context.CancelFunc) error { return p.Stop() }, 10 * time.Second},
		{"kill", func(p *Process, _ context.CancelFunc) error { return p.Kill() }, afterEOF},
		{"context", func(_ *Process, cancel context.CancelFunc) error { cancel(); return nil }, 10 * time.Second},
	}
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			p, err := Start(ctx, []string{"/proc/self/exe", "as-stubborn"}, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Stdout.Close()
			server, child := pids(t, p.Stdout)
			began := time.Now()
			if err := way.end(p, cancel); err != nil {
				t.Fatal(err)
			}
			<-p.Done
			if took := time.Since(began); took > way.most {
				t.Errorf("it took %s", took)
			}
			if running(server) || running(child) {
				t.Errorf("server %d or its child %d is still there", server, child)
			}
			if rest, err := io.ReadAll(p.Stdout); err != nil || len(rest) > 0 {
				t.Errorf("stdout goes on: %q, %v", rest, err)
			}
		})
	}
}

func TestNothingIsLeftWhenTheServerEnds(t *testing.T) {
	p := run(t, "as-stubborn")
	server, child := pids(t, p.Stdout)
	if err := syscall.Kill(server, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-p.Done
	if running(child) {
		t.Errorf("the child %d is still there", child)
	}
}

// TestNothingIsLeftWithoutUs is what the guard is for.
func TestNothingIsLeftWithoutUs(t *testing.T) {
	us := exec.Command("/proc/self/exe", "as-owner")
	out, err := us.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := us.Start(); err != nil {
		t.Fatal(err)
	}
	server, child := pids(t, out)
	if err := us.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = us.Wait() // killed
	for deadline := time.Now().Add(10 * time.Second); running(server) || running(child); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("server %d or its child %d is still there", server, child)
		}
	}
}

// TestTermIsAskedFirst holds that a server may tidy up.
func TestTermIsAskedFirst(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tidy")
	script := `trap 'echo tidy > "$0"; exit 3' TERM; echo ready; while :; do sleep 0.02; done`
	p, err := Start(t.Context(), []string{"sh", "-c", script, file}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stdout.Close()
	if _, err := bufio.NewReader(p.Stdout).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file); err != nil || p.Status() != 3 {
		t.Errorf("it left %q, %v, with status %d", got, err, p.Status())
	}
}

// TestDescriptors holds that the server gets what it would get without a guard.
func TestDescriptors(t *testing.T) {
	p, err := Start(t.Context(), []string{"ls", "/proc/self/fd"}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(p.Stdout)
	if err != nil {
		t.Fatal(err)
	}
	want, err := exec.Command("ls", "/proc/self/fd").Output()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
	_, _ = p.Stop(), p.Stdout.Close()
}

func pids(t *testing.T, out io.Reader) (server, child int) {
	t.Helper()
	if _, err := fmt.Fscanln(out, &server, &child); err != nil {
		t.Fatal(err)
	}
	return server, child
}

// running reports whether a process lives; one that only waits to be reaped
// does not.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}
