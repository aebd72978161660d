package judge_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ax-check/ax-check/internal/effect"
	"github.com/ax-check/ax-check/internal/hint"
	"github.com/ax-check/ax-check/internal/judge"
	"github.com/ax-check/ax-check/internal/verdict"
)

const (
	notes    = "/work/notes.txt"
	bookings = "/work/bookings.json#/bookings/3"
)

// want is what a test says about one hint.
type want struct {
	Verdict   verdict.Verdict
	Observed  *bool
	Suggested bool
	Code      string
	Reason    string
}

func of(h verdict.Hint) want {
	return want{h.Verdict, h.Observed, h.Suggested, h.ReasonCode, h.Reason}
}

func yes(v verdict.Verdict, code, reason string) want { return want{v, ptr(true), true, code, reason} }

func no(v verdict.Verdict, code, reason string) want { return want{v, ptr(false), false, code, reason} }

func unknown(n hint.Name, code, reason string) want {
	return want{verdict.Untested, nil, n.Default(), code, reason}
}

// Each hint has one subject that bears out the claim and one that refutes it;
// with the three ways to declare it, they give every verdict.
func TestVerdictOfEachHint(t *testing.T) {
	reads := tool("t", twice(ok(), ok()), restart(ok(), ok()))
	deletes := tool("t", twice(ok(deleted(notes)), ends(effect.IsError, "no such file")))
	adds := tool("t", twice(ok(created(notes)), ok(created("/work/2.txt"))))
	putsOnce := tool("t", twice(ok(created(notes)), ok()), restart(ok(created(notes)), ok()))
	calls := tool("t", once(ok(contacted("192.0.2.1:443"))))

	no := func(v verdict.Verdict, code, reason string) want { return want{v, ptr(false), false, code, reason} }
	tests := []struct {
		hint     hint.Name
		subject  judge.Subject
		observed bool
		code     string
		reason   string
	}{
		{hint.ReadOnly, reads, true, judge.NoEffect, "no effect in 4 effective calls"},
		{hint.ReadOnly, deletes, false, judge.EffectSeen, "deleted notes.txt; effects in 1 of 2 calls"},
		{hint.Destructive, adds, false, judge.OnlyAdded, "added something in 2 of 2 effective calls, nothing lost or replaced"},
		{hint.Destructive, deletes, true, judge.ContentLost, "deleted notes.txt; content lost or replaced in 1 of 2 calls"},
		{hint.Idempotent, putsOnce, true, judge.RepeatChangesNothing, "second call with the same arguments changed nothing; 2 of 2 pairs, 1 across a restart"},
		{hint.Idempotent, adds, false, judge.RepeatChanges, "second call with the same arguments created 2.txt; 1 of 1 pair"},
		{hint.OpenWorld, reads, false, judge.NoContact, "no contact in 4 effective calls"},
		{hint.OpenWorld, calls, true, judge.Contacted, "contacted 192.0.2.1:443 in 1 of 1 call"},
	}
	for _, tt := range tests {
		for _, declared := range []hint.Value{hint.Absent, hint.False, hint.True} {
			var v verdict.Verdict
			value, isDeclared := declared.Bool()
			switch {
			case tt.observed == tt.hint.Claim() && isDeclared && value == tt.hint.Claim():
				v = verdict.Supported
			case tt.observed == tt.hint.Claim():
				v = verdict.Overcautious
			case !isDeclared:
				v = verdict.Undeclared
			case value == tt.hint.Claim():
				v = verdict.Contradicted
			default:
				v = verdict.Confirmed
			}
			name := string(tt.hint) + " declared " + []string{"absent", "false", "true"}[declared] + " is " + string(v)
			t.Run(name, func(t *testing.T) {
				want := no(v, tt.code, tt.reason)
				want.Observed, want.Suggested = ptr(tt.observed), tt.observed
				got := judge.Tool(declares(tt.subject, tt.hint, declared), world).Hints[tt.hint]
				if diff := cmp.Diff(want, of(got)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if len(got.Evidence) == 0 {
					t.Error("no evidence for a hint that was decided")
				}
			})
		}
	}
}

func TestReadOnly(t *testing.T) {
	const h = hint.ReadOnly
	tests := map[string]struct {
		subject judge.Subject
		world   func(*judge.World)
		want    want
	}{
		"effects of failing calls count": {
			subject: tool("t", once(ends(effect.IsError, "full", created("/work/hold.json")))),
			want:    no(verdict.Contradicted, judge.FailedCallEffect, "created hold.json; effects in 1 of 1 call; a failing call changed state"),
		},
		"effects of a dying call count": {
			subject: tool("t", once(ends(effect.Died, "", overwrote(notes)))),
			want:    no(verdict.Contradicted, judge.FailedCallEffect, "overwrote notes.txt; effects in 1 of 1 call; a failing call changed state"),
		},
		"a rewritten file in an unknown format refutes": {
			subject: tool("t", once(ok(rewrote("/work/a.db")))),
			want:    no(verdict.Contradicted, judge.EffectSeen, "rewrote a.db; effects in 1 of 1 call"),
		},
		"the gravest effect of a call that succeeded is told first": {
			subject: tool("t", once(ok(appended("/work/log"))), set("existing file", once(ok(overwrote(notes))))),
			want:    no(verdict.Contradicted, judge.EffectSeen, "overwrote notes.txt (existing file); effects in 2 of 2 calls"),
		},
		"a renamed file is told as a rename": {
			subject: tool("t", once(ok(deleted("/work/a"), effect.Effect{Class: effect.Create, Kind: effect.KindFile, Target: "/work/b", RenamedFrom: "/work/a"}))),
			want:    no(verdict.Contradicted, judge.EffectSeen, "renamed a to b; effects in 1 of 1 call"),
		},
		"a volatile effect gives no verdict": {
			subject: tool("t", once(ok(volatile(overwrote(notes))))),
			want:    yes(verdict.Supported, judge.NoEffect, "no effect in 1 effective call"),
		},
		"contact and spawn do not contradict it": {
			subject: tool("t", once(ok(contacted("192.0.2.1:443"), change(effect.Spawn, effect.KindProcess, "git")))),
			want:    yes(verdict.Supported, judge.NoEffect, "no effect in 1 effective call"),
		},
		"two calls at the same time are never a verdict": {
			subject: tool("t", once(ok()), trial(effect.Concurrent, ok(created(notes)), ok())),
			want:    yes(verdict.Supported, judge.NoEffect, "no effect in 1 effective call"),
		},
		"silence of failing calls is no evidence": {
			subject: tool("t", once(ends(effect.IsError, "ENOENT:  no\nsuch file")), once(ends(effect.ProtocolError, "bad"))),
			want:    unknown(h, judge.NoEffectiveCall, "none of 2 calls took effect; the first failure said “ENOENT: no such file”"),
		},
		"silence of vacuous calls is no evidence": {
			subject: tool("t", once(ok().with(vacuous))),
			want:    unknown(h, judge.NoEffectiveCall, "not one call had anything to do"),
		},
		"a timeout is an error of the trial": {
			subject: tool("t", once(ends(effect.Timeout, ""))),
			want:    unknown(h, judge.TrialError, "not one call ended well: the first got no reply in time"),
		},
		"an unsettled world is an error of the trial": {
			subject: tool("t", once(ends(effect.Unsettled, ""))),
			want:    unknown(h, judge.TrialError, "not one call ended well: the first left the server unsettled"),
		},
		"a refused write makes silence worthless": {
			subject: tool("t", once(ok().with(readOnlyFS))),
			want:    unknown(h, judge.WriteRefused, "no effective call tells anything: the first was refused a write to /etc/app.conf"),
		},
		"a refused network makes silence worthless": {
			subject: tool("t", once(ok().with(offline))),
			want:    unknown(h, judge.NetworkDependent, "no effective call tells anything: the first needed the network, which was refused"),
		},
		"a set that never got an answer leaves a hole": {
			subject: tool("t", once(ok()), set("a host", once(ok().with(offline)))),
			want:    unknown(h, judge.Untried, "a call (a host) needed the network, which was refused"),
		},
		"a set that was answered once is no hole": {
			subject: tool("t", set("a", once(ends(effect.Timeout, ""))), set("a", once(ok()))),
			want:    yes(verdict.Supported, judge.NoEffect, "no effect in 1 effective call"),
		},
		"an existing target is needed where one can be named": {
			subject: targets(tool("t", set("missing path", once(ok()), effect.Missing))),
			want:    unknown(h, judge.Untried, "no call on an existing target took effect"),
		},
		"every value of an action-like enum is needed": {
			subject: tool("t", set("action list", once(ok()), effect.EnumValue), set("action purge", once(ends(effect.IsError, "id missing")), effect.EnumValue)),
			want:    unknown(h, judge.Untried, "no call (action purge) took effect"),
		},
		"what could not be planned is told": {
			subject: gap(tool("t", once(ok())), effect.Output, "no value for \"out\" validates"),
			want:    unknown(h, judge.Untried, "no value for \"out\" validates"),
		},
		"a gap that is not about state does not matter": {
			subject: gap(tool("t", once(ok())), effect.Outside, "a remote of unknown form"),
			want:    yes(verdict.Supported, judge.NoEffect, "no effect in 1 effective call"),
		},
		"a count growing over identical calls is reply-state": {
			subject: tool("t", twice(ok().with(replies(`{"length": 1, "at": "10:00:01"}`)), ok().with(replies(`{"length": 2, "at": "10:00:03"}`)))),
			want:    unknown(h, judge.ReplyState, "a number in the reply went up over identical calls, so there may be state that was not observed"),
		},
		"a clock in the reply is not reply-state": {
			subject: tool("t", twice(ok().with(replies("now 2026-01-01T10:00:01Z")), ok().with(replies("now 2026-01-01T10:00:02Z")))),
			want:    yes(verdict.Supported, judge.NoEffect, "no effect in 2 effective calls"),
		},
		"a world that does not show state supports nothing": {
			subject: tool("t", once(ok())),
			world:   func(w *judge.World) { w.SeesState = false },
			want:    unknown(h, judge.Unobservable, "changes of state could not be observed"),
		},
		"a world that shows state in part refutes": {
			subject: tool("t", once(ok(deleted(notes)))),
			world:   func(w *judge.World) { w.SeesState = false },
			want:    no(verdict.Contradicted, judge.EffectSeen, "deleted notes.txt; effects in 1 of 1 call"),
		},
		"a tool that was not called": {
			subject: judge.Subject{Skipped: "the entry is not an object"},
			want:    unknown(h, judge.NotCalled, "the entry is not an object"),
		},
		"a tool without trials": {
			subject: tool("t"),
			want:    unknown(h, judge.NotCalled, "no call was made"),
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := world
			if tt.world != nil {
				tt.world(&w)
			}
			got := judge.Tool(declares(tt.subject, h, hint.True), w).Hints[h]
			if diff := cmp.Diff(tt.want, of(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func targets(s judge.Subject) judge.Subject {
	s.NamesTarget = true
	return s
}

func outside(s judge.Subject) judge.Subject {
	s.NamesOutside = true
	return s
}

func gap(s judge.Subject, c effect.Coverage, reason string) judge.Subject {
	s.Untried = append(s.Untried, judge.Gap{Coverage: c, Reason: reason})
	return s
}

func TestDestructive(t *testing.T) {
	const h = hint.Destructive
	onlyAdded := "added something in 1 of 1 effective call, nothing lost or replaced"
	tests := map[string]struct {
		subject judge.Subject
		want    want
	}{
		"judged on evidence although readOnlyHint is claimed": {
			subject: tool("t", once(ok(overwrote(notes)))),
			want:    yes(verdict.Contradicted, judge.ContentLost, "overwrote notes.txt; content lost or replaced in 1 of 1 call"),
		},
		"an overwrite in a repeat counts": {
			subject: tool("t", twice(ok(created(notes)), ok(overwrote(notes)))),
			want:    yes(verdict.Contradicted, judge.ContentLost, "overwrote notes.txt; content lost or replaced in 1 of 2 calls"),
		},
		"a status field set is a replaced value": {
			subject: tool("t", once(ok(value("/work/a.json#/status", `"open"`, `"done"`)))),
			want:    yes(verdict.Contradicted, judge.ContentLost, "replaced a.json#/status; content lost or replaced in 1 of 1 call"),
		},
		"changed metadata is a modification": {
			subject: tool("t", once(ok(change(effect.Modify, effect.KindMetadata, notes)))),
			want:    yes(verdict.Contradicted, judge.ContentLost, "changed the metadata of notes.txt; content lost or replaced in 1 of 1 call"),
		},
		"a rewritten file leaves it undetermined": {
			subject: tool("t", once(ok(rewrote("/work/a.db"), appended(notes)))),
			want:    unknown(h, judge.UnknownFormat, "rewrote a.db in a format that is not understood, so whether content was lost is unknown"),
		},
		"a rewritten file beside a loss is a loss": {
			subject: tool("t", once(ok(rewrote("/work/a.db"), deleted(notes)))),
			want:    yes(verdict.Contradicted, judge.ContentLost, "deleted notes.txt; content lost or replaced in 1 of 1 call"),
		},
		"false needs a call on an existing target where the tool can name one": {
			subject: targets(tool("t", set("missing path", once(ok(created(notes))), effect.Missing), set("existing path", once(ends(effect.IsError, "denied")), effect.Existing))),
			want:    unknown(h, judge.Untried, "no call on an existing target took effect"),
		},
		"an existing target that took effect and lost nothing is enough": {
			subject: targets(tool("t", set("existing path", once(ok(appended(notes))), effect.Existing))),
			want:    no(verdict.Supported, judge.OnlyAdded, onlyAdded+", existing targets included"),
		},
		"a target refused because it already exists is a test": {
			subject: targets(tool("t", set("missing path", once(ok(created(notes))), effect.Missing), set("existing path", once(ends(effect.IsError, "File already exists")), effect.Existing))),
			want:    no(verdict.Supported, judge.OnlyAdded, onlyAdded+", existing targets included"),
		},
		"an edit that could double-apply must take effect": {
			subject: tool("t", once(ok(appended(notes))), set("repeated text", once(ends(effect.SoftError, "no match")), effect.DoubleApply)),
			want:    unknown(h, judge.Untried, "no edit that could apply twice took effect"),
		},
		"an output parameter must take effect": {
			subject: tool("t", once(ok(appended(notes))), set("out", once(ends(effect.SoftError, "no")), effect.Output)),
			want:    unknown(h, judge.Untried, "no call (out) took effect"),
		},
		"a gap of the plan is honoured": {
			subject: gap(tool("t", once(ok(appended(notes)))), effect.DoubleApply, "no text occurs twice"),
			want:    unknown(h, judge.Untried, "no text occurs twice"),
		},
		"an addition whose network was refused proves nothing more": {
			subject: tool("t", once(ok(appended(notes)).with(offline))),
			want:    unknown(h, judge.NetworkDependent, "no effective call tells anything: the first needed the network, which was refused"),
		},
		"an addition of a call that died proves nothing more": {
			subject: tool("t", once(ends(effect.Died, "", appended(notes)))),
			want:    unknown(h, judge.TrialError, "no effective call tells anything: the first ended the server"),
		},
		"an addition of failing calls alone supports nothing": {
			subject: tool("t", once(ends(effect.IsError, "full", appended(notes)))),
			want:    unknown(h, judge.NoEffectiveCall, "only failing calls changed state, and none of them lost anything"),
		},
		"a count kept beside the new entry loses nothing": {
			subject: tool("t", once(ok(entry(bookings), value("/work/bookings.json#/next", "4", "5")))),
			want:    no(verdict.Supported, judge.OnlyAdded, onlyAdded),
		},
		"a number that moves by more than the entries is a replaced value": {
			subject: tool("t", once(ok(entry(bookings), value("/work/bookings.json#/balance", "4", "90")))),
			want:    yes(verdict.Contradicted, judge.ContentLost, "replaced bookings.json#/balance; content lost or replaced in 1 of 1 call"),
		},
		"a timestamp kept beside the new entry loses nothing": {
			subject: tool("t", once(ok(entry(bookings), value("/work/bookings.json#/updated", `"2026-01-01T10:00:00Z"`, `"2026-01-02T10:00:00Z"`)))),
			want:    no(verdict.Supported, judge.OnlyAdded, onlyAdded),
		},
		"a timestamp that the arguments gave is a replaced value": {
			subject: tool("t", once(ok(value("/work/a.json#/due", `"2026-01-01"`, `"2026-01-02"`)).with(argues(`{"due":"2026-01-02"}`)))),
			want:    yes(verdict.Contradicted, judge.ContentLost, "replaced a.json#/due; content lost or replaced in 1 of 1 call"),
		},
		"a timestamp alone supports nothing": {
			subject: tool("t", once(ok(value("/work/a.json#/seen", `1767225600`, `1767225601`)))),
			want:    unknown(h, judge.NoEffectiveCall, "only a timestamp changed, nothing was added"),
		},
		"moot where readOnly was observed true, whatever is declared": {
			subject: tool("t", once(ok())),
			want:    no(verdict.Moot, judge.NothingToJudge, "no effect in 1 effective call, so there is nothing it could have destroyed"),
		},
		"untested where readOnly is untested": {
			subject: tool("t", once(ok().with(vacuous))),
			want:    unknown(h, judge.NoEffectiveCall, "not one call had anything to do"),
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := tt.subject
			s.Declared = hint.Set{hint.ReadOnly: hint.True, h: hint.False}
			got := judge.Tool(s, world).Hints[h]
			if diff := cmp.Diff(tt.want, of(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestIdempotent(t *testing.T) {
	const h = hint.Idempotent
	unchanged := "second call with the same arguments changed nothing; "
	tests := map[string]struct {
		subject judge.Subject
		want    want
	}{
		"a repeat that fails and changes nothing adds nothing": {
			subject: tool("t", twice(ok(created(notes)), ends(effect.IsError, "exists"))),
			want:    yes(verdict.Supported, judge.RepeatChangesNothing, unchanged+"1 of 1 pair"),
		},
		"a failing first call that is repeated without effect supports nothing": {
			subject: tool("t", twice(ends(effect.IsError, "full", created(notes)), ends(effect.IsError, "full"))),
			want:    unknown(h, judge.NoEffectiveCall, "only failing calls changed state, and repeating them changed nothing more"),
		},
		"equal replies do not matter": {
			subject: tool("t", twice(ok(created(notes)).with(replies("1 added")), ok().with(replies("0 added")))),
			want:    yes(verdict.Supported, judge.RepeatChangesNothing, unchanged+"1 of 1 pair"),
		},
		"a repeat that times out is an error of the trial": {
			subject: tool("t", twice(ok(created(notes)), ends(effect.Timeout, ""))),
			want:    unknown(h, judge.NoPair, "the repeat got no reply in time; 1 pair tried"),
		},
		"a repeat that kills the server is an error of the trial": {
			subject: tool("t", twice(ok(created(notes)), ends(effect.Died, ""))),
			want:    unknown(h, judge.NoPair, "the repeat ended the server; 1 pair tried"),
		},
		"a repeat whose network was refused is an error of the trial": {
			subject: tool("t", twice(ok(created(notes)), ends(effect.IsError, "").with(offline))),
			want:    unknown(h, judge.NoPair, "the repeat needed the network, which was refused; 1 pair tried"),
		},
		"a repeat that was refused a write is an error of the trial": {
			subject: tool("t", twice(ok(created(notes)), ok().with(readOnlyFS))),
			want:    unknown(h, judge.NoPair, "the repeat was refused a write to /etc/app.conf; 1 pair tried"),
		},
		"a dying repeat that changed more counts": {
			subject: tool("t", twice(ok(created(notes)), ends(effect.Died, "", created("/work/2")))),
			want:    no(verdict.Contradicted, judge.RepeatChanges, "second call with the same arguments created 2; 1 of 1 pair"),
		},
		"true needs a pair whose first call had a state effect": {
			subject: tool("t", once(ok(created(notes))), set("other", twice(ok(), ok()))),
			want:    unknown(h, judge.NoPair, "no repeated call had changed anything the first time; 1 pair tried"),
		},
		"without a repeat nothing is said": {
			subject: tool("t", once(ok(created(notes)))),
			want:    unknown(h, judge.NoPair, "no call was repeated"),
		},
		"one adding pair among clean ones refutes": {
			subject: tool("t", twice(ok(created(notes)), ok()), set("repeated text", twice(ok(overwrote(notes)), ok(overwrote(notes))))),
			want:    no(verdict.Contradicted, judge.RepeatChanges, "second call with the same arguments overwrote notes.txt (repeated text); 1 of 2 pairs"),
		},
		"de-duplication that does not survive a restart refutes": {
			subject: tool("t", twice(ok(entry(bookings)), ok()), restart(ok(entry(bookings)), ok(entry(bookings)))),
			want:    no(verdict.Contradicted, judge.RestartRepeatChanges, "second call with the same arguments added bookings.json#/bookings/3 after a restart, though it changed nothing in the same process; 1 of 2 pairs"),
		},
		"a restart that was run must be judged": {
			subject: tool("t", twice(ok(created(notes)), ok()), restart(ok(created(notes)), ends(effect.Died, ""))),
			want:    unknown(h, judge.NoPair, "no repeat across a restart could be judged"),
		},
		"a pair in one process is needed beside the restart": {
			subject: tool("t", restart(ok(created(notes)), ok())),
			want:    unknown(h, judge.NoPair, "no repeat in the same process could be judged"),
		},
		"a timestamp alone is no additional effect": {
			subject: tool("t", twice(ok(created(notes)), ok(value("/work/a.json#/at", `"2026-01-01T10:00:00Z"`, `"2026-01-01T10:00:05Z"`)))),
			want:    yes(verdict.Supported, judge.RepeatChangesNothing, unchanged+"1 of 1 pair"),
		},
		"a number that grows with every call is content": {
			subject: tool("t", twice(ok(value("/work/a.json#/n", "1", "2")), ok(value("/work/a.json#/n", "2", "3")))),
			want:    no(verdict.Contradicted, judge.RepeatChanges, "second call with the same arguments replaced a.json#/n; 1 of 1 pair"),
		},
		"a further entry is never volatile": {
			subject: tool("t", twice(ok(entry("/work/a.json#/0")), ok(entry("/work/a.json#/1")))),
			want:    no(verdict.Contradicted, judge.RepeatChanges, "second call with the same arguments added a.json#/1; 1 of 1 pair"),
		},
		"a volatile repeat changes nothing": {
			subject: tool("t", twice(ok(created(notes)), ok(volatile(overwrote(notes))))),
			want:    yes(verdict.Supported, judge.RepeatChangesNothing, unchanged+"1 of 1 pair"),
		},
		"a first call that came to nothing leaves the work to the second": {
			subject: tool("t", twice(ends(effect.IsError, "starting"), ok(created(notes)))),
			want:    unknown(h, judge.NoPair, "no repeated call had changed anything the first time; 1 pair tried"),
		},
		"a first call that timed out leaves the work to the second": {
			subject: tool("t", twice(ends(effect.Timeout, "", created("/work/1")), ok(created("/work/2")))),
			want:    unknown(h, judge.NoPair, "the first call of a pair got no reply in time; 1 pair tried"),
		},
		"a repeat rewriting an unknown format says nothing": {
			subject: tool("t", twice(ok(digest(rewrote("/work/a.db"), "1")), ok(digest(rewrote("/work/a.db"), "2")))),
			want:    unknown(h, judge.UnknownFormat, "rewrote a.db in a format that is not understood, so whether the repeat changed content is unknown"),
		},
		"a repeat ending in the same bytes adds nothing": {
			subject: tool("t", twice(ok(digest(rewrote("/work/a.db"), "1")), ok(digest(rewrote("/work/a.db"), "1")))),
			want:    yes(verdict.Supported, judge.RepeatChangesNothing, unchanged+"1 of 1 pair"),
		},
		"an edit that could double-apply must have been repeated": {
			subject: tool("t", twice(ok(created(notes)), ok()), set("repeated text", once(ok(appended(notes))), effect.DoubleApply)),
			want:    unknown(h, judge.Untried, "no edit that could apply twice took effect"),
		},
		"every value of an enum must have been repeated": {
			subject: tool("t", set("mode add", twice(ok(created(notes)), ok()), effect.EnumValue), set("mode drop", once(ok()), effect.EnumValue)),
			want:    unknown(h, judge.Untried, "no call (mode drop) took effect"),
		},
		"moot where readOnly was observed true": {
			subject: tool("t", twice(ok(), ok())),
			want:    yes(verdict.Moot, judge.NothingToJudge, "no effect in 2 effective calls, so a repeat adds nothing"),
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := judge.Tool(declares(tt.subject, h, hint.True), world).Hints[h]
			if diff := cmp.Diff(tt.want, of(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOpenWorld(t *testing.T) {
	const h = hint.OpenWorld
	tests := map[string]struct {
		subject judge.Subject
		world   func(*judge.World)
		want    want
	}{
		"contact in a failed call counts": {
			subject: tool("t", once(ends(effect.IsError, "offline", lookedUp("api.example.com")).with(offline))),
			want:    yes(verdict.Contradicted, judge.Contacted, "looked up api.example.com in 1 of 1 call"),
		},
		"loopback is never the open world": {
			subject: tool("t", once(ok(touchedLoop("127.0.0.1:80")))),
			want:    no(verdict.Supported, judge.NoContact, "no contact in 1 effective call"),
		},
		"a tool that writes may still be closed": {
			subject: tool("t", once(ok(deleted(notes)))),
			want:    no(verdict.Supported, judge.NoContact, "no contact in 1 effective call"),
		},
		"silence needs an effective call": {
			subject: tool("t", once(ends(effect.IsError, "bad id"))),
			want:    unknown(h, judge.NoEffectiveCall, "not one call took effect; the first failure said “bad id”"),
		},
		"silence needs a world that shows contact": {
			subject: tool("t", once(ok())),
			world:   func(w *judge.World) { w.SeesContact = false },
			want:    unknown(h, judge.Unobservable, "contact with the network could not be observed"),
		},
		"an argument that can name an outside target must have been tried": {
			subject: outside(tool("t", once(ok()))),
			want:    unknown(h, judge.Untried, "no call named anything outside, though an argument can"),
		},
		"an outside target that was tried and not contacted": {
			subject: outside(tool("t", once(ok()), set("a host", once(ends(effect.IsError, "unknown scheme")), effect.Outside))),
			want:    no(verdict.Supported, judge.NoContact, "no contact in 1 effective call"),
		},
		"an outside target that could not be planned": {
			subject: gap(outside(tool("t", set("a host", once(ok()), effect.Outside))), effect.Outside, "a remote of unknown form"),
			want:    unknown(h, judge.Untried, "a remote of unknown form"),
		},
		"what the server also contacts unasked is unclear": {
			subject: tool("t", once(ok(contacted("192.0.2.1:443")))),
			world:   func(w *judge.World) { w.Noise = []effect.Effect{contacted("192.0.2.1:443")} },
			want:    unknown(h, judge.UnclearContact, "contacted 192.0.2.1:443, as the server also does without the tool"),
		},
		"another contact beside it is the tool's own": {
			subject: tool("t", once(ok(contacted("192.0.2.1:443"), contacted("192.0.2.2:443")))),
			world:   func(w *judge.World) { w.Noise = []effect.Effect{contacted("192.0.2.1:443")} },
			want:    yes(verdict.Contradicted, judge.Contacted, "contacted 192.0.2.2:443 in 1 of 1 call"),
		},
		"judged where the state could not be": {
			subject: tool("t", once(ok())),
			world:   func(w *judge.World) { w.SeesState = false },
			want:    no(verdict.Supported, judge.NoContact, "no contact in 1 effective call"),
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := world
			if tt.world != nil {
				tt.world(&w)
			}
			s := judge.MarkIncidental(w, []judge.Subject{declares(tt.subject, h, hint.False)})[0]
			if diff := cmp.Diff(tt.want, of(judge.Tool(s, w).Hints[h])); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Three tools that reach the same host are an API's tools, not telemetry.
func TestSharedHostIsNoBookkeeping(t *testing.T) {
	var subjects []judge.Subject
	for _, name := range []string{"a", "b", "c"} {
		subjects = append(subjects, tool(name, once(ok(contacted("192.0.2.1:443")))))
	}
	for _, s := range judge.MarkIncidental(world, subjects) {
		if got := judge.Tool(s, world).Hints[hint.OpenWorld].Verdict; got != verdict.Undeclared {
			t.Errorf("openWorldHint of %s is %s, want undeclared", *s.Name, got)
		}
	}
}

// Evidence names the most telling trial first and at most five in all; a value
// that is no boolean is kept, and counts as absent.
func TestToolAsAWhole(t *testing.T) {
	trials := []effect.Trial{once(ok()), once(ends(effect.IsError, "no")), once(ok(appended(notes)))}
	for range 6 {
		trials = append(trials, once(ok(deleted(notes))))
	}
	s := tool("t", trials...)
	s.Index = 4
	s.Raw = map[hint.Name]json.RawMessage{hint.ReadOnly: json.RawMessage(`"true"`)}
	got := judge.Tool(s, world)

	if diff := cmp.Diff([]int{4, 9, 8}, []int{got.Index, got.Made, got.Effective}); diff != "" {
		t.Errorf("index, calls made, calls effective (-want +got):\n%s", diff)
	}
	h := got.Hints[hint.ReadOnly]
	if diff := cmp.Diff([]string{"e4", "e3", "e5", "e6", "e7"}, h.Evidence); diff != "" {
		t.Errorf("evidence (-want +got):\n%s", diff)
	}
	if h.Verdict != verdict.Undeclared || string(h.DeclaredRaw) != `"true"` || h.Tier != verdict.Namespaces {
		t.Errorf("hint = %+v, want undeclared with its raw text and tier", h)
	}
}
