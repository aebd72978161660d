// Package jsonreport writes the report of verify for other programs:
// ax-check.verify/v1, which is only ever extended. Every key is always there,
// lists are never null, and the same run gives the same bytes.
package jsonreport

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/ax-check/ax-check/internal/effect"
	"github.com/ax-check/ax-check/internal/finding"
	"github.com/ax-check/ax-check/internal/report"
	"github.com/ax-check/ax-check/internal/verdict"
)

// Schema names the format.
const Schema = "ax-check.verify/v1"

type document struct {
	Schema   string            `json:"schema"`
	AxCheck  program           `json:"ax_check"`
	Server   report.Server     `json:"server"`
	Boundary verdict.Boundary  `json:"boundary"`
	Tools    []verdict.Tool    `json:"tools"`
	Evidence []evidence        `json:"evidence"`
	Findings []finding.Finding `json:"findings"`
	Summary  verdict.Summary   `json:"summary"`
	Complete bool              `json:"complete"`
	Stopped  *string           `json:"stopped"` // null when complete
}

type program struct {
	Version string `json:"version"`
}

// evidence is a trial in short: what was asked first and how it ended last.
// Calls has each call in full.
type evidence struct {
	ID        string            `json:"id"`
	Tool      string            `json:"tool"`
	Trial     effect.TrialKind  `json:"trial"`
	Set       string            `json:"set"`
	Covers    []effect.Coverage `json:"covers"`
	Arguments json.RawMessage   `json:"arguments"` // null for a control
	Outcome   *effect.Outcome   `json:"outcome"`   // null for a control
	Calls     []effect.Call     `json:"calls"`
	Effects   []effect.Effect   `json:"effects"`
}

// Write writes the report of a run, indented by two spaces.
func Write(w io.Writer, run report.Run) error {
	doc := document{
		Schema:   Schema,
		AxCheck:  program{run.Start.Version},
		Server:   run.Server,
		Boundary: run.Boundary,
		Tools:    list(run.Tools),
		Evidence: make([]evidence, len(run.Trials)),
		Findings: list(run.Findings),
		Summary:  verdict.Summarize(run.Tools),
		Complete: run.Complete,
	}
	doc.Boundary.Observed = list(doc.Boundary.Observed)
	doc.Boundary.NotObserved = list(doc.Boundary.NotObserved)
	for i, t := range run.Trials {
		doc.Evidence[i] = fromTrial(t)
	}
	if !run.Complete {
		doc.Stopped = &run.Stopped
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return fmt.Errorf("writing the JSON report: %w", err)
	}
	return nil
}

func fromTrial(t effect.Trial) evidence {
	e := evidence{
		ID:      t.ID,
		Tool:    t.Tool,
		Trial:   t.Kind,
		Set:     t.Set,
		Covers:  list(t.Covers),
		Calls:   list(t.Calls),
		Effects: list(t.Effects),
	}
	if n := len(t.Calls); n > 0 {
		e.Arguments = t.Calls[0].Arguments
		e.Outcome = &t.Calls[n-1].Outcome
	}
	return e
}

func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
