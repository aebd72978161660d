// Package verify runs every tool of a server in worlds of its own and collects
// what each call did: the trials that the judge reads.
//
// A trial starts from S0: a fresh process over fresh files. Trials of all tools
// run side by side; their order in the record is that of the tool list.
package verify

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ax-check/ax-check/internal/argument"
	"github.com/ax-check/ax-check/internal/effect"
	"github.com/ax-check/ax-check/internal/finding"
	"github.com/ax-check/ax-check/internal/judge"
	"github.com/ax-check/ax-check/internal/mcp"
	"github.com/ax-check/ax-check/internal/report"
	"github.com/ax-check/ax-check/internal/sandbox"
	"github.com/ax-check/ax-check/internal/toolset"
	"github.com/ax-check/ax-check/internal/verbs"
	"github.com/ax-check/ax-check/internal/verdict"
)

// Options of a run.
type Options struct {
	// Command starts the server; it must need no network to start.
	Command []string
	// Shown is the command as the user gave it.
	Shown []string
	// Dir is the server's working folder in the world.
	Dir string
	// Env is the server's whole environment, "NAME=value".
	Env []string
	// Setup commands run by sh in every world before the server starts.
	Setup []string
	// Workspace and Home are laid into the world; nil for an empty folder.
	Workspace, Home fs.FS
	// Seed makes the plan; the same seed makes the same calls.
	Seed uint64
	// CallTimeout bounds each call.
	CallTimeout time.Duration
	// Version of ax-check.
	Version string
	// Findings turns faults on the wire into findings.
	Findings func([]mcp.Fault) []finding.Finding
}

// Bounds of a run.
const (
	maxRestarts = 3 // restart trials of a tool
	maxLost     = 2 // time-outs or deaths of a tool before the rest is left out
)

// Run verifies a server. Events go to the sink; the error is one that kept the
// run from being done at all, or from going on. A cancelled context stops the
// run early, which is no error once the tools are known. What was found so far
// is judged either way, and the record says that it is incomplete.
func Run(ctx context.Context, o Options, sink report.Sink) error {
	r := &run{options: o, sink: sink, started: time.Now(), play: newPlay(o)}
	if err := sink.Emit(report.First(report.Start{Version: o.Version, Command: o.Shown, Seed: o.Seed})); err != nil {
		return err
	}
	if err := r.survey(ctx); err != nil && (ctx.Err() == nil || r.found.set.Tools == nil) {
		return err
	}
	r.plan()
	r.rehearse(ctx)
	if r.controlled != nil {
		<-r.controlled
	}
	return r.conclude(ctx)
}

func newPlay(o Options) *play {
	p := &play{options: o, command: sandbox.Command{Argv: o.Command, Dir: o.Dir, Env: o.Env, Recorded: true}}
	for _, line := range o.Setup {
		p.setup = append(p.setup, sandbox.Command{Argv: []string{"sh", "-c", line}, Dir: o.Dir, Env: o.Env, Recorded: true})
	}
	return p
}

type run struct {
	options Options
	sink    report.Sink
	started time.Time
	play    *play
	found   survey
	tools   []*tool

	// controlled is closed when the control has told all it can.
	controlled chan struct{}

	mu          sync.Mutex // guards what follows, and the tools' results
	done, total int
	failure     error // the first world that could not be made
}

// tool is one entry of the list with its plan and what came of it.
type tool struct {
	listed  toolset.Tool
	name    string // "" when the entry is malformed
	plan    argument.Plan
	skipped string
	// Results by argument set: set i's trials at i.
	results [][]effect.Trial
	lost    int
	worked  bool
	repeats int
}

// plan makes the argument sets of every tool.
func (r *run) plan() {
	for _, listed := range r.found.set.Tools {
		t := &tool{listed: listed}
		r.tools = append(r.tools, t)
		if listed.Name == nil {
			t.skipped = "the entry of the list is malformed: it has no name to call it by"
			continue
		}
		t.name = *listed.Name
		if demandsTask(listed) {
			t.skipped = "the tool can only be called as a task, which ax-check does not offer"
			continue
		}
		t.plan = argument.New(argument.Tool{
			Name: t.name, Title: listed.Title, Description: listed.Description, InputSchema: schemaOf(listed),
		}, r.play.world, r.options.Seed)
		if len(t.plan.Sets) == 0 {
			t.skipped = "no arguments could be made for it"
			if len(t.plan.Untried) > 0 {
				t.skipped += ": " + t.plan.Untried[0].Reason
			}
		}
		t.results = make([][]effect.Trial, len(t.plan.Sets))
		r.total += len(t.plan.Sets)
	}
}

func schemaOf(t toolset.Tool) json.RawMessage {
	if t.InputSchema == nil {
		return nil
	}
	return json.RawMessage(t.InputSchema.Raw())
}

// job is one trial to be done.
type job struct {
	tool *tool
	set  int
	kind effect.TrialKind
}

// rehearse runs the trials: breadth first, so that an early end has tried every
// tool, then the restarts of sets whose call changed something, then fallbacks
// of tools that nothing made work.
func (r *run) rehearse(ctx context.Context) {
	r.perform(ctx, r.jobs(func(s argument.Set) bool { return !s.Fallback }, func(*tool) bool { return true }))
	r.perform(ctx, r.jobs(func(s argument.Set) bool { return s.Fallback }, func(t *tool) bool { return !t.worked }))
}

func (r *run) jobs(which func(argument.Set) bool, whose func(*tool) bool) []job {
	var jobs []job
	for _, t := range r.tools {
		for i, s := range t.plan.Sets {
			if which(s) && whose(t) {
				jobs = append(jobs, job{t, i, effect.Twice})
			}
		}
	}
	slices.SortStableFunc(jobs, func(a, b job) int { return cmp.Compare(a.set, b.set) })
	r.mu.Lock()
	r.total = r.done + len(jobs)
	r.mu.Unlock()
	return jobs
}

