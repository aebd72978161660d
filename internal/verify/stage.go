package verify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ax-check/ax-check/internal/argument"
	"github.com/ax-check/ax-check/internal/mcp"
	"github.com/ax-check/ax-check/internal/observe/files"
	"github.com/ax-check/ax-check/internal/sandbox"
)

// stage is one world with the server running in it, ready to be called: the
// state S0 that every trial starts from.
type stage struct {
	plan   *play
	world  *sandbox.World
	server *sandbox.Process
	client *mcp.Client
	// index is what the layers held when last looked at.
	index *files.Index
	// ticking says that the server keeps timers running whatever is called.
	ticking bool
}

// play is everything that all stages of a run have in common.
type play struct {
	options Options
	command sandbox.Command
	setup   []sandbox.Command
	// known is the server's era and revision, so that later stages need not probe.
	known *mcp.Server
	// What the first stage found out: whether the server keeps timers running
	// anyway, and what it finds in its world.
	ticking bool
	world   argument.World
}

// Times for a server to come up and to come to rest.
const (
	startTimeout = 60 * time.Second
	restHorizon  = 5 * time.Second
	restMax      = 8 * time.Second
	leaveTimeout = 2 * time.Second
	// A server with timers of its own never rests; after a call it is watched
	// this long for what the call may have left behind.
	tickingWatch = 300 * time.Millisecond
)

// open makes a world, seeds it, runs the set-up commands, starts the server,
// waits until it rests, and takes the index that effects are told from.
func (p *play) open(ctx context.Context) (*stage, error) {
	world, err := sandbox.Start(ctx, sandbox.Spec{})
	if err != nil {
		return nil, err
	}
	s := &stage{plan: p, world: world, ticking: p.ticking}
	if err := s.prepare(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *stage) prepare(ctx context.Context) error {
	if err := s.seed(); err != nil {
		return err
	}
	for _, c := range s.plan.setup {
		if err := s.runSetup(ctx, c); err != nil {
			return err
		}
	}
	if err := s.start(ctx); err != nil {
		return err
	}
	if err := s.quieten(ctx); err != nil {
		return s.explain(err)
	}
	return s.look()
}

func (s *stage) seed() error {
	o := s.plan.options
	for _, part := range []struct {
		from fs.FS
		to   string
	}{{o.Workspace, sandbox.Workspace}, {o.Home, sandbox.Home}} {
		if part.from == nil {
			continue
		}
		folder, err := s.world.Folder(part.to)
		if err != nil {
			return fmt.Errorf("opening the world's %s: %w", part.to, err)
		}
		err = copyInto(folder, part.from)
		_ = folder.Close()
		if err != nil {
			return fmt.Errorf("seeding %s: %w", part.to, err)
		}
	}
	folder, err := s.world.Folder(sandbox.Home)
	if err != nil {
		return err
	}
	defer func() { _ = folder.Close() }()
	if o.Home != nil { // exactly the user's content, and what TMPDIR names
		return folder.MkdirAll("tmp", 0o700)
	}
	for _, dir := range homeFolders {
		if err := folder.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("making the home folder: %w", err)
		}
	}
	return nil
}

// copyInto copies a tree of files, folders and symbolic links; other kinds of
// files (sockets, devices) are left out.
func copyInto(to *os.Root, from fs.FS) error {
	return fs.WalkDir(from, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		name := filepath.FromSlash(path)
		info, err := entry.Info()
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir():
			return to.MkdirAll(name, info.Mode().Perm()|0o700)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := fs.ReadLink(from, path)
			if err != nil {
				return err
			}
			return to.Symlink(target, name)
		case !info.Mode().IsRegular():
			return nil
		}
		text, err := fs.ReadFile(from, path)
		if err != nil {
			return err
		}
		// Embedded files are read-only; a user's file keeps its mode.
		return to.WriteFile(name, text, info.Mode().Perm()|0o200)
	})
}

func (s *stage) runSetup(ctx context.Context, c sandbox.Command) error {
	name := c.Argv[len(c.Argv)-1]
	p, err := s.world.Run(c)
	if err != nil {
		return fmt.Errorf("set-up command %q: %w", name, err)
	}
	_ = p.Stdin.Close()
	go discard(p)
	select {
	case <-p.Done:
	case <-time.After(startTimeout):
		return fmt.Errorf("set-up command %q did not end within %s", name, startTimeout)
	case <-ctx.Done():
		return ctx.Err()
	}
	if status := p.Status(); status != 0 {
		return fmt.Errorf("set-up command %q failed (exit status %d): %s", name, status, lastLine(p.StderrTail()))
	}
	return nil
}

