package argument

import (
	"regexp"
	"slices"
	"strings"
)

// role is what a parameter is for, as its type, name and description tell.
type role int

const (
	plain       role = iota
	target           // path of what the tool works on
	source           // path that is copied, moved or read from, beside a destination
	destination      // path that is written, beside a source
	output           // path that a result is written to
	content          // text that is written
	sought           // text looked for by an edit
	replacement      // text put in its place
	glob
	excluded // pattern of what to leave out
	regex
	query
	sql
	command
	line // number of a line
	url  // names the outside, as do host, email and remote
	host
	email
	remote   // by a name of its own, such as that of a configured server
	identity // id, key or name of something in the tool's own world
	action   // enum of which every value is another operation
	flag     // boolean that changes what is done
)

func (r role) isPath() bool {
	return r == target || r == source || r == destination || r == output
}

func (r role) isOutside() bool { return r == url || r == host || r == email || r == remote }

// kind is what a path should lead to.
type kind int

const (
	either kind = iota // the words do not decide
	file
	dir
	root // the folder that everything else lies in
)

// param is one parameter of a tool, at the top level or nested.
type param struct {
	path     string // names from the top, joined with dots; array levels add nothing
	name     string
	words    []string
	place    any   // its schema
	view     *view // settled; of an array, see item
	item     *view // view of the elements of an array (of arrays), else view
	top      string
	required bool // at every level down to it
	role     role
	kind     kind
	// relative paths are written relative to the workspace.
	relative bool
	// choices are the operations that its description quotes, when no enum does.
	choices []any
	// branches is the number of object shapes to choose from, when several.
	branches int
}

func (p *param) text() string { return p.view.description + " " + p.item.description }

func (p *param) isString() bool { k := p.item.kind(); return k == "string" || k == "" }

// says reports whether a word stands in the parameter's description.
func (p *param) says(pattern *regexp.Regexp) bool { return pattern.MatchString(p.text()) }

// maxParams bounds the parameters whose purpose is looked at.
const maxParams = 400

// reader finds the parameters of a tool and what each is for.
type reader struct {
	schema *schema
	tool   Tool
	name   []string // words of the tool's name and title
	prose  []string // words of the first sentence of its description
	params []*param
	byPath map[string]*param
}

func readParams(s *schema, tool Tool) *reader {
	first, _, _ := strings.Cut(tool.Description, ". ")
	r := &reader{
		schema: s, tool: tool,
		name:   append(words(tool.Name), words(tool.Title)...),
		prose:  words(first),
		byPath: map[string]*param{},
	}
	v := s.at(s.root)
	r.collect(v, "", "", true, 0)
	r.classifyAll()
	return r
}

// maxDepth bounds the objects inside objects whose parameters are looked at.
const maxDepth = 5

func (r *reader) collect(v *view, prefix, top string, required bool, depth int) {
	if depth > maxDepth {
		return
	}
	need := map[string]bool{}
	for _, n := range v.required {
		need[n] = true
	}
	for _, prop := range v.props {
		path := prefix + prop.name
		if len(r.params) >= maxParams || r.byPath[path] != nil {
			continue
		}
		p := r.param(prop, path, top)
		p.required = required && need[prop.name]
		r.params = append(r.params, p)
		r.byPath[path] = p
		r.collect(p.item, path+".", p.top, p.required, depth+1)
	}
	for i := range v.branches {
		r.collect(r.schema.settled(v.branches[i], 0), prefix, top, required, depth+1)
	}
}

func (r *reader) param(prop property, path, top string) *param {
	if top == "" {
		top = prop.name
	}
	p := &param{path: path, name: prop.name, words: words(prop.name), place: prop.schema, top: top}
	p.view = r.schema.settled(prop.schema, 0)
	p.item = p.view
	open := r.schema.at(prop.schema)
	for range 3 {
		if p.item.kind() != "array" {
			break
		}
		open = r.schema.at(p.item.items)
		p.item = r.schema.settled(p.item.items, 0)
	}
	p.branches = r.shapes(open)
	if p.branches > 1 {
		item := *p.item
		item.branches = open.branches
		p.item = &item
	}
	return p
}

// shapes counts the branches of a union when all of them are objects: then
// each is another operation or another thing.
func (r *reader) shapes(v *view) int {
	for _, b := range v.branches {
		if !r.schema.settled(b, 0).is("object") {
			return 0
		}
	}
	return len(v.branches)
}

func (r *reader) classifyAll() {
	for _, p := range r.params {
		p.role = r.classify(p)
	}
	r.pairEdits()
	r.pairPaths()
	for _, p := range r.params {
		if p.role.isPath() {
			p.kind = r.kindOf(p)
			if p.kind == root && (p.role == output || p.role == destination) {
				p.kind = dir // a copy of the whole, beside it
			}
			p.relative = relativeOnly(p)
		}
	}
}

