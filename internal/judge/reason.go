package judge

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ax-check/ax-check/internal/effect"
)

// Reason codes, for programs. They never change their meaning.
const (
	// Something was observed.
	EffectSeen           = "effect-seen"                  // a call changed state
	FailedCallEffect     = "effect-in-failed-call"        // only calls that reported failure changed state
	NoEffect             = "no-effect"                    // effective calls changed nothing
	ContentLost          = "content-lost"                 // content that was there before was lost or replaced
	OnlyAdded            = "only-added"                   // effective calls added and lost nothing
	RepeatChanges        = "repeat-changes-more"          // a second equal call had a further effect
	RestartRepeatChanges = "repeat-changes-after-restart" // it had one only when the server was restarted between
	RepeatChangesNothing = "repeat-changes-nothing"       // second equal calls had no further effect
	Contacted            = "contact"                      // something outside was contacted
	NoContact            = "no-contact"                   // effective calls contacted nothing
	NothingToJudge       = "no-effect-to-judge"           // moot: no effect that could destroy or repeat

	// Nothing can be said.
	NotCalled        = "not-called"         // the tool was not called at all
	Unobservable     = "unobservable"       // this world does not show what the hint is about
	NoEffectiveCall  = "no-effective-call"  // every call failed or did nothing
	TrialError       = "trial-error"        // calls timed out, died or did not settle
	WriteRefused     = "write-refused"      // the sandbox refused a write of the call
	NetworkDependent = "network-dependent"  // the calls needed a network that was refused
	Untried          = "untried-arguments"  // arguments that could break the claim were not put to it
	UnknownFormat    = "unknown-format"     // a change in a format that is not understood
	UnseenState      = "unseen-state"       // the tool says it changes something, and not all state was observed
	ReplyState       = "reply-state"        // replies count up while no state is seen
	NoPair           = "no-conclusive-pair" // no repeat whose first call changed state could be judged
	UnclearContact   = "unclear-contact"    // a contact that the server also makes without the tool
)

const (
	maxEvidence = 5
	maxQuote    = 100 // runes of a server's own words
)

// evidence names trials, the one of the most telling call first.
func evidence(first call, all []call) []string {
	ids := []string{first.trial.ID}
	for _, k := range all {
		if len(ids) < maxEvidence && !slices.Contains(ids, k.trial.ID) {
			ids = append(ids, k.trial.ID)
		}
	}
	return ids
}

// mostTelling prefers a call that succeeded over one that failed, and then the
// gravest effect.
func mostTelling(calls []call, effects func(call) []effect.Effect) call {
	return slices.MinFunc(calls, func(a, b call) int { return weight(a, effects(a)) - weight(b, effects(b)) })
}

func weight(k call, effects []effect.Effect) int {
	w := gravity(gravest(effects))
	if k.failed() {
		w += 10
	}
	return w
}

// adversarial prefers a call whose arguments were made to break the claim.
func adversarial(calls []call) call {
	if i := slices.IndexFunc(calls, func(k call) bool { return len(k.trial.Covers) > 0 }); i >= 0 {
		return calls[i]
	}
	return calls[0]
}

func gravest(effects []effect.Effect) effect.Effect {
	return slices.MinFunc(effects, func(a, b effect.Effect) int { return gravity(a) - gravity(b) })
}

func gravity(e effect.Effect) int {
	return slices.Index([]effect.Class{effect.Delete, effect.Modify, effect.Create, effect.Append, effect.Rewritten}, e.Class)
}

// deed says what a call did, by its gravest effect: "overwrote notes.txt
// (existing file)".
func deed(k call, effects []effect.Effect) string {
	return act(gravest(effects), k.effects()) + with(k.trial.Set)
}

