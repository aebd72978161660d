package judge

import (
	"path"
	"slices"
	"strings"

	"github.com/ax-check/ax-check/internal/effect"
	"github.com/ax-check/ax-check/internal/verbs"
)

// manyTools is how many tools must write a place in every call before that
// alone makes it a log: a server of so many tools without a single reader is
// not to be expected.
const manyTools = 6

// MarkIncidental gives copies of the subjects in which the noise of the world
// is gone and bookkeeping is marked incidental. It must see all tools of the
// run at once, because bookkeeping is known by unrelated tools doing it too.
//
// Noise is a state effect that the server also has unasked, at the same place
// with the same content; one that goes further than the noise stays.
//
// An addition (file created, content or entry appended) or a replaced value is
// incidental when one of these holds:
//
//	(a) A call that named no tool makes it too. No tool's work is in such a
//	    call. A file that it creates says less, for a store may be laid out by
//	    whoever comes first: then the content must be the same, or a further
//	    such call must have added to it.
//	(b) Every call that took effect makes it, and so do calls that came to
//	    nothing by their own word (failed, or vacuous) of at least two tools,
//	    and most such calls (some are turned down before the server's own code
//	    sees them); three tools at least make it. That is a wrapper's log. A
//	    store fails this test: some tool only reads it, or failing calls leave it
//	    alone. Without such calls it takes at least six tools, all of them
//	    writing in every call.
//	(c) The file is only ever added to, every first effective call that does so
//	    also changes something else that is not bookkeeping itself, and for three
//	    tools or more that is more than appending. That is an audit trail, the
//	    change itself is beside it and counts. A repeat that leaves only a line in
//	    the trail has therefore changed nothing that counts.
//	(d) It lies in a cache or temporary folder, neither the arguments nor the
//	    reply of the call name it, and no other tool's effect touches it; a bare
//	    folder there may be made by several.
//
//	(e) The file is only ever added to, and three tools or more that say they
//	    read (the names and descriptions are taken at their word here, in the
//	    server's favour) make it, each in every call that took effect. Tools that
//	    read do not fill a store together; they share a log, an index or a cache.
//	    It excuses these tools alone, and no entry inside a document.
//	(f) The server makes it without any call as well, at the same place and of the
//	    same kind: a timer's work, which may fall into any call.
//
// So three honest tools that write one store stay accountable, because (b) asks
// for more than their agreement and (c) for a change elsewhere. Deletions are
// never incidental. Where (b) fails for nothing but too few tools, the effects
// count and the subject's Doubtful names the file.
//
// Two kinds of effect cannot be compared by content: a contact (a server that
// checks its token when it starts has tools that use the same host), and a
// file rewritten in an unknown format (a tool's change may be beside the
// bookkeeping). Neither is ever noise. Where the server also makes them unasked
// or for a call that named no tool, or (b) holds for the file, they are marked
// incidental, and the judge takes them as unclear: they are not held against
// the tool, and what else the call did not do is not held in its favour.
func MarkIncidental(world World, subjects []Subject) []Subject {
	out := make([]Subject, len(subjects))
	for i, s := range subjects {
		s.Trials = withoutNoise(s.Trials, world.Noise)
		s.Doubtful = nil
		out[i] = s
	}
	b := newBook(world, out)
	for i := range out {
		b.mark(i)
	}
	return out
}

// withoutNoise copies the trials, leaving out what the noise accounts for. Each
// noise effect accounts for at most one equal effect of a call.
func withoutNoise(trials []effect.Trial, noise []effect.Effect) []effect.Trial {
	out := slices.Clone(trials)
	for i := range out {
		left := map[int][]effect.Effect{}
		var kept []effect.Effect
		for _, e := range out[i].Effects {
			if _, begun := left[e.Call]; !begun {
				left[e.Call] = slices.Clone(noise)
			}
			n := slices.IndexFunc(left[e.Call], func(n effect.Effect) bool { return sameChange(e, n) })
			if n < 0 {
				kept = append(kept, e)
				continue
			}
			left[e.Call] = slices.Delete(left[e.Call], n, n+1)
		}
		out[i].Effects = kept
	}
	return out
}

// sameChange reports the same change of state to the same content, in which
// only timestamps may differ.
func sameChange(a, b effect.Effect) bool {
	if a.Class == effect.Contact || a.Class == effect.Rewritten || a.Class != b.Class || a.Kind != b.Kind || a.Target != b.Target {
		return false
	}
	if a.Digest == b.Digest && (a.Digest != "" || a.Class == effect.Delete || a.Kind == effect.KindDir) {
		return true
	}
	return a.After != nil && sameText(a.After, b.After) && sameText(a.Before, b.Before) && !a.Truncated && !b.Truncated
}

