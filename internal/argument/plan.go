// Package argument plans the arguments that a tool is called with: a few sets
// that make it take effect, and that put to the test what a verdict needs (an
// existing target, a missing one, an edit that could apply twice, every
// operation of an enum, an output, an address outside).
//
// A plan rests on the tool's schema and description and on the world that its
// server finds, never on the name of a server or tool. It is pure: the same
// tool, world and seed give the same bytes.
package argument

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/ax-check/ax-check/internal/effect"
)

// Tool is what a server publishes about a tool.
type Tool struct {
	Name, Title, Description string
	InputSchema              json.RawMessage
}

// Set is one set of arguments.
type Set struct {
	// Label says in plain words what the set tries ("existing file").
	Label string
	// Arguments is a JSON object, its keys in the order of the schema.
	Arguments json.RawMessage
	// Covers lists what the set puts to the test, in the order of effect's
	// constants.
	Covers []effect.Coverage
	// Fallback sets are worth a call only when no set before them took effect:
	// another way to write a path, an edit by text that occurs once.
	Fallback bool
}

// Gap is something that the plan could not put to the test.
type Gap struct {
	// Coverage is empty when no arguments could be made at all.
	Coverage effect.Coverage
	Reason   string
}

// Plan is the argument sets of one tool, the most telling first.
type Plan struct {
	Sets    []Set
	Untried []Gap
	// NamesTarget is true when a parameter can name something that exists: a
	// path, an id, a key, a name.
	NamesTarget bool
	// NamesOutside is true when a parameter can name a URL, host or remote.
	NamesOutside bool
}

// Bounds of a plan, in sets.
const (
	maxSets     = 8  // without operations and fallbacks
	maxBeside   = 4  // beside operations
	maxActions  = 12 // values of enums of operations
	maxFallback = 3
	maxRepairs  = 4
)

// New plans the calls of a tool. A schema that cannot be read or compiled is
// not fatal: the plan is then made from what can be read, unvalidated.
func New(tool Tool, world World, seed uint64) Plan {
	return newPlanner(tool, world, seed).plan()
}

// planner holds what all sets of one plan share.
type planner struct {
	*reader
	check checker
	world *index
	files []File // by how well they suit the tool
	// word and otherWord are plain, for names and for what does not exist.
	word, otherWord string
	// within is true when a folder is looked through, not acted on.
	within bool
	// onlyRoot is true when nothing but the root folder is named.
	onlyRoot bool
}

// nouns are plain words for names and new files; the seed picks one a tool.
var nouns = []string{"harbor", "meadow", "lantern", "willow", "pebble", "orchard", "compass", "saddle"}

func newPlanner(tool Tool, world World, seed uint64) *planner {
	s, _ := parseSchema(tool.InputSchema) // unreadable: an open schema
	p := &planner{reader: readParams(s, tool), check: newChecker(tool.InputSchema), world: newIndex(world)}
	h := fnv.New64a()
	h.Write([]byte(tool.Name))
	n := rand.New(rand.NewPCG(seed, h.Sum64())).IntN(len(nouns))
	p.word, p.otherWord = nouns[n], nouns[(n+1)%len(nouns)]
	asked := slices.Clone(p.name)
	for _, q := range p.params {
		if q.role.isPath() {
			asked = append(asked, q.words...)
			asked = append(asked, words(q.text())...)
		}
	}
	p.files = p.world.ranked(asked, p.has(content) || p.has(sought) || p.has(query) || p.has(regex))
	p.within = p.scans()
	p.onlyRoot = true
	for _, q := range p.params {
		if q.role == identity || q.role.isPath() && q.kind != root {
			p.onlyRoot = false
		}
		if q.role.isPath() && q.kind == file && q.relative {
			p.within = true // a file named from the folder
		}
	}
	return p
}

// isTelling reports a path that names what the tool works on, not just the
// folder that it lies in.
func (p *planner) isTelling(q *param) bool { return q.kind != root || p.onlyRoot }

func (p *planner) plan() Plan {
	d := &draft{planner: p, seen: map[string]int{}, outside: map[string]bool{}}
	actions := p.actionScenes()
	limit := maxSets
	if len(actions) > 0 {
		limit = max(maxBeside, maxSets-len(actions))
	}
	d.add(p.mainScenes(), limit)
	untriedActions := d.add(actions, maxActions)
	d.add(p.fallbackScenes(), maxFallback)
	return d.finish(untriedActions)
}

// draft is a plan in the making.
type draft struct {
	*planner
	sets    []Set
	seen    map[string]int // arguments to their place in sets
	outside map[string]bool
}