func act(e effect.Effect, all []effect.Effect) string {
	for _, other := range all {
		if e.Class == effect.Delete && other.RenamedFrom == e.Target {
			return "renamed " + short(e) + " to " + short(other)
		}
	}
	inside := e.Kind == effect.KindJSON
	switch e.Class {
	case effect.Delete:
		if inside {
			return "removed " + short(e)
		}
		return "deleted " + short(e)
	case effect.Modify:
		switch {
		case inside:
			return "replaced " + short(e)
		case e.Kind == effect.KindMetadata:
			return "changed the metadata of " + short(e)
		}
		return "overwrote " + short(e)
	case effect.Append:
		if inside {
			return "added " + short(e)
		}
		return "appended to " + short(e)
	case effect.Create:
		return "created " + short(e)
	}
	return "rewrote " + short(e)
}

func reached(e effect.Effect) string {
	if e.Kind == effect.KindLookup {
		return "looked up " + e.Target
	}
	return "contacted " + e.Target
}

// short names a target by its last element, with the place inside a document.
func short(e effect.Effect) string {
	file, pointer := place(e)
	return path.Base(file) + pointer
}

func ofCalls(n, of int) string { return fmt.Sprintf("%d of %s", n, counted(of, "call")) }

func effectiveCalls(n int) string { return counted(n, "effective call") }

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// aside names what was seen and not counted, so that "no effect" misleads nobody.
func (c *trialCase) aside() string {
	files := c.incidental()
	if len(files) == 0 {
		return ""
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = path.Base(f)
	}
	return ", apart from bookkeeping in " + strings.Join(names, ", ")
}

// doubt says that an effect counts although it may be bookkeeping.
func (c *trialCase) doubt(k call) string {
	for _, e := range k.state() {
		if f := fileOf(e); slices.Contains(c.Doubtful, f) {
			return "; every call writes " + path.Base(f) + ", but there are too few tools to tell whether it is a log"
		}
	}
	return ""
}

// nothingTold says why no call's silence means anything.
func (c *trialCase) nothingTold() opinion {
	if c.count(call.effective) > 0 {
		return untested(c.firstCause(call.effective))
	}
	subject := "none of " + counted(len(c.calls), "call")
	if len(c.calls) == 1 {
		subject = "not one call"
	}
	if c.count(func(k call) bool { return k.made().Replied() }) == 0 {
		return untested(TrialError, subject+" ended well: the first "+trouble(c.calls[0]))
	}
	failed := c.which(call.failedAlive)
	if len(failed) == 0 {
		return untested(NoEffectiveCall, subject+" had anything to do")
	}
	reason := subject + " took effect"
	if said := words(failed[0]); said != "" {
		reason += "; the first failure said " + said
	}
	return untested(NoEffectiveCall, reason)
}

// firstCause says why the first of the calls in question tells nothing.
func (c *trialCase) firstCause(test func(call) bool) (code, reason string) {
	k := c.which(test)[0]
	m := k.made()
	switch {
	case !m.Replied():
		code = TrialError
	case m.NetworkDependent:
		code = NetworkDependent
	case k.unclear() != nil:
		code = UnknownFormat
	default:
		code = WriteRefused
	}
	return code, "no effective call tells anything: the first " + trouble(k)
}

// trouble says what was wrong with a call that was not answered freely.
func trouble(k call) string {
	m := k.made()
	switch {
	case m.Outcome == effect.Timeout:
		return "got no reply in time"
	case m.Outcome == effect.Died:
		return "ended the server"
	case m.Outcome == effect.Unsettled:
		return "left the server unsettled"
	case m.NetworkDependent:
		return "needed the network, which was refused"
	case len(m.Refused) > 0:
		return "was refused a write to " + m.Refused[0]
	}
	if e := k.unclear(); e != nil {
		return "rewrote " + short(*e) + ", as happens without the tool too, in a format that is not understood"
	}
	return "was not answered"
}

// words quotes the server, cut short.
func words(k call) string {
	m := k.made()
	said := m.Reason
	if said == "" {
		said = m.Reply
	}
	said = strings.Join(strings.Fields(said), " ")
	if r := []rune(said); len(r) > maxQuote {
		said = string(r[:maxQuote]) + "…"
	}
	if said == "" {
		return ""
	}
	return "“" + said + "”"
}
