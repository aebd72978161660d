package verify

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ax-check/ax-check/internal/argument"
	"github.com/ax-check/ax-check/internal/effect"
	"github.com/ax-check/ax-check/internal/hint"
	"github.com/ax-check/ax-check/internal/judge"
	"github.com/ax-check/ax-check/internal/report"
	"github.com/ax-check/ax-check/internal/sandbox"
	"github.com/ax-check/ax-check/internal/toolset"
	"github.com/ax-check/ax-check/internal/verdict"
)

// survey is what the first world told: the tools, and what happens without a call.
type survey struct {
	set toolset.Set
	// noise is what the server does unasked in the time of a trial; rejected what
	// it does for a call of no tool; restart what a restart alone changes.
	noise, rejected, restart []effect.Effect
}

// homeFolders lie in the home of every world.
var homeFolders = []string{".cache", ".config", ".local/share", ".local/state", "tmp"}

// Environment is what every server gets, before the user's own variables.
func Environment(lookup func(string) string) []string {
	env := []string{
		"HOME=" + sandbox.Home,
		"TMPDIR=" + sandbox.Home + "/tmp",
		"XDG_CACHE_HOME=" + sandbox.Home + "/.cache",
		"XDG_CONFIG_HOME=" + sandbox.Home + "/.config",
		"XDG_DATA_HOME=" + sandbox.Home + "/.local/share",
		"XDG_STATE_HOME=" + sandbox.Home + "/.local/state",
		// Python compiles a module that it first loads in the middle of a call, and
		// would leave the result beside the source: nothing that the tool does.
		"PYTHONDONTWRITEBYTECODE=1",
	}
	for _, name := range []string{"PATH", "LANG", "TERM"} {
		if value := lookup(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// cacheDirs are the world's cache and temporary folders.
var cacheDirs = []string{"/tmp", "/var/tmp", "/dev/shm", sandbox.Home + "/.cache", sandbox.Home + "/tmp"}

// unknownTool is a name that no server has.
const unknownTool = "ax_check_no_such_tool"

// survey opens the first world and lists the tools there. The world goes on as the
// control, beside the trials: it shows what happens without a call of a tool.
func (r *run) survey(ctx context.Context) error {
	s, err := r.play.open(ctx)
	if err != nil {
		return err
	}
	if err := r.list(ctx, s); err != nil {
		s.close()
		return err
	}
	r.controlled = make(chan struct{})
	go func() {
		defer close(r.controlled)
		defer s.close()
		r.control(ctx, s)
	}()
	return nil
}

func (r *run) list(ctx context.Context, s *stage) error {
	known := s.client.Server()
	r.play.known = &known
	list, err := s.client.ListTools(ctx)
	if err != nil {
		return s.explain(err)
	}
	if r.found.set, err = toolset.FromServer(list.Tools); err != nil {
		return err
	}
	if r.play.world, err = s.inhabited(); err != nil {
		return err
	}
	if err := r.announce(known.Name, known.Version, known.Protocol, known.Transport, s); err != nil {
		return err
	}
	s.world.TakeEvents()
	s.ticking = s.keepsTimers(ctx)
	r.play.ticking = s.ticking
	return ctx.Err()
}

// keepsTimers reports whether a server that nothing was asked of has timers
// running that do not come to an end soon after its start.
func (s *stage) keepsTimers(ctx context.Context) bool {
	settled := s.rest(ctx)
	if settled.OK && settled.Ticking <= time.Second {
		settled = s.rest(ctx)
	}
	return !settled.OK || settled.Ticking > 0
}

func (r *run) announce(name, version, protocol, transport string, s *stage) error {
	tools := report.Tools{}
	for _, t := range r.found.set.Tools {
		tools.List = append(tools.List, report.Tool{Name: t.Name, Index: t.Index, Declared: t.DeclaredSet(), Raw: rawHints(t)})
	}
	b := boundary()
	events := []report.Event{
		{Server: &report.Server{Name: name, Version: version, Protocol: protocol, Transport: transport}},
		{Boundary: &b},
		{Tools: &tools},
	}
	if r.options.Findings != nil {
		for _, f := range r.options.Findings(s.client.Faults()) {
			events = append(events, report.Event{Finding: &f})
		}
	}
	for _, e := range events {
		if err := r.sink.Emit(e); err != nil {
			return err
		}
	}
	return nil
}

// controlWait is how long the control watches the server do nothing: about as
// long as a trial lasts.
const controlWait = 300 * time.Millisecond

// control finds out what happens without a call of a tool: in the time of a
// trial, for a name that no tool has, and by a restart.
func (r *run) control(ctx context.Context, s *stage) {
	select {
	case <-time.After(controlWait):
	case <-ctx.Done():
		return
	}
	var unasked effect.Call
	r.found.noise, _ = s.observe(ctx, &unasked)
	rejected := effect.Trial{Tool: unknownTool}
	for range 2 { // twice, so that a log that the first makes is seen to grow
		s.call(ctx, &rejected, []byte("{}"))
		r.found.rejected = rejected.Effects
		if !rejected.Calls[len(rejected.Calls)-1].Replied() {
			return // a server that ends or hangs at an unknown name has no more to tell
		}
	}
	// Where the server does not come up again, the restart trials say so.
	r.found.restart, _ = s.restart(ctx)
}

// judged is the survey as the judge needs it.
func (s survey) judged() judge.World {
	return judge.World{
		Tier: verdict.Namespaces, SeesState: true, SeesContact: true,
		Noise: append(slices.Clone(s.noise), s.restart...), Unasked: s.noise, Rejected: s.rejected, CacheDirs: cacheDirs,
	}
}

// Bounds of what planning looks at.
const (
	maxInhabited = 500
	maxText      = 64 << 10
)

// inhabited lists what the server finds in its workspace and home.
func (s *stage) inhabited() (argument.World, error) {
	w := argument.World{Workspace: sandbox.Workspace, Home: sandbox.Home}
	for _, base := range []string{sandbox.Workspace, sandbox.Home} {
		folder, err := s.world.Folder(base)
		if err != nil {
			return w, err
		}
		tree := folder.FS()
		err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
			full := path.Join(base, name)
			switch {
			case err != nil:
				return nil //nolint:nilerr // what can't be read can't be planned with
			case len(w.Files)+len(w.Dirs) >= maxInhabited:
				return fs.SkipAll
			case entry.IsDir() && base == sandbox.Home && hidden(name):
				return fs.SkipDir
			case entry.IsDir():
				w.Dirs = append(w.Dirs, full)
			case entry.Type().IsRegular():
				w.Files = append(w.Files, readFile(tree, name, full))
			}
			return nil
		})
		_ = folder.Close()
		if err != nil {
			return w, err
		}
	}
	return w, nil
}

func hidden(name string) bool { return name != "." && (strings.HasPrefix(name, ".") || name == "tmp") }

func readFile(tree fs.FS, name, full string) argument.File {
	file := argument.File{Path: full}
	f, err := tree.Open(name)
	if err != nil {
		return file
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil {
		file.Size = info.Size()
	}
	text, err := io.ReadAll(io.LimitReader(f, maxText))
	if err != nil {
		return file
	}
	if !utf8.Valid(text) || strings.ContainsRune(string(text), 0) {
		file.Binary = true
		return file
	}
	file.Text = string(text)
	return file
}

// demandsTask reports whether a tool refuses plain calls (execution.taskSupport
// "required", revision 2025-11-25).
func demandsTask(t toolset.Tool) bool {
	execution := t.Node.Get("execution")
	if execution == nil {
		return false
	}
	support, _ := execution.Get("taskSupport").Text()
	return support == "required"
}

// rawHints is the JSON text of hints that are present but not booleans.
func rawHints(t toolset.Tool) map[hint.Name]json.RawMessage {
	raw := map[hint.Name]json.RawMessage{}
	for name, declared := range t.Hints {
		if declared.Node != nil && declared.Value == hint.Absent {
			raw[name] = json.RawMessage(declared.Node.Raw())
		}
	}
	return raw
}
