package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ax-check/ax-check/internal/argument"
	"github.com/ax-check/ax-check/internal/effect"
	"github.com/ax-check/ax-check/internal/mcp"
	"github.com/ax-check/ax-check/internal/observe/files"
	"github.com/ax-check/ax-check/internal/reply"
	"github.com/ax-check/ax-check/internal/sandbox"
)

// twice calls a tool two times in one process. The first call serves as the
// trial "once" as well; when it was not effective at all the second is left out.
// With watch, a tool that seems to do nothing is watched for longer where that
// is needed.
func (p *play) twice(ctx context.Context, tool string, set argument.Set, watch bool) (effect.Trial, error) {
	t := newTrial(tool, effect.Twice, set)
	s, err := p.open(ctx)
	if err != nil {
		return t, err
	}
	defer s.close()
	s.call(ctx, &t, set.Arguments)
	if !t.Calls[0].Replied() || !t.Effective(1) {
		t.Kind = effect.Once
		return t, nil
	}
	s.call(ctx, &t, set.Arguments)
	if s.ticking && watch && !t.StateChanged(1) && !t.StateChanged(2) {
		s.watch(ctx, &t)
	}
	return t, nil
}

// watch looks for what the last call left behind in a server whose own timers
// hide it: for as long as any timer is waited for elsewhere.
func (s *stage) watch(ctx context.Context, t *effect.Trial) {
	s.world.Settle(ctx, sandbox.SettleOptions{Max: restMax, Horizon: restHorizon, Ticking: restHorizon})
	last := len(t.Calls)
	late, _ := s.observe(ctx, &t.Calls[last-1])
	for _, e := range late {
		e.Call, e.Detail = last, strings.TrimPrefix(e.Detail+"; seen some time after the reply", "; ")
		t.Effects = append(t.Effects, e)
	}
}

// restart calls a tool, restarts the server over the same files, and calls again.
// What the restart alone changes belongs to no call, except what a server writes
// while it is told to end: that is the first call's, saved late.
func (p *play) restart(ctx context.Context, tool string, set argument.Set, alone []effect.Effect) (effect.Trial, error) {
	t := newTrial(tool, effect.Restart, set)
	s, err := p.open(ctx)
	if err != nil {
		return t, err
	}
	defer s.close()
	s.call(ctx, &t, set.Arguments)
	if !t.Calls[0].Replied() {
		t.Kind = effect.Once
		return t, nil
	}
	changed, err := s.restart(ctx)
	if err != nil {
		t.Calls[0].Outcome, t.Calls[0].Reason = effect.Died, "the server did not come up again: "+err.Error()
		return t, nil
	}
	for _, e := range without(changed, alone) {
		e.Call, e.Detail = 1, strings.TrimPrefix(e.Detail+"; written when the server ended", "; ")
		t.Effects = append(t.Effects, e)
	}
	s.call(ctx, &t, set.Arguments)
	return t, nil
}

func newTrial(tool string, kind effect.TrialKind, set argument.Set) effect.Trial {
	return effect.Trial{Tool: tool, Kind: kind, Set: set.Label, Covers: set.Covers, Effects: []effect.Effect{}}
}

// without leaves out the effects that also happen with no call before.
func without(effects, alone []effect.Effect) []effect.Effect {
	var out []effect.Effect
	for _, e := range effects {
		known := false
		for _, a := range alone {
			known = known || a.Class == e.Class && a.Target == e.Target
		}
		if !known {
			out = append(out, e)
		}
	}
	return out
}

// restart ends the server and starts it again in the same world. It returns
// what changed meanwhile.
func (s *stage) restart(ctx context.Context) ([]effect.Effect, error) {
	if err := s.leave(); err != nil {
		return nil, err
	}
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	if err := s.quieten(ctx); err != nil {
		return nil, err
	}
	before := s.index
	if err := s.look(); err != nil {
		return nil, err
	}
	s.world.TakeEvents()
	return files.Diff(before, s.index), nil
}

// call calls the tool once and adds the call and its effects to the trial.
func (s *stage) call(ctx context.Context, t *effect.Trial, arguments json.RawMessage) {
	s.world.TakeEvents() // what came before belongs to no call
	begin := time.Now()
	result, err := s.client.CallTool(ctx, t.Tool, arguments)
	c := effect.Call{Arguments: arguments, Millis: time.Since(begin).Milliseconds()}
	c.Outcome, c.Vacuous, c.Reason = outcome(result, err)
	c.Reply = excerpt(result.Text)
	number := len(t.Calls) + 1
	effects, problem := s.observe(ctx, &c)
	for _, e := range effects {
		e.Call = number
		t.Effects = append(t.Effects, e)
	}
	// A server that is gone or still busy hides what it did: its silence means nothing.
	if problem != "" && c.Outcome != effect.Timeout && c.Outcome != effect.Died {
		c.Outcome, c.Reason = effect.Unsettled, problem
	}
	if c.Outcome == effect.Unsettled || c.Replied() {
		select {
		case <-s.server.Done:
			c.Outcome, c.Reason = effect.Died, fmt.Sprintf("the server ended after its reply (exit status %d)", s.server.Status())
		default:
		}
	}
	t.Calls = append(t.Calls, c)
}

