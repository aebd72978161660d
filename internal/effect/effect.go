// Package effect is the vocabulary of what was observed while a tool ran:
// effects, the calls that caused them, and the trials those calls belong to.
// It is pure data; observers produce it, the judge reads it.
package effect

import "encoding/json"

// Class says what kind of change or contact an effect is.
type Class string

// Create and Append are additive. Modify and Delete lose or replace content
// that was there before the call. Rewritten is a change in a format that no
// observer understands: something changed, whether content was lost is unknown.
// Contact bears only on openWorldHint, Spawn on no hint.
const (
	Create    Class = "create"
	Append    Class = "append"
	Modify    Class = "modify"
	Delete    Class = "delete"
	Rewritten Class = "rewritten"
	Contact   Class = "contact"
	Spawn     Class = "spawn"
)

// Kinds of target, as written in Effect.Kind.
const (
	KindFile     = "file"
	KindDir      = "dir"
	KindSymlink  = "symlink"
	KindJSON     = "json"     // inside a JSON or JSON Lines document; Target is path#pointer
	KindMetadata = "metadata" // mode, owner, extended attributes
	KindNetwork  = "network"  // an address outside the sandbox
	KindLookup   = "lookup"   // a name asked of DNS
	KindLoopback = "loopback" // an address inside the sandbox: never the open world
	KindProcess  = "process"
)

// Effect is one observed change or contact.
type Effect struct {
	Class Class  `json:"class"`
	Kind  string `json:"kind"`
	// Target is the path as the server sees it (with #/pointer inside a
	// document), or host:port, or a program.
	Target string `json:"target"`
	// Call is the 1-based number of the call within its trial that the effect
	// belongs to; 0 when it belongs to no call (start, control).
	Call int `json:"call"`
	// Before and After are excerpts of the content; nil where there was none.
	Before *string `json:"before"`
	After  *string `json:"after"`
	// Truncated is true when Before or After is cut short.
	Truncated bool `json:"truncated"`
	// Incidental effects are bookkeeping that unrelated calls make too.
	Incidental bool `json:"incidental"`
	// Volatile effects change no content: same bytes, times only, gone again
	// when settled. Shown, no verdict.
	Volatile bool `json:"volatile"`
	// RenamedFrom names the old path of a created one whose content came from it.
	RenamedFrom string `json:"renamed_from,omitempty"`
	// Digest identifies the content after the effect, so that the same change
	// in a control can be subtracted.
	Digest string `json:"digest,omitempty"`
	// Detail says in plain words what Before and After do not show.
	Detail string `json:"detail,omitempty"`
}

// IsState reports whether the effect changed state that counts for a verdict.
func (e Effect) IsState() bool {
	if e.Incidental || e.Volatile {
		return false
	}
	switch e.Class {
	case Create, Append, Modify, Delete, Rewritten:
		return true
	}
	return false
}

// IsDestructive reports whether content that was there before was lost or replaced.
func (e Effect) IsDestructive() bool {
	return e.IsState() && (e.Class == Modify || e.Class == Delete)
}

// IsOpenWorld reports whether something outside the sandbox was contacted.
func (e Effect) IsOpenWorld() bool {
	return e.Class == Contact && (e.Kind == KindNetwork || e.Kind == KindLookup)
}

// Outcome is how a call ended.
type Outcome string

// SoftError is an error told inside a reply that the protocol calls a success.
// Timeout, Died and Unsettled are errors of the trial, never "no effect".
const (
	OK            Outcome = "ok"
	SoftError     Outcome = "soft_error"
	IsError       Outcome = "is_error"
	ProtocolError Outcome = "protocol_error"
	Timeout       Outcome = "timeout"
	Died          Outcome = "died"
	Unsettled     Outcome = "unsettled"
)

// Call is one tools/call of a trial, with everything that belongs to it
// (a multi-round-trip exchange counts as one call).
type Call struct {
	Arguments json.RawMessage `json:"arguments"`
	Outcome   Outcome         `json:"outcome"`
	// Vacuous is true when the reply succeeded but says that nothing was done.
	Vacuous bool `json:"vacuous,omitempty"`
	// Reply is an excerpt of the reply's text.
	Reply string `json:"reply,omitempty"`
	// Reason says why an outcome other than OK came about.
	Reason string `json:"reason,omitempty"`
	// Refused lists paths whose write the sandbox itself refused: the call's
	// silence is then worthless.
	Refused []string `json:"refused,omitempty"`
	// NetworkDependent is true when the call tried to reach something that the
	// sandbox refused: absence of effects in it proves nothing.
	NetworkDependent bool `json:"network_dependent,omitempty"`
	// Millis is the time from request to reply, in milliseconds.
	Millis int64 `json:"ms"`
}

// Replied reports whether a live server answered the call and settled.
func (c Call) Replied() bool {
	switch c.Outcome {
	case OK, SoftError, IsError, ProtocolError:
		return true
	}
	return false
}

// TrialKind names the shape of a trial.
type TrialKind string

// Every trial starts from S0: a fresh process over fresh files.
const (
	Control    TrialKind = "control"    // no call of a tool
	Once       TrialKind = "once"       // one call
	Twice      TrialKind = "twice"      // the same call twice in one process
	Restart    TrialKind = "restart"    // the same call twice with a server restart between
	Concurrent TrialKind = "concurrent" // the same call twice at the same time
)

// Coverage names what an argument set puts to the test; the judge asks for
// some of them before it believes a claim.
type Coverage string

// The adversarial arguments that a verdict may need.
const (
	Existing    Coverage = "existing"     // names a target that exists
	Missing     Coverage = "missing"      // names a target that does not exist
	DoubleApply Coverage = "double-apply" // an edit that changes more when applied again
	EnumValue   Coverage = "enum-value"   // a value of an action-like enum
	Output      Coverage = "output"       // an optional parameter that names an output
	Outside     Coverage = "outside"      // a URL, host or remote outside
)

// Trial is one world S0, one planned sequence of calls and the effects of each.
// It is the unit of evidence.
type Trial struct {
	// ID is "e1", "e2", ... in the order of the run record; "" until assigned.
	ID   string    `json:"id"`
	Tool string    `json:"tool"`
	Kind TrialKind `json:"trial"`
	// Set is the label of the argument set in plain words ("existing file").
	Set    string     `json:"set,omitempty"`
	Covers []Coverage `json:"covers,omitempty"`
	Calls  []Call     `json:"calls"`
	// Effects of all calls, by Call, then by Target.
	Effects []Effect `json:"effects"`
}

// Of returns the effects that belong to call n (1-based).
func (t Trial) Of(n int) []Effect {
	var out []Effect
	for _, e := range t.Effects {
		if e.Call == n {
			out = append(out, e)
		}
	}
	return out
}

// StateChanged reports whether call n (1-based) had a state effect that counts.
func (t Trial) StateChanged(n int) bool {
	for _, e := range t.Effects {
		if e.Call == n && e.IsState() {
			return true
		}
	}
	return false
}

// Effective reports whether call n (1-based) took effect: it succeeded and was
// not vacuous, or it caused a state effect.
func (t Trial) Effective(n int) bool {
	c := t.Calls[n-1]
	return t.StateChanged(n) || (c.Outcome == OK && !c.Vacuous)
}

// Silent reports whether the absence of effects in call n (1-based) means
// something: an effective call whose writes and contacts were not refused.
func (t Trial) Silent(n int) bool {
	c := t.Calls[n-1]
	return t.Effective(n) && !t.StateChanged(n) && !c.NetworkDependent && len(c.Refused) == 0
}
