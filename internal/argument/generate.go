package argument

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

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
		return g.enumerated(v, p), true
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

// enumerated takes the default, else the first value that says something.
func (g *generator) enumerated(v *view, p *param) any {
	if v.hasPreset {
		return v.preset
	}
	for _, e := range v.enum {
		if e != nil && e != "" {
			if p.role == identity && g.world.holds(e) {
				g.covers[effect.Existing] = true
			}
			return e
		}
	}
	return v.enum[0]
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
		if p.role.isPath() && slices.Contains(list, value) {
			break // the world has no second one
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
	if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return int64(x)
	}
	return x
}

// text makes a string: what the role asks for where the schema allows it.
func (g *generator) text(v *view, p *param, i int) (any, bool) {
	if v.encoding == "base64" || strings.Contains(strings.ToLower(v.description), "base64") && p.role == content {
		return base64.StdEncoding.EncodeToString([]byte("example\n")), true
	}
	before := maps.Clone(g.covers)
	s := g.roleText(v, p, i)
	fitted, ok := s, true
	if v.pattern != "" && !accepts(v.pattern, s) {
		if fitted, ok = matching(v.pattern); !ok {
			fitted = s // beyond RE2: the validator decides
		}
	}
	fitted, ok = fit(v, fitted)
	if fitted != s { // no longer what the role meant
		g.covers = before
		delete(g.outside, p.path)
	}
	return fitted, ok
}

func accepts(pattern, s string) bool {
	re, err := compilePattern(pattern)
	return err == nil && re.MatchString(s)
}

// fit brings a text to the length that the schema asks for, in characters.
func fit(v *view, s string) (string, bool) {
	if v.minLength > maxText {
		return "", false
	}
	if n := utf8.RuneCountInString(s); n < v.minLength {
		s += strings.Repeat("a", v.minLength-n)
	}
	if v.maxLength >= 0 && utf8.RuneCountInString(s) > v.maxLength {
		s = string([]rune(s)[:v.maxLength])
	}
	return s, true
}

func (g *generator) roleText(v *view, p *param, i int) string {
	switch p.role {
	case target, source, destination, output:
		return g.place(p, i)
	case content:
		return g.content(v)
	case sought:
		g.edited = g.edited || g.has(replacement)
		return g.soughtText()
	case replacement:
		return g.soughtText() + " again"
	case glob:
		return g.globText(v)
	case excluded:
		return "*.bak"
	case regex, query:
		return g.queryText(v)
	case sql:
		return sqlText(g.tool.Description + " " + v.description)
	case command:
		return "echo example"
	case url, host, email, remote:
		return g.address(v, p)
	case identity:
		return g.identityText(v, p)
	case action:
		if len(p.choices) > 0 {
			return p.choices[0].(string)
		}
	}
	return g.plainText(v, p)
}

// place names a path, and notes what it covers.
func (g *generator) place(p *param, i int) string {
	at, exists := g.pathOf(p, i)
	switch {
	case exists && g.isTelling(p):
		g.covers[effect.Existing] = true
	case !exists:
		g.covers[effect.Missing] = true
	}
	if p.role == output && g.scene.occupied {
		g.covers[effect.Output] = true
	}
	if p.relative || g.scene.relative {
		return g.world.relative(at)
	}
	return at
}

func (g *generator) pathOf(p *param, i int) (at string, exists bool) {
	leads := p.kind
	if leads == either {
		leads = g.scene.kind
	}
	w := g.world
	if leads == root {
		if g.scene.missing && g.onlyRoot {
			return w.fresh(w.Workspace, g.word, ""), false
		}
		return w.Workspace, w.Workspace != ""
	}
	written := p.role == destination || p.role == output
	if g.scene.missing && !written || written && !g.scene.occupied {
		return g.absent(leads, written), false
	}
	if leads == dir {
		return g.existingFolder(written), true
	}
	files := g.files
	if len(files) == 0 {
		return g.absent(leads, written), false
	}
	if written {
		i++ // another file than the one that is read
	}
	g.named = g.named || i == 0
	return files[min(i, len(files)-1)].Path, true
}

func (g *generator) existingFolder(written bool) string {
	switch {
	case g.scene.empty:
		return g.world.emptyFolder()
	case !written && g.within:
		return g.world.Workspace
	}
	return g.world.folder()
}

func (g *generator) absent(leads kind, written bool) string {
	ext := ""
	if leads != dir && len(g.files) > 0 {
		ext = path.Ext(g.files[0].Path)
	} else if leads != dir {
		ext = ".txt"
	}
	stem := g.word
	if written {
		stem = g.word + "-copy"
	}
	return g.world.fresh(g.world.Workspace, stem, ext)
}

// content differs from what any target holds, in the target's own format.
func (g *generator) content(v *view) string {
	if offers := offered(v); len(offers) > 0 {
		return offers[0]
	}
	if len(g.files) == 0 || !g.has(target) && !g.has(output) {
		return "A new line of text."
	}
	switch path.Ext(g.files[0].Path) {
	case ".json":
		return `{"note": "` + g.word + `"}`
	case ".jsonl", ".ndjson":
		return `{"note": "` + g.word + `"}` + "\n"
	case ".csv":
		return "name,note\n" + g.word + ",new\n"
	}
	return "A new line about " + g.word + ".\n"
}

// soughtText comes from the very file that the same call targets. A
// replacement holds it too, so that applying the edit again changes more,
// whether it replaces the first match or all of them.
func (g *generator) soughtText() string {
	if len(g.files) == 0 {
		return "example"
	}
	text := g.files[0].Text
	choices := []string{repeatedLine(text), repeatedWord(text), singleText(text)}
	if g.scene.single {
		choices = []string{singleText(text)}
	}
	return cmp.Or(append(choices, "example")...)
}

