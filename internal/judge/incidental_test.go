package judge_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ax-check/ax-check/internal/effect"
	"github.com/ax-check/ax-check/internal/hint"
	"github.com/ax-check/ax-check/internal/judge"
	"github.com/ax-check/ax-check/internal/verdict"
)

const (
	serverLog = "/work/server.log"
	store     = "/work/account.json"
	trail     = "/work/events.jsonl#/9"
)

// failing makes a second trial of each tool: a call that the server turns down.
func failing(effects ...effect.Effect) effect.Trial {
	return once(ends(effect.IsError, "no such id", effects...))
}

// logged gives n tools that do nothing but append to a log in every call.
func logged(n int, more ...effect.Trial) []judge.Subject {
	var out []judge.Subject
	for i := range n {
		out = append(out, tool(fmt.Sprint("t", i), append([]effect.Trial{twice(ok(appended(serverLog)), ok(appended(serverLog)))}, more...)...))
	}
	return out
}

func TestMarkIncidental(t *testing.T) {
	write := func(effects ...effect.Effect) effect.Trial { return twice(ok(effects...), ok(effects...)) }
	tests := map[string]struct {
		subjects []judge.Subject
		rejected []effect.Effect
		want     []string // incidental targets over all subjects, as "tool target"
	}{
		"(a) a log that a rejected call writes too": {
			subjects: logged(1),
			rejected: []effect.Effect{appended(serverLog)},
			want:     []string{"t0 " + serverLog},
		},
		"(a) a log that the first call has to create": {
			subjects: []judge.Subject{tool("t0", twice(ok(created(serverLog)), ok(appended(serverLog))))},
			rejected: []effect.Effect{created(serverLog), appended(serverLog)},
			want:     []string{"t0 " + serverLog},
		},
		"(a) a store that whoever comes first lays out is no log": {
			subjects: []judge.Subject{tool("t0", once(ok(digest(created(store), "full"))))},
			rejected: []effect.Effect{digest(created(store), "empty")},
		},
		"(a) an empty store laid out by a tool as by a rejected call": {
			subjects: []judge.Subject{tool("t0", once(ok(digest(created(store), "empty"))))},
			rejected: []effect.Effect{digest(created(store), "empty")},
			want:     []string{"t0 " + store},
		},
		"(a) another value in the same document counts": {
			subjects: []judge.Subject{tool("t0", write(value(store+"#/calls", "1", "2"), value(store+"#/name", `"a"`, `"b"`)))},
			rejected: []effect.Effect{value(store+"#/calls", "0", "1")},
			want:     []string{"t0 " + store + "#/calls"},
		},
		"(b) a log that every call of three tools writes, failing ones too": {
			subjects: logged(3, failing(appended(serverLog))),
			want:     []string{"t0 " + serverLog, "t1 " + serverLog, "t2 " + serverLog},
		},
		"(b) log entries at different positions are at the same place": {
			subjects: []judge.Subject{
				tool("t0", write(entry("/work/log.jsonl#/1")), failing(entry("/work/log.jsonl#/3"))),
				tool("t1", write(entry("/work/log.jsonl#/2")), failing(entry("/work/log.jsonl#/3"))),
				tool("t2", write(created("/work/log.jsonl"))),
			},
			want: []string{"t0 /work/log.jsonl#/1", "t0 /work/log.jsonl#/3", "t1 /work/log.jsonl#/2", "t1 /work/log.jsonl#/3", "t2 /work/log.jsonl"},
		},
		"(b) three honest tools that write one store, and fail cleanly, count": {
			subjects: logged(3, failing()),
		},
		"(b) three honest tools that write one store, and never fail, count": {
			subjects: logged(3),
		},
		"(b) a failing call of one tool that changes the store makes no log of it": {
			subjects: append(logged(2), tool("liar", write(appended(serverLog)), failing(appended(serverLog)))),
		},
		"(b) a store that one tool only reads is no log": {
			subjects: append(logged(8, failing(appended(serverLog))), tool("reader", write())),
		},
		"(b) six tools that write in every call that takes effect": {
			subjects: logged(6, failing()),
			want:     []string{"t0 " + serverLog, "t1 " + serverLog, "t2 " + serverLog, "t3 " + serverLog, "t4 " + serverLog, "t5 " + serverLog},
		},
		"(c) an audit trail beside the real change": {
			subjects: []judge.Subject{
				tool("add", twice(ok(entry(trail), created("/work/b/1.json")), ok(entry(trail), created("/work/b/2.json")))),
				tool("set", twice(ok(entry(trail), overwrote("/work/b/1.json")), ok(entry(trail)))),
				tool("del", twice(ok(entry(trail), deleted("/work/b/1.json")), ends(effect.IsError, "gone", entry(trail)))),
				tool("get", write()),
			},
			want: []string{"add " + trail, "set " + trail, "del " + trail},
		},
		"(c) one call that leaves its work in the file makes it a store": {
			subjects: []judge.Subject{
				tool("add", write(entry(trail), created("/work/b/1.json"))),
				tool("set", write(entry(trail), overwrote("/work/b/1.json"))),
				tool("note", write(entry(trail))),
				tool("get", write()),
			},
		},
		"(c) a file that is also changed in another way is no trail": {
			subjects: []judge.Subject{
				tool("add", write(entry(trail), created("/work/b/1.json"))),
				tool("set", write(entry(trail), overwrote("/work/b/1.json"))),
				tool("del", write(entry(trail), deleted("/work/b/1.json"), value(trail, "1", "2"))),
				tool("get", write()),
			},
		},
		"(c) a timestamp beside it is no real change": {
			subjects: []judge.Subject{
				tool("a", write(entry(trail), value(store+"#/at", "1767225600", "1767225601"))),
				tool("b", write(entry(trail), value(store+"#/at", "1767225600", "1767225601"))),
				tool("c", write(entry(trail), value(store+"#/at", "1767225600", "1767225601"))),
				tool("get", write()),
			},
		},
		"(d) a cache file that nobody names": {
			subjects: []judge.Subject{tool("a", write(created("/home/.cache/app/ab12"))), tool("b", write())},
			want:     []string{"a /home/.cache/app/ab12"},
		},
		"(d) a file in the temporary folder that the reply names": {
			subjects: []judge.Subject{tool("a", once(ok(created("/tmp/out.csv")).with(replies("written to /tmp/out.csv")))), tool("b", write())},
		},
		"(d) a file in the temporary folder that the arguments name": {
			subjects: []judge.Subject{tool("a", once(ok(created("/tmp/out.csv")).with(argues(`{"to":"out.csv"}`)))), tool("b", write())},
		},
		"(d) a part of a longer name names nothing": {
			subjects: []judge.Subject{tool("a", once(ok(created("/tmp/out")).with(argues(`{"to":"output"}`)))), tool("b", write())},
			want:     []string{"a /tmp/out"},
		},
		"(d) a store in the cache folder that another tool changes": {
			subjects: []judge.Subject{tool("a", write(created("/home/.cache/app/1"))), tool("b", write(deleted("/home/.cache/app/1"))), tool("c", write())},
		},
		"(d) a cache folder made by whoever comes first": {
			subjects: []judge.Subject{
				tool("a", once(ok(change(effect.Create, effect.KindDir, "/home/.cache/app")))),
				tool("b", once(ok(change(effect.Create, effect.KindDir, "/home/.cache/app")))), tool("c", write()),
			},
			want: []string{"a /home/.cache/app", "b /home/.cache/app"},
		},
		"deletions are never incidental": {
			subjects: []judge.Subject{tool("a", once(ok(deleted(notes))))},
			rejected: []effect.Effect{deleted(notes)},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := world
			w.Rejected = tt.rejected
			var got []string
			for _, s := range judge.MarkIncidental(w, tt.subjects) {
				seen := map[string]bool{}
				for _, tr := range s.Trials {
					for _, e := range tr.Effects {
						if line := *s.Name + " " + e.Target; e.Incidental && !seen[line] {
							seen[line] = true
							got = append(got, line)
						}
					}
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("incidental (-want +got):\n%s", diff)
			}
			for _, s := range tt.subjects {
				for _, tr := range s.Trials {
					for _, e := range tr.Effects {
						if e.Incidental {
							t.Fatal("the given subjects were changed")
						}
					}
				}
			}
		})
	}
}