func sameText(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return withoutTimes(*a) == withoutTimes(*b)
}

// book is every answered call of every tool, for telling bookkeeping apart.
type book struct {
	world    World
	subjects []Subject
	entries  []entry
	touched  map[string]agreement // by spot
	trails   map[string]bool      // by file
	readers  map[string]bool      // by file
}

type entry struct {
	tool int
	call
	all []effect.Effect
}

// worked reports a call that took effect by its own word, not by its effects,
// which are in question here.
func (e entry) worked() bool { return e.made().Outcome == effect.OK && !e.made().Vacuous }

func (e entry) touches(spot effect.Effect) bool {
	return slices.ContainsFunc(e.all, func(x effect.Effect) bool { return !x.Volatile && sameSpot(x, spot) })
}

func newBook(world World, subjects []Subject) *book {
	b := &book{world: world, subjects: subjects, touched: map[string]agreement{}, trails: map[string]bool{}, readers: map[string]bool{}}
	for i, s := range subjects {
		for _, k := range newCase(s, world).calls {
			if k.made().Replied() {
				b.entries = append(b.entries, entry{tool: i, call: k, all: k.effects()})
			}
		}
	}
	return b
}

func (b *book) mark(tool int) {
	s := &b.subjects[tool]
	for i := range s.Trials {
		t := &s.Trials[i]
		for j, e := range t.Effects {
			if e.Volatile || e.Call < 1 || e.Call > len(t.Calls) {
				continue
			}
			c := t.Calls[e.Call-1]
			if b.incidental(tool, c, e) {
				t.Effects[j].Incidental = true
			} else if file := fileOf(e); b.mayBeLog(c, e) && !slices.Contains(s.Doubtful, file) {
				s.Doubtful = append(s.Doubtful, file)
			}
		}
	}
	slices.Sort(s.Doubtful)
}

func (b *book) incidental(tool int, c effect.Call, e effect.Effect) bool {
	switch e.Class {
	case effect.Contact:
		return b.unasked(e)
	case effect.Rewritten:
		return b.unasked(e) || b.isShared(e)
	case effect.Create, effect.Append, effect.Modify:
		return b.isShared(e) || b.isTrail(e) || b.scratch(tool, c, e) ||
			b.subjects[tool].Says == verbs.Read && b.readersLog(e)
	}
	return false
}

// unasked reports what the server also does without a tool being called.
func (b *book) unasked(e effect.Effect) bool {
	same := func(x effect.Effect) bool { return sameSpot(x, e) }
	return slices.ContainsFunc(b.world.Noise, same) || slices.ContainsFunc(b.world.Rejected, same)
}

func (b *book) isShared(e effect.Effect) bool {
	return b.rejectedToo(e) || b.wrapperLog(e) || b.onTimer(e)
}

// onTimer is criterion (f).
func (b *book) onTimer(e effect.Effect) bool {
	return slices.ContainsFunc(b.world.Unasked, func(x effect.Effect) bool { return !x.Volatile && x.Class == e.Class && sameSpot(x, e) })
}

// minReaders is how many tools that say they read have to agree.
const minReaders = 3

// readersLog is criterion (e).
func (b *book) readersLog(e effect.Effect) bool {
	if !isAdditive(e) || e.Kind == effect.KindJSON {
		return false
	}
	return remember(b.readers, fileOf(e), func(file string) bool {
		always := map[int]bool{}
		for _, x := range b.entries {
			touched := false
			for _, y := range x.all {
				if y.Volatile || fileOf(y) != file {
					continue
				}
				if !isAdditive(y) {
					return false
				}
				touched = true
			}
			if b.subjects[x.tool].Says != verbs.Read || !x.worked() || x.n > 1 {
				continue // a cache is made by the first call, a log by each
			}
			if before, known := always[x.tool]; !known || before {
				always[x.tool] = touched
			}
		}
		agreeing := 0
		for _, a := range always {
			if a {
				agreeing++
			}
		}
		return agreeing >= minReaders
	})
}

func (b *book) isTrail(e effect.Effect) bool {
	return isAdditive(e) && remember(b.trails, fileOf(e), b.auditTrail)
}

func remember[T any](known map[string]T, key string, find func(key string) T) T {
	v, ok := known[key]
	if !ok {
		v = find(key)
		known[key] = v
	}
	return v
}

// rejectedToo is criterion (a).
func (b *book) rejectedToo(e effect.Effect) bool {
	return slices.ContainsFunc(b.world.Rejected, func(r effect.Effect) bool {
		if r.Volatile || !sameSpot(r, e) {
			return false
		}
		return r.Class != effect.Create || sameChange(r, e) || slices.ContainsFunc(b.world.Rejected, func(x effect.Effect) bool {
			return x.Class == effect.Append && fileOf(x) == fileOf(r)
		})
	})
}

