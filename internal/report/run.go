package report

import (
	"cmp"
	"slices"

	"github.com/ax-check/ax-check/internal/effect"
	"github.com/ax-check/ax-check/internal/finding"
	"github.com/ax-check/ax-check/internal/verdict"
)

// NotReached is the reason code of the hints of a tool that a run listed and
// did not come to judge.
const NotReached = "not-reached"

// Run is a whole run, as reports need it.
type Run struct {
	Start    Start
	Server   Server
	Boundary verdict.Boundary
	// Tools has every tool of the list once, in list order; those that were
	// not judged are untested.
	Tools    []verdict.Tool
	Trials   []effect.Trial
	Findings []finding.Finding
	// Complete is false when the run was cut short, and Stopped then says why.
	Complete bool
	Stopped  string
}

// Collect folds events into a run. They may end anywhere after the first.
func Collect(events []Event) Run {
	var run Run
	var listed []Tool
	judged := map[int]verdict.Tool{}
	for _, e := range events {
		switch {
		case e.Run != nil:
			run.Start = *e.Run
		case e.Server != nil:
			run.Server = *e.Server
		case e.Tools != nil:
			listed = e.Tools.List
		case e.Boundary != nil:
			run.Boundary = *e.Boundary
		case e.Trial != nil:
			run.Trials = append(run.Trials, *e.Trial)
		case e.Verdict != nil:
			judged[e.Verdict.Index] = *e.Verdict
		case e.Finding != nil:
			run.Findings = append(run.Findings, *e.Finding)
		case e.Stopped != nil:
			run.Stopped = e.Stopped.Reason
		case e.End != nil:
			run.Complete = e.End.Complete
		}
	}
	if !run.Complete && run.Stopped == "" {
		run.Stopped = "the record ends before the run does"
	}
	run.Tools = everyTool(listed, judged, run.Boundary.Tier)
	finding.Sort(run.Findings)
	return run
}

func everyTool(listed []Tool, judged map[int]verdict.Tool, tier verdict.Tier) []verdict.Tool {
	for _, t := range listed {
		if _, ok := judged[t.Index]; !ok {
			judged[t.Index] = verdict.Undecided(t.Name, t.Index, t.Declared, t.Raw, tier,
				NotReached, "the run stopped before this tool was judged")
		}
	}
	tools := make([]verdict.Tool, 0, len(judged))
	for _, t := range judged {
		tools = append(tools, t)
	}
	slices.SortFunc(tools, func(a, b verdict.Tool) int { return cmp.Compare(a.Index, b.Index) })
	return tools
}
