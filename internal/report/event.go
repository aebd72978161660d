// Package report holds the event stream of a run. Saved as JSON Lines it is the
// run record, from which every report can be made later without running
// anything: read the events, Collect them into a Run, and hand that to a writer.
// Progress events may be removed from a record without changing any report.
package report

import (
	"encoding/json"
	"sync"

	"github.com/ax-check/ax-check/internal/effect"
	"github.com/ax-check/ax-check/internal/finding"
	"github.com/ax-check/ax-check/internal/hint"
	"github.com/ax-check/ax-check/internal/verdict"
)

// Schema names the format of the run record. It is only ever extended.
const Schema = "ax-check.run/v1"

// Event is one thing that happened in a run. Exactly one field is set, besides
// Schema, which goes with Run.
type Event struct {
	Schema   string            `json:"schema,omitempty"`
	Run      *Start            `json:"run,omitempty"` // always the first event
	Server   *Server           `json:"server,omitempty"`
	Tools    *Tools            `json:"tools,omitempty"`
	Boundary *verdict.Boundary `json:"boundary,omitempty"`
	Progress *Progress         `json:"progress,omitempty"`
	Trial    *effect.Trial     `json:"trial,omitempty"`
	Verdict  *verdict.Tool     `json:"verdict,omitempty"`
	Finding  *finding.Finding  `json:"finding,omitempty"`
	Stopped  *Stopped          `json:"stopped,omitempty"`
	End      *End              `json:"end,omitempty"` // always the last event of a whole record
}

// Start says what was run.
type Start struct {
	Version string   `json:"ax_check"`
	Command []string `json:"command"`
	Seed    uint64   `json:"seed"`
}

// Server says what was found at the other end.
type Server struct {
	Name      string `json:"name"`
	Version   string `json:"version"`
	Protocol  string `json:"protocol"`
	Transport string `json:"transport"`
}

// Tools is the server's tool list, in list order.
type Tools struct {
	List []Tool `json:"list"`
}

// Tool is one entry of the tool list; Name is nil for a malformed one.
type Tool struct {
	Name     *string                       `json:"name"`
	Index    int                           `json:"index"`
	Declared hint.Set                      `json:"declared,omitempty"`
	Raw      map[hint.Name]json.RawMessage `json:"declared_raw,omitempty"`
}

// Progress says how far the run is: Done of Total trials, Millis after its start.
type Progress struct {
	Tool   string           `json:"tool"`
	Trial  effect.TrialKind `json:"trial"`
	Done   int              `json:"done"`
	Total  int              `json:"total"`
	Millis int64            `json:"ms"`
}

// Stopped says why a run was cut short.
type Stopped struct {
	Reason string `json:"reason"`
}

// End closes the record of a run.
type End struct {
	Complete bool `json:"complete"`
}

// First is the event that opens a record.
func First(s Start) Event { return Event{Schema: Schema, Run: &s} }

// Sink takes the events of a run as they happen. It may be called from several
// goroutines.
type Sink interface{ Emit(Event) error }

// Sinks hands every event to each of its sinks, in order, and stops at the
// first that fails.
type Sinks []Sink

// Emit implements Sink.
func (s Sinks) Emit(e Event) error {
	for _, sink := range s {
		if err := sink.Emit(e); err != nil {
			return err
		}
	}
	return nil
}

// Tape is a Sink that keeps the events in memory. The zero value is ready.
type Tape struct {
	mu     sync.Mutex
	events []Event
}

// Emit implements Sink. Progress is not kept: no report is made of it.
func (t *Tape) Emit(e Event) error {
	if e.Progress != nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events = append(t.events, e)
	return nil
}

// Run folds the events so far.
func (t *Tape) Run() Run {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Collect(t.events)
}