func TestNoise(t *testing.T) {
	tick := func(text string) effect.Effect {
		e := appended("/work/tick.log")
		e.After = &text
		return e
	}
	tests := map[string]struct {
		noise []effect.Effect
		call  []effect.Effect
		want  []effect.Effect
	}{
		"the same change of content is noise": {
			noise: []effect.Effect{digest(overwrote(store), "1")},
			call:  []effect.Effect{digest(overwrote(store), "1")},
		},
		"another content is not": {
			noise: []effect.Effect{digest(overwrote(store), "1")},
			call:  []effect.Effect{digest(overwrote(store), "2")},
			want:  []effect.Effect{digest(overwrote(store), "2")},
		},
		"another class is not": {
			noise: []effect.Effect{digest(created(store), "1")},
			call:  []effect.Effect{digest(overwrote(store), "1")},
			want:  []effect.Effect{digest(overwrote(store), "1")},
		},
		"the same text with another timestamp is noise": {
			noise: []effect.Effect{digest(tick("10:00:01 tick\n"), "1")},
			call:  []effect.Effect{digest(tick("10:00:02 tick\n"), "2")},
		},
		"a further line in the same file is not": {
			noise: []effect.Effect{tick("10:00:01 tick\n")},
			call:  []effect.Effect{tick("10:00:02 tick\nbooked\n")},
			want:  []effect.Effect{tick("10:00:02 tick\nbooked\n")},
		},
		"the same entry twice is more than the noise": {
			noise: []effect.Effect{digest(entry(trail), "1")},
			call:  []effect.Effect{digest(entry(trail), "1"), digest(entry(trail), "1")},
			want:  []effect.Effect{digest(entry(trail), "1")},
		},
		"excerpts that are cut short say nothing": {
			noise: []effect.Effect{{Class: effect.Append, Kind: effect.KindFile, Target: notes, After: ptr("a"), Truncated: true}},
			call:  []effect.Effect{{Class: effect.Append, Kind: effect.KindFile, Target: notes, After: ptr("a"), Truncated: true}},
			want:  []effect.Effect{{Class: effect.Append, Kind: effect.KindFile, Target: notes, After: ptr("a"), Truncated: true}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := world
			w.Noise = tt.noise
			got := judge.MarkIncidental(w, []judge.Subject{tool("t", once(ok(tt.call...)))})[0].Trials[0].Effects
			for i := range tt.want {
				tt.want[i].Call = 1
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("effects left (-want +got):\n%s", diff)
			}
		})
	}
}