// perform does the jobs, and those that follow from them, on all processors.
func (r *run) perform(ctx context.Context, jobs []job) {
	for len(jobs) > 0 && ctx.Err() == nil {
		var next []job
		var group errgroup.Group
		group.SetLimit(r.atOnce())
		for _, j := range jobs {
			group.Go(func() error {
				if follow, ok := r.do(ctx, j); ok {
					r.mu.Lock()
					next = append(next, follow)
					r.total++
					r.mu.Unlock()
				}
				return nil
			})
		}
		_ = group.Wait()
		slices.SortFunc(next, func(a, b job) int {
			return cmp.Or(cmp.Compare(a.tool.listed.Index, b.tool.listed.Index), cmp.Compare(a.set, b.set))
		})
		jobs = next
	}
}

// atOnce is how many trials run side by side: one waits for rest while the
// others keep the processors busy; of servers that never rest, most wait.
func (r *run) atOnce() int {
	if r.play.ticking {
		return 3 * runtime.NumCPU()
	}
	return runtime.NumCPU() + 1
}

// do runs one trial and says which follows from it.
func (r *run) do(ctx context.Context, j job) (follow job, ok bool) {
	if ctx.Err() != nil || r.givenUp(j.tool) {
		r.progress(j)
		return job{}, false
	}
	set := j.tool.plan.Sets[j.set]
	var t effect.Trial
	var err error
	if j.kind == effect.Restart {
		<-r.controlled
		t, err = r.play.restart(ctx, j.tool.name, set, r.found.restart)
	} else {
		t, err = r.play.twice(ctx, j.tool.name, set, r.unproven(j.tool))
	}
	r.progress(j)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil || ctx.Err() != nil {
		if ctx.Err() == nil && r.failure == nil {
			r.failure = err
		}
		return job{}, false
	}
	tool := j.tool
	tool.results[j.set] = append(tool.results[j.set], t)
	for i := range t.Calls {
		if t.Calls[i].Outcome == effect.Timeout || t.Calls[i].Outcome == effect.Died {
			tool.lost++
		}
		tool.worked = tool.worked || t.Effective(i+1)
	}
	if j.kind == effect.Twice && t.StateChanged(1) && tool.repeats < maxRestarts && t.Calls[0].Replied() {
		tool.repeats++
		return job{tool, j.set, effect.Restart}, true
	}
	return job{}, false
}

// givenUp reports whether a tool hung or ended the server too often already: it
// costs its own time, not the run's.
func (r *run) givenUp(t *tool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return t.lost >= maxLost || r.failure != nil
}

// unproven reports whether no call of a tool has taken effect yet.
func (r *run) unproven(t *tool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !t.worked
}

func (r *run) progress(j job) {
	r.mu.Lock()
	r.done++
	p := report.Progress{Tool: j.tool.name, Trial: j.kind, Done: r.done, Total: r.total, Millis: time.Since(r.started).Milliseconds()}
	r.mu.Unlock()
	_ = r.sink.Emit(report.Event{Progress: &p})
}

// conclude judges what was collected and closes the record.
func (r *run) conclude(ctx context.Context) error {
	world := r.found.judged()
	subjects := make([]judge.Subject, 0, len(r.tools))
	number := 0
	said := verbs.Names(r.names())
	for _, t := range r.tools {
		s := t.subject()
		s.Says = said.Of(t.name, t.listed.Description).Kind
		for i := range s.Trials {
			number++
			s.Trials[i].ID = fmt.Sprintf("e%d", number)
		}
		subjects = append(subjects, s)
	}
	subjects = judge.MarkIncidental(world, subjects)
	var events []report.Event
	for _, s := range subjects {
		for i := range s.Trials {
			events = append(events, report.Event{Trial: &s.Trials[i]})
		}
	}
	for _, s := range subjects {
		v := judge.Tool(s, world)
		events = append(events, report.Event{Verdict: &v})
	}
	reason := ""
	switch {
	case ctx.Err() != nil:
		reason = "interrupted"
	case r.failure != nil:
		reason = r.failure.Error()
	}
	if reason != "" {
		events = append(events, report.Event{Stopped: &report.Stopped{Reason: reason}})
	}
	events = append(events, report.Event{End: &report.End{Complete: reason == ""}})
	errs := []error{r.failure}
	for _, e := range events {
		errs = append(errs, r.sink.Emit(e))
	}
	return errors.Join(errs...)
}

func (r *run) names() []string {
	var names []string
	for _, t := range r.tools {
		names = append(names, t.name)
	}
	return names
}

func (t *tool) subject() judge.Subject {
	s := judge.Subject{
		Name: t.listed.Name, Index: t.listed.Index, Declared: t.listed.DeclaredSet(), Raw: rawHints(t.listed),
		NamesTarget: t.plan.NamesTarget, NamesOutside: t.plan.NamesOutside, Skipped: t.skipped,
	}
	for _, g := range t.plan.Untried {
		s.Untried = append(s.Untried, judge.Gap{Coverage: g.Coverage, Reason: g.Reason})
	}
	for _, trials := range t.results {
		s.Trials = append(s.Trials, trials...)
	}
	return s
}

// boundary says what a world lets be seen.
func boundary() verdict.Boundary {
	return verdict.Boundary{
		Tier:        verdict.Namespaces,
		Observed:    []string{"files", "network", "processes"},
		NotObserved: []string{"memory", "databases inside files", "what an upstream would answer"},
	}
}
