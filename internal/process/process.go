// Package process starts a server as it is, outside any sandbox, such that
// nothing of it outlives ax-check: not the programs that it started in turn, and
// not even when ax-check is killed outright.
//
// On Unix a guard stands between the two: this executable again, see
// [MaybeGuard]. Elsewhere the server is a plain child, and what it started itself
// is left to notice the end of its stdin.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A server is asked to end before it is killed: many hold a lock, a cache or a
// container that only they can give back. The order is the protocol's, see
// https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#shutdown.
const (
	// afterEOF is how long it may take to end once its stdin has.
	afterEOF = 500 * time.Millisecond
	// afterTerm is how long it may take to end once it got SIGTERM.
	afterTerm = time.Second
	// afterKill is how long the system may take to end what was killed.
	afterKill = 5 * time.Second
)

// lastMoment is how long a server that seems to be ending is waited for.
const lastMoment = 2 * time.Second

// Process is a running server.
type Process struct {
	// Stdin and Stdout are the server's; the caller closes them. Stdout ends when
	// the server has, and closing Stdin twice is no error.
	Stdin  io.WriteCloser
	Stdout io.ReadCloser
	// Done is closed when the server and all that it started have ended; Status is
	// valid from then on.
	Done   <-chan struct{}
	status int
	stderr *tail
	hold   *hold
}

// Start runs argv in dir ("" for the current folder) with env (nil for ax-check's
// own). Once ctx is over, the process is ended as by Stop. A command that is not
// there is an error for which errors.Is(err, exec.ErrNotFound) or
// errors.Is(err, fs.ErrNotExist) holds.
func Start(ctx context.Context, argv []string, dir string, env []string) (*Process, error) {
	if len(argv) == 0 {
		return nil, errors.New("no command given")
	}
	path, err := find(argv[0], dir)
	if err != nil {
		return nil, err
	}
	if dir != "" {
		if _, err := os.Stat(dir); err != nil {
			return nil, fmt.Errorf("starting %s: its working folder: %w", argv[0], err)
		}
	}
	p := &Process{stderr: &tail{}}
	cmd := &exec.Cmd{Path: path, Args: argv, Dir: dir, Env: env, Stderr: p.stderr, WaitDelay: afterTerm}
	if err := p.start(cmd); err != nil {
		return nil, fmt.Errorf("starting %s: %w", argv[0], err)
	}
	done := make(chan struct{})
	p.Done = done
	stop := context.AfterFunc(ctx, func() { p.release(p.hold.stop) })
	go func() {
		defer close(done)
		defer stop()
		_ = cmd.Wait() // the status below tells it
		p.hold.ended()
		p.status = status(cmd.ProcessState)
	}()
	return p, nil
}

// start gives the command its pipes and runs it.
func (p *Process) start(cmd *exec.Cmd) error {
	in, stdin, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	stdout, out, err := os.Pipe()
	if err != nil {
		_ = stdin.Close()
		return err
	}
	defer func() { _ = out.Close() }()
	cmd.Stdin, cmd.Stdout = in, out
	p.Stdin, p.Stdout = input{stdin}, stdout
	if p.hold, err = start(cmd); err != nil {
		_ = stdin.Close()
		_ = stdout.Close()
	}
	return err
}

// find gives the file to run. A name without a folder is looked up in PATH; any
// other is relative to dir, as if the user had gone there.
func find(name, dir string) (string, error) {
	if filepath.Base(name) == name {
		path, err := exec.LookPath(name)
		if err != nil {
			return "", fmt.Errorf("command %q not found: %w", name, errors.Unwrap(err))
		}
		return filepath.Abs(path)
	}
	file := name
	if !filepath.IsAbs(file) {
		var err error
		if file, err = filepath.Abs(filepath.Join(dir, file)); err != nil {
			return "", fmt.Errorf("command %q: %w", name, err)
		}
	}
	path, err := exec.LookPath(file) // which adds .exe and the like where that is due
	if err != nil {
		return "", fmt.Errorf("command %q cannot be run (a name with a folder is not looked up in PATH): %w", name, errors.Unwrap(err))
	}
	return path, nil
}

// Stop ends the server and all that it started, politely at first, and waits
// until nothing of it is left. It is no error if the server has ended already.
func (p *Process) Stop() error {
	p.release(p.hold.stop)
	return p.wait()
}

// Kill ends the server and all that it started at once, and waits until nothing
// of it is left.
func (p *Process) Kill() error {
	p.release(p.hold.kill)
	return p.wait()
}

func (p *Process) release(end func()) {
	_ = p.Stdin.Close() // an input never fails here but for a broken pipe
	end()
}

func (p *Process) wait() error {
	limit := time.NewTimer(afterEOF + afterTerm + 2*afterKill)
	defer limit.Stop()
	select {
	case <-p.Done:
		return nil
	case <-limit.C:
		return errors.New("the server does not end, though it was killed")
	}
}

// Status is the server's exit status, or 128 plus the signal that ended it.
// Preconditions: Done is closed.
func (p *Process) Status() int { return p.status }

// StderrTail is the last part of what the server printed to stderr, whole lines
// as far as they fit. It is complete when Done is closed.
func (p *Process) StderrTail() string { return p.stderr.String() }

// LastWords says in one line how the server ended, and then the end of what it
// printed to stderr. A server that is about to end is waited for a moment.
func (p *Process) LastWords() string {
	moment := time.NewTimer(lastMoment)
	defer moment.Stop()
	how := "it is still running"
	select {
	case <-p.Done:
		how = fmt.Sprintf("it ended with exit status %d", p.status)
	case <-moment.C:
	}
	if words := strings.TrimSpace(p.StderrTail()); words != "" {
		return how + ", and printed to stderr:\n" + words
	}
	return how + ", and printed nothing to stderr"
}

// input is a stdin that may be closed again: whoever speaks through it closes
// it, and so does whoever ends the process.
type input struct{ *os.File }

func (i input) Close() error {
	if err := i.File.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