func (g *generator) globText(v *view) string {
	if len(g.files) == 0 {
		return "*"
	}
	pattern := "*" + path.Ext(g.files[0].Path)
	if strings.Contains(v.description, "**/") && !strings.Contains(v.description, `"*.`) {
		return "**/" + pattern
	}
	return pattern
}

// queryText is something to be found: an offer of the schema that the world's
// files contain, else a word from them, else the offer as it is.
func (g *generator) queryText(v *view) string {
	offers := offered(v)
	for _, s := range offers {
		if g.world.contains(s) {
			return s
		}
	}
	if len(v.examples) == 0 && len(g.files) > 0 {
		if w := repeatedWord(g.files[0].Text); w != "" {
			return w
		}
	}
	return append(offers, "example")[0]
}

func sqlText(prose string) string {
	if strings.Contains(strings.ToLower(prose), "create table") {
		return "CREATE TABLE example (id INTEGER PRIMARY KEY, name TEXT)"
	}
	return "SELECT 1"
}

// address is a name reserved for examples (RFC 2606), so that nobody is
// disturbed when the call gets out.
func (g *generator) address(v *view, p *param) string {
	if g.scene.local && p.role == url && len(g.files) > 0 {
		g.covers[effect.Existing] = true
		return g.files[0].Path
	}
	if p.role == remote {
		return append(offered(v), "origin")[0]
	}
	g.covers[effect.Outside] = true
	g.outside[p.path] = true
	switch p.role {
	case host:
		return "example.com"
	case email:
		return "user@example.com"
	}
	if strings.Contains(v.pattern, "https") && !accepts(v.pattern, "http://example.com/page") {
		return "https://example.com/page"
	}
	return "http://example.com/page"
}

// offered lists the values that the schema itself offers: its default, its
// examples, an example quoted in the description.
func offered(v *view) []string {
	var out []string
	if s, ok := v.preset.(string); ok && s != "" {
		out = append(out, s)
	}
	out = append(out, stringsOf(v.examples)...)
	if m := example.FindStringSubmatch(v.description); m != nil {
		out = append(out, m[1])
	}
	return out
}

// identityText names something: what the schema offers or the world's
// documents hold under the same key. What both know is taken to exist.
func (g *generator) identityText(v *view, p *param) string {
	offers := append(offered(v), g.heldUnder(p)...)
	known := slices.IndexFunc(offers, func(s string) bool { return g.world.holds(s) })
	if g.scene.missing {
		return g.unknown(v, p, offers, known >= 0)
	}
	if known >= 0 {
		g.covers[effect.Existing] = true
		return offers[known]
	}
	return append(offers, g.plainText(v, p))[0]
}

// unknown is an offer that the world does not hold, else an invention. It
// counts as missing only where the world would have shown it.
func (g *generator) unknown(v *view, p *param, offers []string, telling bool) string {
	i := slices.IndexFunc(offers, func(s string) bool { return !g.world.holds(s) })
	s := append(offers, "")[max(i, 0)]
	if i < 0 {
		s = g.noun(p)
		if v.format != "" {
			s = g.plainText(&view{format: v.format}, p)
		}
		if v.pattern != "" && !accepts(v.pattern, s) {
			s, _ = matching(v.pattern)
		}
	}
	if telling && !g.world.holds(s) {
		g.covers[effect.Missing] = true
	}
	return s
}

// heldUnder lists the world's values of a key of two words or more
// ("booking_id"): a bare "id" or "name" could mean anything.
func (g *generator) heldUnder(p *param) []string {
	if len(p.words) < 2 {
		return nil
	}
	return g.world.values[strings.Join(p.words, "_")]
}

func (g *generator) knownNumber(v *view, p *param) (json.Number, bool) {
	n, ok := firstNumber(v.examples)
	for _, s := range g.heldUnder(p) {
		if _, err := strconv.ParseFloat(s, 64); !ok && err == nil {
			n, ok = json.Number(s), true
		}
	}
	if ok && g.world.holds(n) {
		g.covers[effect.Existing] = true
	}
	return n, ok
}

// plainText is a plausible value by offer, format or name.
func (g *generator) plainText(v *view, p *param) string {
	if offers := offered(v); len(offers) > 0 {
		return offers[0]
	}
	if s, ok := formats[v.format]; ok {
		return s
	}
	prose := strings.ToLower(v.description)
	switch {
	case strings.Contains(prose, "yyyy-mm-dd"):
		return formats["date"]
	case strings.Contains(prose, "iso 8601") || strings.Contains(prose, "iso8601") || strings.Contains(prose, "rfc 3339"):
		return formats["date-time"]
	}
	if s, ok := plausible[head(p.words)]; ok {
		return s
	}
	return g.noun(p)
}

// noun is a plain word; the far end of a pair ("to", "new name") gets another
// than the near one.
func (g *generator) noun(p *param) string {
	if destWords.any(p.words) {
		return g.otherWord
	}
	return g.word
}

var formats = map[string]string{
	"date-time": "2026-01-15T09:30:00Z", "date": "2026-01-15", "time": "09:30:00Z", "duration": "PT1H",
	"uuid": "7d444840-9dc0-41d1-b245-5ffdce74fad2", "json-pointer": "/example", "regex": "example",
}

var plausible = map[string]string{
	"date": "2026-01-15", "day": "2026-01-15", "datetime": "2026-01-15T09:30:00Z", "timestamp": "2026-01-15T09:30:00Z",
	"time": "09:30", "timezone": "UTC", "language": "en", "lang": "en", "locale": "en", "country": "SE",
	"currency": "EUR", "color": "#336699", "colour": "#336699", "version": "1.0.0", "phone": "+12025550100",
	"encoding": "utf-8", "extension": "txt",
}