// What a log hides from the verdict, the reason says.
func TestIncidentalIsListedAndNotCounted(t *testing.T) {
	got := judge.Tool(judge.MarkIncidental(world, logged(3, failing(appended(serverLog))))[0], world)
	h := got.Hints[hint.ReadOnly]
	if h.Verdict != verdict.Overcautious || h.Reason != "no effect in 2 effective calls, apart from bookkeeping in server.log" {
		t.Errorf("readOnlyHint is %s: %s", h.Verdict, h.Reason)
	}
	if diff := cmp.Diff([]string{serverLog}, got.Incidental); diff != "" {
		t.Errorf("incidental (-want +got):\n%s", diff)
	}
}

// With too few tools to tell it counts, and the reason says so.
func TestTooFewToolsToTell(t *testing.T) {
	h := judge.Tool(judge.MarkIncidental(world, logged(2))[1], world).Hints[hint.ReadOnly]
	want := "appended to server.log; effects in 2 of 2 calls; every call writes server.log, but there are too few tools to tell whether it is a log"
	if h.Reason != want {
		t.Errorf("reason %q, want %q", h.Reason, want)
	}
	asked := tool("t", once(ok(appended(notes)).with(argues(`{"file":"notes.txt"}`))))
	h = judge.Tool(judge.MarkIncidental(world, []judge.Subject{asked})[0], world).Hints[hint.ReadOnly]
	if want := "appended to notes.txt; effects in 1 of 1 call"; h.Reason != want {
		t.Errorf("reason of a file that the arguments name: %q, want %q", h.Reason, want)
	}
}

// A file in an unknown format that is rewritten without the tool too may hide
// the tool's change: neither held against it nor in its favour.
func TestUnclearRewrite(t *testing.T) {
	w := world
	w.Noise = []effect.Effect{digest(rewrote("/work/a.db"), "1")}
	s := judge.MarkIncidental(w, []judge.Subject{tool("t", once(ok(digest(rewrote("/work/a.db"), "2"))))})[0]
	want := unknown(hint.ReadOnly, judge.UnknownFormat, "no effective call tells anything: the first rewrote a.db, as happens without the tool too, in a format that is not understood")
	if diff := cmp.Diff(want, of(judge.Tool(s, w).Hints[hint.ReadOnly])); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
