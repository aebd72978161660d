package judge

import (
	"encoding/json"
	"slices"

	"github.com/ax-check/ax-check/internal/effect"
	"github.com/ax-check/ax-check/internal/hint"
	"github.com/ax-check/ax-check/internal/verbs"
	"github.com/ax-check/ax-check/internal/verdict"
)

// Subject is one tool under test and everything that was seen of it.
type Subject struct {
	// Name is nil for a malformed entry of the list.
	Name     *string
	Index    int
	Declared hint.Set
	// Raw holds the JSON text of hints that are present but not booleans.
	Raw    map[hint.Name]json.RawMessage
	Trials []effect.Trial
	// NamesTarget and NamesOutside say that an argument can name an existing
	// target, or something outside.
	NamesTarget  bool
	NamesOutside bool
	// Untried lists what the planned arguments could not put to the test.
	Untried []Gap
	// Says is what the tool's name and description say that it does. It never
	// accuses; it only keeps silence from being believed too easily.
	Says verbs.Kind
	// Skipped says why the tool was not called at all; "" when it was.
	Skipped string
	// Doubtful lists targets whose effects count although every call makes
	// them, because there are too few tools to tell a log from a store. Set by
	// MarkIncidental.
	Doubtful []string
}

// Gap is an argument that a verdict asks for and that could not be made.
type Gap struct {
	Coverage effect.Coverage
	Reason   string
}

// World is what all tools of a run share.
type World struct {
	Tier verdict.Tier
	// SeesState is true when changes of state were observed and every trial
	// began from the same state; SeesContact when attempts to reach the network
	// were observed. Without them silence is no evidence.
	SeesState   bool
	SeesContact bool
	// SeesMemory is true when state that only the process holds was observed too.
	SeesMemory bool
	// Noise is what the server does unasked: the effects of the start and of
	// trials without a call.
	Noise []effect.Effect
	// Unasked is the part of it that came while the server was only watched.
	Unasked []effect.Effect
	// Rejected is the effects of calls that named no tool of the server, so
	// that no tool's own work is among them.
	Rejected []effect.Effect
	// CacheDirs are the world's cache and temporary folders, as the server
	// sees them.
	CacheDirs []string
}

// Tool judges all four hints of one tool. The subject's incidental effects must
// be marked already, see MarkIncidental.
func Tool(s Subject, w World) verdict.Tool {
	c := newCase(s, w)
	t := verdict.Tool{
		Name:       s.Name,
		Index:      s.Index,
		Made:       len(c.calls),
		Effective:  c.count(call.effective),
		Incidental: c.incidental(),
		Hints:      map[hint.Name]verdict.Hint{},
	}
	for n, o := range c.opinions() {
		t.Hints[n] = o.on(n, s, w)
	}
	return t
}

// opinions judges readOnlyHint first, because the next two hang on it: they are
// moot for a tool without effects, and unknown when its effects are.
func (c *trialCase) opinions() map[hint.Name]opinion {
	if c.Skipped != "" {
		return alike(untested(NotCalled, c.Skipped))
	}
	if len(c.calls) == 0 {
		return alike(untested(NotCalled, "no call was made"))
	}
	readOnly := c.readOnly()
	destructive, idempotent := readOnly, readOnly
	switch {
	case readOnly.observed == nil:
	case *readOnly.observed:
		destructive = readOnly.moot(false, "so there is nothing it could have destroyed")
		idempotent = readOnly.moot(true, "so a repeat adds nothing")
	default:
		destructive, idempotent = c.destructive(), c.idempotent()
	}
	return map[hint.Name]opinion{
		hint.ReadOnly:    readOnly,
		hint.Destructive: destructive,
		hint.Idempotent:  idempotent,
		hint.OpenWorld:   c.openWorld(),
	}
}

func alike(o opinion) map[hint.Name]opinion {
	all := map[hint.Name]opinion{}
	for _, n := range hint.Names() {
		all[n] = o
	}
	return all
}

// opinion is what the evidence says about a hint, whatever is declared.
type opinion struct {
	observed *bool // nil: cannot be told
	isMoot   bool
	code     string
	reason   string
	evidence []string
}

func untested(code, reason string) opinion { return opinion{code: code, reason: reason} }

func observed(value bool, code, reason string, evidence []string) opinion {
	return opinion{observed: &value, code: code, reason: reason, evidence: evidence}
}

func (o opinion) moot(value bool, therefore string) opinion {
	return opinion{observed: &value, isMoot: true, code: NothingToJudge, reason: o.reason + ", " + therefore, evidence: o.evidence}
}

// on holds the opinion against what the tool declares.
func (o opinion) on(n hint.Name, s Subject, w World) verdict.Hint {
	h := verdict.Hint{
		Declared:    s.Declared[n],
		DeclaredRaw: s.Raw[n],
		Effective:   s.Declared[n].Effective(n),
		Observed:    o.observed,
		Verdict:     o.verdict(n, s.Declared[n]),
		Suggested:   n.Default(),
		Tier:        w.Tier,
		ReasonCode:  o.code,
		Reason:      o.reason,
		Evidence:    slices.Clone(o.evidence),
	}
	if o.observed != nil {
		h.Suggested = *o.observed
	}
	return h
}

func (o opinion) verdict(n hint.Name, declared hint.Value) verdict.Verdict {
	if o.observed == nil {
		return verdict.Untested
	}
	if o.isMoot {
		return verdict.Moot
	}
	value, isDeclared := declared.Bool()
	claimed := isDeclared && value == n.Claim()
	switch {
	case *o.observed == n.Claim() && claimed:
		return verdict.Supported
	case *o.observed == n.Claim():
		return verdict.Overcautious
	case claimed:
		return verdict.Contradicted
	case isDeclared:
		return verdict.Confirmed
	}
	return verdict.Undeclared
}