func (r *reader) classify(p *param) role {
	if r.isChoice(p) {
		return action
	}
	switch p.item.kind() {
	case "boolean":
		if flagWords.any(p.words) {
			return flag
		}
		return plain
	case "integer", "number":
		if lineHeads.last(p.words) || lineHeads.any(p.words) && head(p.words) == "number" {
			return line
		}
		if identityHeads.last(p.words) {
			return identity
		}
		return plain
	case "string", "":
		if len(p.item.enum) == 0 && !p.item.hasConstant {
			return r.classifyText(p)
		}
	}
	return plain
}

// isChoice reports an enum of operations: by its name, or by a mode-like name
// with a verb among its values. Quoted words of a description serve where an
// operation has no enum.
func (r *reader) isChoice(p *param) bool {
	if !p.isString() || !(actionHeads.last(p.words) || modeHeads.last(p.words)) {
		return false
	}
	values := p.item.enum
	if len(values) == 0 && p.item.kind() == "string" && !commandHeads.last(p.words) {
		for _, m := range quoted.FindAllStringSubmatch(p.text(), 24) {
			values = append(values, m[1])
		}
		if len(values) < 2 {
			return false
		}
		p.choices = values
	}
	if len(values) == 0 {
		return false
	}
	if actionHeads.last(p.words) && len(p.item.enum) > 0 {
		return true
	}
	for _, value := range stringsOf(values) {
		if actionVerbs.any(words(value)) {
			return true
		}
	}
	p.choices = nil
	return false
}

func (r *reader) classifyText(p *param) role {
	prose := strings.ToLower(p.text())
	switch p.item.format {
	case "uri", "url", "iri", "uri-reference":
		return url
	case "hostname", "idn-hostname", "ipv4", "ipv6":
		return host
	case "email", "idn-email":
		return email
	case "path", "file-path", "directory-path":
		return target
	case "uuid":
		return identity
	case "":
	default:
		return plain
	}
	switch {
	case urlHeads.last(p.words):
		return url
	case emailHeads.last(p.words):
		return email
	case hostHeads.last(p.words):
		return host
	case globHeads.last(p.words) || strings.Contains(prose, "glob pattern"):
		return r.patternRole(p, prose)
	case isPathName(p.words):
		return target
	case strings.Contains(prose, "sql") || head(p.words) == "sql":
		return sql
	case lexicon{"regex": true, "regexp": true}.any(p.words):
		return regex
	case queryHeads.last(p.words):
		if lex("sql select").any(append(r.prose, r.name...)) {
			return sql
		}
		return query
	case commandHeads.last(p.words):
		return command
	case contentHeads.last(p.words):
		return content
	case pathPhrase.MatchString(prose):
		return target
	case remoteHeads.last(p.words):
		return remote
	case identityHeads.last(p.words):
		return identity
	case urlPhrase.MatchString(p.text()):
		return url
	}
	return plain
}

// patternRole tells globs from regular expressions: by the parameter's own
// words, else by what the tool looks through (names or contents).
func (r *reader) patternRole(p *param, prose string) role {
	all := prose + " " + strings.ToLower(r.tool.Description)
	switch {
	case excludeWords.any(p.words):
		return excluded
	case strings.Contains(prose, "regex") || strings.Contains(prose, "regular expression"):
		return regex
	case strings.Contains(prose, "glob") || strings.Contains(prose, "*."):
		return glob
	case lex("glob wildcard mask include includes file files path").any(p.words):
		return glob
	case strings.Contains(all, "glob") || strings.Contains(all, "*."):
		return glob
	case strings.Contains(all, "regex") || strings.Contains(all, "regular expression"):
		return regex
	case lex("grep content contents text").any(append(r.prose, r.name...)):
		return regex
	}
	return glob
}

// isPathName reports a name whose head is a path: path, source_dir, file_name,
// outfile; not fileId, fileType or profile.
func isPathName(w []string) bool {
	h := head(w)
	if pathHeads[h] {
		return true
	}
	if h == "name" && len(w) > 1 && (fileWords[w[len(w)-2]] || dirWords[w[len(w)-2]]) {
		return true
	}
	if h == "to" && len(w) > 1 && w[0] == "save" {
		return true
	}
	for _, end := range []string{"file", "path", "dir", "folder"} {
		if strings.HasSuffix(h, end) && h != "profile" {
			return true
		}
	}
	return false
}

// pairEdits finds text that an edit looks for beside what replaces it, in the
// same object: old/new, search/replace, find/with, before/after.
func (r *reader) pairEdits() {
	for _, p := range r.params {
		if !r.isEditText(p) || !replaceWords.any(p.words) {
			continue
		}
		for _, q := range r.siblings(p) {
			if q != p && r.isEditText(q) && soughtWords.any(q.words) && !replaceWords.any(q.words) {
				q.role, p.role = sought, replacement
				break
			}
		}
	}
	for _, p := range r.params {
		anchor := lex("anchor marker").any(p.words) || lex("after before").any(p.words) && textHeads.last(p.words)
		if p.role != replacement && r.isEditText(p) && anchor && r.has(target) {
			p.role = sought
		}
	}
}