// wrapperLog is criterion (b).
func (b *book) wrapperLog(e effect.Effect) bool {
	a := b.agreementOn(e)
	return a.always && (a.tools >= 3 && a.idle || a.working >= manyTools)
}

// mayBeLog reports an effect that (b) would set apart if there were more tools,
// and that the arguments did not ask for.
func (b *book) mayBeLog(c effect.Call, e effect.Effect) bool {
	if !isAdditive(e) && e.Class != effect.Modify || names(string(c.Arguments), fileOf(e)) {
		return false
	}
	a := b.agreementOn(e)
	return a.always && a.tools < 3
}

// agreement says who touches a spot.
type agreement struct {
	tools   int  // how many touch it at all
	working int  // how many of them in calls that took effect
	always  bool // every call that took effect touches it
	idle    bool // so do most calls that came to nothing, of at least two tools
}

func (b *book) agreementOn(spot effect.Effect) agreement {
	return remember(b.touched, spotKey(spot), func(string) agreement { return b.agree(spot) })
}

func (b *book) agree(spot effect.Effect) agreement {
	tools, working, idling := map[int]bool{}, map[int]bool{}, map[int]bool{}
	touching, idle := 0, 0
	for _, e := range b.entries {
		touches := e.touches(spot)
		switch {
		case e.worked() && !touches:
			return agreement{}
		case e.worked():
			working[e.tool], tools[e.tool] = true, true
		default:
			idle++
			if touches {
				touching++
				idling[e.tool], tools[e.tool] = true, true
			}
		}
	}
	return agreement{
		tools: len(tools), working: len(working), always: len(tools) > 0,
		idle: len(idling) >= 2 && 2*touching > idle,
	}
}

// auditTrail is criterion (c).
func (b *book) auditTrail(file string) bool {
	tools := map[int]bool{}
	for _, e := range b.entries {
		touched := false
		for _, x := range e.all {
			if fileOf(x) != file || !x.IsState() {
				continue
			}
			if !isAdditive(x) {
				return false
			}
			touched = true
		}
		if !touched {
			continue
		}
		switch {
		case e.n > 1 || !e.worked():
		case b.changesBeside(e, file):
			tools[e.tool] = true
		case !b.anythingBeside(e, file):
			return false
		}
	}
	return len(tools) >= 3
}

// anythingBeside reports whether a call had any effect on state outside the file
// that is not bookkeeping.
func (b *book) anythingBeside(e entry, file string) bool {
	return slices.ContainsFunc(e.all, func(x effect.Effect) bool {
		return x.IsState() && fileOf(x) != file && !b.inCache(fileOf(x)) && !b.isShared(x)
	})
}

// changesBeside reports whether a call changed something outside the file that
// is more than an appended entry, a clock, a count of entries, scratch or
// bookkeeping.
func (b *book) changesBeside(e entry, file string) bool {
	return slices.ContainsFunc(e.all, func(x effect.Effect) bool {
		return x.IsState() && fileOf(x) != file && x.Class != effect.Append &&
			!movesClock(x, e.made().Arguments) && !countsEntries(x, len(e.all)) &&
			!b.inCache(fileOf(x)) && !b.isShared(x)
	})
}

// scratch is criterion (d).
func (b *book) scratch(tool int, c effect.Call, e effect.Effect) bool {
	file := fileOf(e)
	if !b.inCache(file) || names(string(c.Arguments), file) || names(c.Reply, file) {
		return false
	}
	return e.Kind == effect.KindDir || !slices.ContainsFunc(b.entries, func(x entry) bool {
		return x.tool != tool && slices.ContainsFunc(x.all, func(y effect.Effect) bool { return !y.Volatile && fileOf(y) == file })
	})
}

func (b *book) inCache(file string) bool {
	return slices.ContainsFunc(b.world.CacheDirs, func(dir string) bool {
		return strings.HasPrefix(file, strings.TrimSuffix(dir, "/")+"/")
	})
}

// names reports whether a text contains the last element of a path as a word
// of its own.
func names(text, file string) bool {
	base := path.Base(file)
	for rest := text; ; {
		i := strings.Index(rest, base)
		if i < 0 {
			return false
		}
		end := i + len(base)
		if (i == 0 || !isNameByte(rest[i-1])) && (end == len(rest) || !isNameByte(rest[end])) {
			return true
		}
		rest = rest[i+1:]
	}
}

func isNameByte(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}
