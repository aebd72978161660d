package argument

import (
	"fmt"
	"slices"
	"strings"
)

// scene says what one argument set is to be: which targets, which optional
// parameters, which operation.
type scene struct {
	label    string
	fallback bool
	// kind decides the paths whose own words do not.
	kind kind
	// missing targets do not exist; occupied destinations and outputs do.
	missing, occupied bool
	// single edits look for text that occurs once, not several times.
	single bool
	// relative writes every path from the workspace; empty takes an empty
	// folder; local gives a path where an address is accepted.
	relative, empty, local bool
	// with names optional parameters to give; all gives every one; without
	// names top-level ones to leave out whatever the rest says.
	with    map[string]bool
	all     bool
	without map[string]bool
	// fixed gives values by parameter path, branch the object shape.
	fixed  map[string]any
	branch map[string]int
}

// wants reports whether an optional parameter is part of the scene, for itself
// or for what lies in it.
func (s *scene) wants(path string) bool {
	return concerns(s.with, path) || concerns(s.fixed, path) || concerns(s.branch, path)
}

func concerns[V any](names map[string]V, path string) bool {
	for name := range names {
		if name == path || strings.HasPrefix(name, path+".") {
			return true
		}
	}
	return false
}

// set makes a set of names.
func set(names ...string) map[string]bool {
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out
}

// mainScenes are the sets of a tool apart from its operations, the most
// telling first.
func (p *planner) mainScenes() []scene {
	core := p.core()
	primary := p.primary()
	scenes := []scene{{label: p.baseLabel(), kind: file}}
	if len(core) > 0 {
		scenes = append(scenes, scene{label: p.coreLabel(), kind: file, with: core})
	}
	if primary != nil && primary.kind == either {
		scenes = append(scenes, scene{label: "existing folder", kind: dir, with: core})
	}
	if p.has(destination) || p.has(output) {
		scenes = append(scenes, scene{label: "destination that exists", kind: file, with: core, occupied: true})
	}
	if primary != nil || p.has(identity) {
		scenes = append(scenes, scene{label: "missing target", kind: file, with: core, missing: true})
	}
	scenes = append(scenes, p.outputScenes(core)...)
	scenes = append(scenes, p.outsideScenes(core)...)
	scenes = append(scenes, p.flagScenes(core)...)
	if p.hasOptional() {
		scenes = append(scenes, scene{label: "all parameters", kind: file, all: true})
	}
	return scenes
}

// core names the optional parameters without which a call says little: the
// target, the ends of a copy, the text of an edit or else of a write.
func (p *planner) core() map[string]bool {
	out := map[string]bool{}
	edits := p.has(sought) && p.has(replacement)
	for _, q := range p.params {
		if q.required || q.view.hasPreset && !q.role.isPath() {
			continue
		}
		switch q.role {
		case target, source, destination:
		case sought, replacement:
		case content:
			if edits || !p.has(target) {
				continue
			}
		default:
			continue
		}
		if p.isTop(q) || p.requiredAbove(q) {
			out[q.path] = true
		}
	}
	return out
}

func (p *planner) isTop(q *param) bool { return q.path == q.top }

// requiredAbove reports a nested parameter whose top-level one is required.
func (p *planner) requiredAbove(q *param) bool {
	top := p.byPath[q.top]
	return top != nil && top.required
}

// primary is the path that the tool works on; nil when it has none.
func (p *planner) primary() *param {
	var found *param
	for _, q := range p.params {
		if q.role != target && q.role != source {
			continue
		}
		better := found == nil || found.kind == root && q.kind != root ||
			q.required && !found.required && (q.kind != root || found.kind == root)
		if better {
			found = q
		}
	}
	return found
}

// onlyRequired labels the first set of a tool without a target.
const onlyRequired = "required parameters only"

func (p *planner) baseLabel() string {
	required := false
	for _, q := range p.params {
		required = required || q.required
	}
	primary := p.primary()
	switch {
	case !required && len(p.schema.at(p.schema.root).required) == 0:
		return "no arguments"
	case primary == nil || !primary.required:
		return onlyRequired
	case len(p.core()) > 0:
		return p.targetLabel(primary)
	}
	return p.coreLabel()
}

func (p *planner) coreLabel() string {
	primary := p.primary()
	switch {
	case p.has(sought) && p.has(replacement) && len(p.files) > 0:
		if text := p.files[0].Text; repeatedLine(text) == "" && repeatedWord(text) == "" {
			return "text that the file contains"
		}
		return "text that occurs more than once"
	case p.has(source) && p.has(destination):
		return "existing source, new destination"
	case primary == nil:
		return "text to write"
	}
	return p.targetLabel(primary)
}

func (p *planner) targetLabel(primary *param) string {
	switch {
	case primary.kind == root || primary.kind == dir:
		return "existing folder"
	case len(p.files) == 0:
		return "new file"
	}
	return "existing file"
}

// outputScenes put each optional output on a file that exists.
func (p *planner) outputScenes(core map[string]bool) []scene {
	var out []scene
	for _, q := range p.params {
		if q.role == output && !q.required {
			with := set(q.path)
			for name := range core {
				with[name] = true
			}
			out = append(out, scene{label: fmt.Sprintf("%s on an existing file", q.path), kind: file, with: with, occupied: true})
		}
	}
	return out
}