func (r *reader) isEditText(p *param) bool {
	if !p.isString() || len(p.item.enum) > 0 || p.role.isPath() || p.role.isOutside() {
		return false
	}
	return textHeads.last(p.words)
}

func (r *reader) siblings(p *param) []*param {
	parent := p.path[:len(p.path)-len(p.name)]
	var out []*param
	for _, q := range r.params {
		if q.path == parent+q.name {
			out = append(out, q)
		}
	}
	return out
}

func (r *reader) has(want role) bool {
	for _, p := range r.params {
		if p.role == want {
			return true
		}
	}
	return false
}

// pairPaths tells apart the two ends of a copy, and finds outputs. Words such
// as "from" and "to" are paths only where something speaks of files.
func (r *reader) pairPaths() {
	fileTool := fileWords.any(r.name) || dirWords.any(r.name) || lex("path paths").any(r.name)
	for _, p := range r.params {
		if !p.isString() || len(p.item.enum) > 0 || p.role.isOutside() || !sourceWords.any(p.words) {
			continue
		}
		for _, q := range r.siblings(p) {
			if q == p || !q.isString() || len(q.item.enum) > 0 || q.role.isOutside() || !destWords.any(q.words) || sourceWords.any(q.words) {
				continue
			}
			if couldBePath(p, fileTool) && couldBePath(q, fileTool) {
				p.role, q.role = source, destination
			}
		}
	}
	for _, p := range r.params {
		r.classifyWritten(p, fileTool)
	}
}

// classifyWritten finds paths that are written to though no source stands
// beside them: "output_file", "where to save it", a "new path" beside a path.
func (r *reader) classifyWritten(p *param, fileTool bool) {
	if !p.isString() || len(p.item.enum) > 0 {
		return
	}
	besidePath := slices.ContainsFunc(r.siblings(p), func(q *param) bool {
		return q != p && q.role == target && !rootWords.any(words(q.name+" "+q.text()))
	})
	switch p.role {
	case plain:
		if (fileTool || besidePath) && outputWords.last(p.words) && !p.view.hasPreset {
			p.role = output
		}
	case target:
		switch {
		case outputWords.any(p.words), p.says(outPhrase):
			p.role = output
		case besidePath && lex("new").any(p.words):
			p.role = destination
		}
	}
}

func couldBePath(p *param, fileTool bool) bool {
	return p.role.isPath() || fileTool && (p.role == plain || p.role == identity)
}

// kindOf decides between file and folder: the parameter's name first, then its
// description, then the tool's name, then its first sentence.
func (r *reader) kindOf(p *param) kind {
	switch {
	case rootWords.any(p.words):
		return root
	case dirWords.any(p.words):
		return dir
	case fileWords.any(p.words):
		return file
	}
	own := words(p.text())
	if rootWords.any(own) && !fileWords.any(own) && !p.relativePhrase() {
		return root
	}
	if fileWords.any(own) || dirWords.any(own) {
		return kindIn(own)
	}
	if r.has(content) || r.has(sought) || p.view.is("array") {
		return file
	}
	if r.scans() {
		return dir
	}
	if k := kindIn(r.name); k != either {
		return k
	}
	return kindIn(r.prose)
}

func (p *param) relativePhrase() bool {
	return strings.Contains(strings.ToLower(p.text()), "relative to")
}

// kindIn tells a file from a folder by words. Where both are named, "file or
// folder" leaves it open, and else the first one counts ("file to read, in an
// allowed directory").
func kindIn(w []string) kind {
	first := either
	for i, word := range w {
		here := either
		switch {
		case fileWords[word]:
			here = file
		case dirWords[word]:
			here = dir
		default:
			continue
		}
		if first == either {
			first = here
		}
		// "file or folder", "file or a folder", "file/folder"
		near := w[max(i-2, 0):i]
		if here != first && (joins.any(near) || fileWords.last(near) || dirWords.last(near)) {
			return either
		}
	}
	return first
}

// scans reports a tool that looks through a folder: search_files, list_dir.
func (r *reader) scans() bool {
	if r.has(glob) || r.has(regex) || r.has(query) {
		return true
	}
	return scanVerbs.any(words(r.tool.Name)) && !lex("info").any(r.name)
}

// relativeOnly reports a path that its description wants relative, or that is
// a bare file name.
func relativeOnly(p *param) bool {
	prose := strings.ToLower(p.text())
	if strings.Contains(prose, "absolute") {
		return false
	}
	w := p.words
	bare := head(w) == "filename" || head(w) == "name" && len(w) > 1
	return bare || strings.Contains(prose, "relative to") || strings.Contains(prose, "relative path")
}
