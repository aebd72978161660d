package argument

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/ax-check/ax-check/internal/effect"
)

const (
	maxValues   = 20_000 // values in one argument set
	maxOptional = 40     // optional parameters given at once
	maxText     = 1 << 16
	deepest     = 24 // levels of one argument set
)

// generator makes the arguments of one scene.
type generator struct {
	*planner
	scene  scene
	covers map[effect.Coverage]bool
	// outside names the outside parameters given, given all.
	outside map[string]bool
	given   map[string]bool
	// named is true once a path names the file that texts are taken from, edited
	// once something asks for an edit of it that can apply twice.
	named, edited bool
	left          int // values still allowed
}

// arguments makes the object of arguments; ok is false when a required value
// cannot be made.
func (g *generator) arguments() (*object, bool) {
	v := g.schema.at(g.schema.root)
	if len(v.branches) > 0 {
		v = g.schema.settled(g.schema.root, g.scene.branch[""])
	}
	out, ok := g.object(v, "", 0)
	if ok && g.named && g.edited {
		g.covers[effect.DoubleApply] = true
	}
	if ok && g.isDry(out) {
		clear(g.covers)
	}
	return out, ok
}

// isDry reports arguments that ask for a rehearsal: such a call puts nothing to
// the test.
func (g *generator) isDry(arguments *object) bool {
	for _, p := range g.params {
		if p.role != flag || !dryWords.any(p.words) || !g.isTop(p) {
			continue
		}
		value, given := arguments.values[p.name]
		if !given {
			value = p.view.preset
		}
		if value == true {
			return true
		}
	}
	return false
}

func (g *generator) object(v *view, prefix string, depth int) (*object, bool) {
	need := map[string]bool{}
	for _, n := range v.required {
		need[n] = true
	}
	out := newObject()
	optional := 0
	for _, prop := range v.props {
		name := prefix + prop.name
		required := need[prop.name]
		if !required {
			if optional >= maxOptional || !g.optional(name, depth) {
				continue
			}
			optional++
		}
		value, ok := g.property(prop, name, depth)
		switch {
		case ok:
			out.set(prop.name, value)
		case required:
			return nil, false
		}
	}
	for _, n := range v.required { // required, but described nowhere
		if _, given := out.values[n]; !given && !slices.ContainsFunc(v.props, func(p property) bool { return p.name == n }) {
			out.set(n, "example")
		}
	}
	for n := 1; len(out.keys) < v.minProps && n <= maxOptional; n++ {
		value, ok := g.value(v.extra, &param{path: prefix + "*"}, depth+1, 0)
		if !ok {
			return nil, false
		}
		out.set("example"+strconv.Itoa(n), value)
	}
	return out, true
}

// optional decides on a parameter that is not required. Inside an object, text
// for an edit belongs to it even when optional.
func (g *generator) optional(name string, depth int) bool {
	if g.scene.without[name] {
		return false
	}
	if g.scene.wants(name) {
		return true
	}
	p := g.byPath[name]
	if depth > 0 && p != nil && (p.role == sought || p.role == replacement) {
		return true
	}
	return g.scene.all && (p == nil || p.role != flag) && depth <= 2
}

func (g *generator) property(prop property, name string, depth int) (any, bool) {
	p := g.byPath[name]
	if p == nil {
		p = &param{path: name, name: prop.name, words: words(prop.name)}
	}
	g.given[name] = true
	return g.value(prop.schema, p, depth+1, 0)
}