// namesLimit is how long names that were asked of DNS are waited for.
const namesLimit = time.Second

// observe waits for rest and tells what changed and what was recorded since the
// last look. It returns why the world could not be observed, "" when it could.
func (s *stage) observe(ctx context.Context, c *effect.Call) (effects []effect.Effect, problem string) {
	settled := s.rest(ctx)
	if !settled.OK {
		problem = "the server did not come to rest: " + settled.Why
	}
	s.world.AwaitNames(namesLimit)
	before := s.index
	if err := s.look(); err != nil {
		return nil, err.Error()
	}
	effects = capped(files.Diff(before, s.index))
	for _, e := range s.world.TakeEvents() {
		switch e.Kind {
		case sandbox.Refused:
			c.Refused = append(c.Refused, e.Target)
		case sandbox.Contact, sandbox.Lookup:
			c.NetworkDependent = true
			effects = append(effects, contact(e))
		case sandbox.Loopback:
			effects = append(effects, contact(e))
		case sandbox.Exec:
			effects = append(effects, effect.Effect{Class: effect.Spawn, Kind: effect.KindProcess, Target: e.Target})
		}
	}
	return unique(effects), problem
}

// maxOfClass is how many effects of one class are kept of one call.
const maxOfClass = 200

// capped keeps the first effects of each class, and says on the last one of a
// class how many more there were.
func capped(effects []effect.Effect) []effect.Effect {
	seen := map[effect.Class]int{}
	last := map[effect.Class]int{}
	var out []effect.Effect
	for _, e := range effects {
		if seen[e.Class]++; seen[e.Class] <= maxOfClass {
			last[e.Class] = len(out)
			out = append(out, e)
		}
	}
	for class, n := range seen {
		if n > maxOfClass {
			e := &out[last[class]]
			e.Detail = strings.TrimPrefix(fmt.Sprintf("%s; and %d more like it", e.Detail, n-maxOfClass), "; ")
		}
	}
	return out
}

func contact(e sandbox.Event) effect.Effect {
	kinds := map[sandbox.EventKind]string{
		sandbox.Contact: effect.KindNetwork, sandbox.Lookup: effect.KindLookup, sandbox.Loopback: effect.KindLoopback,
	}
	out := effect.Effect{Class: effect.Contact, Kind: kinds[e.Kind], Target: e.Target}
	switch e.Kind {
	case sandbox.Contact:
		out.Detail = "refused: worlds have no network"
	case sandbox.Lookup:
		out.Detail = "name asked of DNS; answered with no such name"
	}
	return out
}

// unique leaves out contacts and programs that were recorded before: a client
// that tries again makes no second effect.
func unique(effects []effect.Effect) []effect.Effect {
	type key struct {
		class  effect.Class
		target string
	}
	seen := map[key]bool{}
	var out []effect.Effect
	for _, e := range effects {
		k := key{e.Class, e.Target}
		if (e.Class == effect.Contact || e.Class == effect.Spawn) && seen[k] {
			continue
		}
		seen[k] = true
		out = append(out, e)
	}
	return out
}

// outcome tells how a call ended.
func outcome(result mcp.CallResult, err error) (o effect.Outcome, vacuous bool, reason string) {
	switch {
	case errors.Is(err, mcp.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return effect.Timeout, false, "no reply in time"
	case errors.Is(err, mcp.ErrGone):
		return effect.Died, false, "the server ended during the call"
	case err != nil:
		return effect.ProtocolError, false, err.Error()
	}
	r := reply.Reply{IsError: result.IsError, Text: result.Text, Structured: result.Structured}
	if result.Error != nil {
		message := result.Error.Error()
		r.ProtocolError = &message
	}
	return reply.Classify(r)
}

// replyExcerpt is how much of a reply is kept as evidence, in bytes.
const replyExcerpt = 400

func excerpt(text string) string {
	if len(text) <= replyExcerpt {
		return text
	}
	return strings.ToValidUTF8(text[:replyExcerpt], "") + "..."
}