// add makes at most limit new sets of the scenes, and names those scenes that
// became none.
func (d *draft) add(scenes []scene, limit int) (unmade []string) {
	for _, s := range scenes {
		if limit == 0 {
			unmade = append(unmade, s.label)
			continue
		}
		switch d.try(s) {
		case made:
			limit--
		case failed:
			unmade = append(unmade, s.label)
		}
	}
	return unmade
}

type result int

const (
	made result = iota
	repeated
	failed
)

// try makes a set of a scene. Where optional parameters break the schema, they
// are left out and the rest is tried again.
func (d *draft) try(s scene) result {
	for range maxRepairs {
		g := &generator{
			planner: d.planner, scene: s, left: maxValues,
			covers: map[effect.Coverage]bool{}, outside: map[string]bool{}, given: map[string]bool{},
		}
		o, ok := g.arguments()
		if !ok {
			return failed
		}
		raw := encode(o)
		misfits, fits := d.check.misfits(raw)
		if fits {
			return d.keep(g, raw)
		}
		without := map[string]bool{}
		for _, name := range misfits {
			if q := d.byPath[name]; q != nil && !q.required && g.given[name] {
				without[name] = true
			}
		}
		if len(without) == 0 {
			return failed
		}
		for name := range s.without {
			without[name] = true
		}
		s.without = without
	}
	return failed
}

func (d *draft) keep(g *generator, raw []byte) result {
	for name := range g.outside {
		d.outside[name] = true
	}
	covers := covered(g.covers)
	if g.scene.label == onlyRequired && g.covers[effect.Existing] {
		g.scene.label = "existing target"
	}
	if i, ok := d.seen[string(raw)]; ok {
		both := map[effect.Coverage]bool{}
		for _, c := range append(covers, d.sets[i].Covers...) {
			both[c] = true
		}
		d.sets[i].Covers = covered(both)
		return repeated
	}
	d.seen[string(raw)] = len(d.sets)
	d.sets = append(d.sets, Set{Label: g.scene.label, Arguments: raw, Covers: covers, Fallback: g.scene.fallback})
	return made
}

// covered lists coverage in the order of effect's constants.
func covered(set map[effect.Coverage]bool) []effect.Coverage {
	var out []effect.Coverage
	for _, c := range []effect.Coverage{
		effect.Existing, effect.Missing, effect.DoubleApply, effect.EnumValue, effect.Output, effect.Outside,
	} {
		if set[c] {
			out = append(out, c)
		}
	}
	return out
}

// finish says what the sets leave untried.
func (d *draft) finish(untriedActions []string) Plan {
	plan := Plan{Sets: d.sets}
	tried := map[effect.Coverage]bool{}
	for _, s := range d.sets {
		for _, c := range s.Covers {
			tried[c] = true
		}
	}
	gap := func(c effect.Coverage, format string, a ...any) {
		plan.Untried = append(plan.Untried, Gap{c, fmt.Sprintf(format, a...)})
	}
	if len(d.sets) == 0 {
		gap("", "no arguments could be made that fit the schema")
	}
	var named, outputs []string
	for _, q := range d.params {
		switch {
		case q.role == identity || q.role.isPath() && d.isTelling(q):
			named = append(named, q.path)
		case q.role.isOutside():
			plan.NamesOutside = true
			if !d.outside[q.path] {
				gap(effect.Outside, "%q can name something outside, and no value is known that does", q.path)
			}
		}
		if q.role == output {
			outputs = append(outputs, q.path)
		}
	}
	plan.NamesTarget = len(named) > 0
	if plan.NamesTarget && !tried[effect.Existing] {
		gap(effect.Existing, "no existing value is known for %s", quoteAll(named))
	}
	if d.has(sought) && d.has(replacement) && !tried[effect.DoubleApply] {
		gap(effect.DoubleApply, "no text is known that the edit would find")
	}
	if len(outputs) > 0 && !tried[effect.Output] {
		gap(effect.Output, "no existing output is known for %s", quoteAll(outputs))
	}
	for _, label := range untriedActions {
		gap(effect.EnumValue, "not tried: %s", label)
	}
	return plan
}

// quoteAll names a few parameters in a sentence.
func quoteAll(names []string) string {
	const few = 3
	var out []string
	for _, n := range names[:min(few, len(names))] {
		out = append(out, fmt.Sprintf("%q", n))
	}
	if len(names) > few {
		out = append(out, fmt.Sprintf("%d more", len(names)-few))
	}
	return strings.Join(out, ", ")
}