// flagScenes turn each optional flag from its default, and each required one
// from the value that lets the call take effect.
func (p *planner) flagScenes(core map[string]bool) []scene {
	var out []scene
	for _, q := range p.params {
		if q.role != flag || !p.isTop(q) && !p.requiredAbove(q) {
			continue
		}
		value := q.view.preset != true
		if _, stated := q.view.preset.(bool); q.required && !stated {
			value = dryWords.any(q.words)
		}
		out = append(out, scene{
			label: fmt.Sprintf("%s: %t", q.path, value), kind: file, with: core,
			fixed:    map[string]any{q.path: value},
			missing:  value && lex("parents create").any(q.words),
			occupied: value && lex("overwrite force replace clobber").any(q.words),
		})
	}
	return out
}

// outsideScenes give each optional parameter that can name the outside.
func (p *planner) outsideScenes(core map[string]bool) []scene {
	var out []scene
	for _, q := range p.params {
		if q.role.isOutside() && !q.required {
			with := set(q.path)
			for name := range core {
				with[name] = true
			}
			out = append(out, scene{label: q.path + " outside", kind: file, with: with})
		}
	}
	return out
}

func (p *planner) hasOptional() bool {
	return slices.ContainsFunc(p.params, func(q *param) bool { return !q.required && q.role != flag })
}

// fallbackScenes are other ways to make the call take effect.
func (p *planner) fallbackScenes() []scene {
	core := p.core()
	var out []scene
	if p.has(sought) {
		out = append(out, scene{label: "text that occurs once", kind: file, with: core, single: true})
	}
	primary := p.primary()
	if primary != nil && primary.kind != file && p.world.emptyFolder() != "" && !p.within {
		out = append(out, scene{label: "empty folder", kind: dir, with: core, empty: true})
	}
	if primary != nil && !strings.Contains(strings.ToLower(primary.text()), "absolute") {
		out = append(out, scene{label: "path relative to the workspace", kind: file, with: core, relative: true})
	}
	for _, q := range p.params {
		if q.role == url && fileWords.any(words(q.text())) {
			out = append(out, scene{label: q.path + " as a path", kind: file, with: core, local: true})
			break
		}
	}
	for i := range out {
		out[i].fallback = true
	}
	return out
}

// actionScenes try every operation: each value of an enum of operations, each
// object shape of a union.
func (p *planner) actionScenes() []scene {
	var out []scene
	for _, q := range p.params {
		if q.role == action {
			out = append(out, p.valueScenes(q)...)
		}
		for i := range q.branches {
			if q.branches > 1 {
				out = append(out, scene{
					label: fmt.Sprintf("%s, shape %d", q.path, i+1), kind: file,
					with: p.core(), branch: map[string]int{q.path: i},
				})
			}
		}
	}
	for i := range p.schema.at(p.schema.root).branches {
		if i > 0 {
			out = append(out, scene{label: fmt.Sprintf("shape %d", i+1), kind: file, branch: map[string]int{"": i}})
		}
	}
	return out
}

func (p *planner) valueScenes(q *param) []scene {
	values := q.item.enum
	if len(values) == 0 {
		values = q.choices
	}
	var out []scene
	for _, v := range values {
		text, ok := v.(string)
		if !ok || text == "" {
			continue
		}
		with, confirmed := p.relevant(q, text, values)
		fixed := map[string]any{q.path: v}
		for _, name := range confirmed {
			fixed[name] = true
		}
		s := scene{label: fmt.Sprintf("%s: %s", q.path, text), kind: file, with: with, fixed: fixed, occupied: true}
		if makingVerbs.any(words(text)) && p.primary() != nil {
			fresh := s
			fresh.missing, fresh.occupied = true, false
			fresh.label += ", missing target"
			out = append(out, fresh)
		}
		out = append(out, s)
	}
	return out
}

// relevant names the optional parameters that go with one operation. A
// description that names operations decides; without one, whatever carries a
// target or a text goes along. Flags that confirm are given too.
func (p *planner) relevant(choice *param, value string, values []any) (with map[string]bool, confirmed []string) {
	with = map[string]bool{}
	for _, q := range p.siblings(choice) {
		if q == choice || q.required {
			continue
		}
		if q.role == flag {
			if confirmWords.any(q.words) && !lex("force").any(q.words) && q.item.is("boolean") {
				confirmed = append(confirmed, q.path)
			}
			continue
		}
		if named := mentioned(q.text(), values); len(named) > 0 {
			with[q.path] = slices.Contains(named, value)
			continue
		}
		with[q.path] = carries(q)
	}
	for name, in := range with {
		if !in {
			delete(with, name)
		}
	}
	return with, confirmed
}

// carries reports a parameter that an operation may need though no
// description says so.
func carries(q *param) bool {
	switch q.role {
	case target, source, destination, content, sought, replacement, identity:
		return true
	case plain:
		return !q.view.hasPreset && (q.view.is("object") || q.view.is("array") || q.view.is("string") && len(q.view.enum) == 0)
	}
	return false
}

// mentioned lists the operations that a description names.
func mentioned(prose string, values []any) []string {
	spaced := " " + strings.Join(words(prose), " ") + " "
	var out []string
	for _, v := range stringsOf(values) {
		if w := words(v); len(w) > 0 && strings.Contains(spaced, " "+strings.Join(w, " ")+" ") {
			out = append(out, v)
		}
	}
	return out
}