func discard(p *sandbox.Process) {
	buffer := make([]byte, 32<<10)
	for {
		if _, err := p.Stdout.Read(buffer); err != nil {
			return
		}
	}
}

// Dial starts the server in this world; the client calls it again when a server
// died on its first message.
func (s *stage) Dial(context.Context) (mcp.Transport, error) {
	if s.server != nil {
		if err := s.world.KillAll(); err != nil {
			return nil, err
		}
	}
	p, err := s.world.Run(s.plan.command)
	if err != nil {
		return nil, err
	}
	s.server = p
	return mcp.NewStdio(p.Stdin, p.Stdout, mcp.Limits{}), nil
}

func (s *stage) start(ctx context.Context) error {
	s.server = nil
	client, err := mcp.Connect(ctx, s, mcp.Options{
		ClientName: "ax-check", ClientVersion: s.plan.options.Version,
		Elicitation: true, Sampling: true, Answer: s.plan.answer,
		RequestTimeout: s.plan.options.CallTimeout, StartTimeout: startTimeout, Known: s.plan.known,
	})
	if err != nil {
		return s.explain(err)
	}
	s.client = client
	return nil
}

// explain adds what the server printed to an error of its start.
func (s *stage) explain(err error) error {
	if s.server == nil {
		return &StartError{Err: err}
	}
	e := &StartError{Err: err}
	if errors.Is(err, mcp.ErrGone) { // the end is heard of a little later than its silence
		select {
		case <-s.server.Done:
			status := s.server.Status()
			e.Status = &status
		case <-time.After(leaveTimeout):
		}
	}
	e.Stderr = s.server.StderrTail()
	return e
}

// StartError is a server that could not be brought up.
type StartError struct {
	Err    error
	Status *int // exit status; nil when it still ran
	Stderr string
}

func (e *StartError) Error() string {
	text := e.Err.Error()
	if e.Status != nil && errors.Is(e.Err, mcp.ErrGone) {
		text = fmt.Sprintf("the server ended before it answered (exit status %d)", *e.Status)
	}
	if printed := strings.TrimSpace(e.Stderr); printed != "" {
		text += "; it printed: " + essence(printed)
	}
	return text
}

func (e *StartError) Unwrap() error { return e.Err }

// saysError finds the line of a crash report that names the error: stack traces
// follow it in some languages and stand before it in others.
var saysError = regexp.MustCompile(`(?m)^\s*(?:[\w.]*(?:Error|Exception)\b|panic|fatal)[^\n]*:.*$`)

// essence is the part of what a server printed that says why it ended.
func essence(printed string) string {
	if line := saysError.FindString(printed); line != "" {
		return strings.TrimSpace(line)
	}
	return lastLines(printed, 5)
}

// quieten waits until a server that was just started has nothing to do. Timers
// that it has set by then are its own, not a call's.
func (s *stage) quieten(ctx context.Context) error {
	settled := s.world.Settle(ctx, sandbox.SettleOptions{Max: restMax, Horizon: restHorizon, Ticking: time.Nanosecond})
	if !settled.OK {
		return fmt.Errorf("the server did not come to rest after its start: %s", settled.Why)
	}
	return nil
}

// rest waits until what a call set going has come to an end.
func (s *stage) rest(ctx context.Context) sandbox.Settled {
	o := sandbox.SettleOptions{Max: restMax, Horizon: restHorizon}
	if s.ticking {
		o.Ticking = tickingWatch
	}
	return s.world.Settle(ctx, o)
}

// look takes a new index of the layers.
func (s *stage) look() error {
	var layers []files.Layer
	for _, l := range s.world.Layers() {
		layers = append(layers, files.Layer{Mount: l.Mount, Upper: l.Upper, Lower: l.Lower, Open: l.Open})
	}
	index, err := files.Scan(layers, s.index, s.world.MappedFiles())
	if err != nil {
		return fmt.Errorf("looking at the world's files: %w", err)
	}
	s.index = index
	return nil
}

// leave ends the server as a client would: its input closes, and it has a
// moment to save what it holds.
func (s *stage) leave() error {
	_ = s.server.Stdin.Close()
	select {
	case <-s.server.Done:
	case <-time.After(leaveTimeout):
	}
	_ = s.client.Close()
	return s.world.KillAll()
}

func (s *stage) close() {
	s.world.Close()
	if s.client != nil {
		_ = s.client.Close()
	}
}

func lastLine(text string) string { return lastLines(text, 1) }

func lastLines(text string, n int) string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