// value makes the value of one place; i counts the elements of an array.
func (g *generator) value(place any, p *param, depth, i int) (any, bool) {
	g.left--
	if g.left < 0 || depth > deepest {
		return nil, false
	}
	v := g.schema.settled(place, g.scene.branch[p.path])
	if v.kind() == "array" {
		return g.array(v, p, depth)
	}
	if fixed, ok := g.scene.fixed[p.path]; ok {
		if p.role == action {
			g.covers[effect.EnumValue] = true
		}
		return fixed, true
	}
	if v.hasConstant {
		return v.constant, true
	}
	if len(v.enum) > 0 {
		return g.enumerated(v, p, i), true
	}
	switch v.kind() {
	case "object":
		prefix := p.path
		if prefix != "" {
			prefix += "."
		}
		if v.hasPreset && len(v.required) == 0 && !g.scene.wants(p.path) {
			return v.preset, true
		}
		return g.object(v, prefix, depth)
	case "boolean":
		return g.boolean(v, p), true
	case "integer", "number":
		return g.number(v, p), true
	case "null":
		return nil, true
	}
	return g.text(v, p, i)
}

// enumerated takes the default, else the first value that says something; the
// elements of a list take the values in turn.
func (g *generator) enumerated(v *view, p *param, i int) any {
	if v.hasPreset && i == 0 {
		return v.preset
	}
	start := max(0, slices.IndexFunc(v.enum, func(e any) bool { return e != nil && e != "" }))
	e := v.enum[(start+i)%len(v.enum)]
	if p.role == identity && g.world.holds(e) {
		g.covers[effect.Existing] = true
	}
	return e
}

func (g *generator) array(v *view, p *param, depth int) (any, bool) {
	n := max(v.minItems, 1)
	if p.role == target || p.role == source {
		n = max(n, 2)
	}
	if v.maxItems >= 0 {
		n = min(n, v.maxItems)
	}
	list := []any{}
	for i := range n {
		value, ok := g.value(v.items, p, depth+1, i)
		if !ok {
			return nil, false
		}
		if text, ok := value.(string); ok && slices.Contains(list, value) {
			if p.role.isPath() && i >= v.minItems {
				break // the world has no second one
			}
			if v.unique {
				value = text + "-" + strconv.Itoa(i+1)
			}
		}
		list = append(list, value)
	}
	return list, len(list) >= v.minItems
}

func (g *generator) boolean(v *view, p *param) bool {
	if b, ok := v.preset.(bool); ok {
		return b
	}
	return !dryWords.any(p.words)
}

// number takes the default, an example, else the smallest allowed value that
// is at least 1 (0 for an offset).
func (g *generator) number(v *view, p *param) any {
	switch p.role {
	case identity:
		if n, ok := g.knownNumber(v, p); ok {
			return n
		}
	case line:
		g.edited = g.edited || g.has(content)
	}
	if v.hasPreset {
		if n, ok := v.preset.(json.Number); ok {
			return n
		}
	}
	if n, ok := firstNumber(v.examples); ok {
		return n
	}
	x := 1.0
	switch {
	case lex("pid").any(p.words):
		x = 1 << 22 // above every process number that Linux gives
	case lex("offset skip").any(p.words):
		x = 0
	case lex("timeout").any(p.words):
		x = 1000
	}
	return bounded(v, x)
}

func firstNumber(list []any) (json.Number, bool) {
	for _, e := range list {
		if n, ok := e.(json.Number); ok {
			return n, true
		}
	}
	return "", false
}

// bounded moves x into the bounds of the schema.
func bounded(v *view, x float64) any {
	step := 1.0
	if v.multiple != nil && *v.multiple > 0 {
		step = *v.multiple
	}
	if v.min != nil {
		x = math.Max(x, *v.min)
	}
	if v.above != nil && x <= *v.above {
		x = math.Floor(*v.above) + step
	}
	if v.max != nil {
		x = math.Min(x, *v.max)
	}
	if v.below != nil && x >= *v.below {
		x = *v.below - step
		if v.kind() == "number" && v.above != nil && x <= *v.above {
			x = (*v.above + *v.below) / 2
		}
	}
	if v.multiple != nil && *v.multiple > 0 {
		x = math.Ceil(x/step) * step
	}
	if v.kind() == "integer" {
		x = math.Ceil(x)
	}
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return int64(1) // bounds beyond what a number holds: the validator decides
	}
	if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return int64(x)
	}
	return x
}
