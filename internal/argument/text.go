package argument

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ax-check/ax-check/internal/effect"
)

// text makes a string: what the role asks for where the schema allows it.
func (g *generator) text(v *view, p *param, i int) (any, bool) {
	if v.encoding == "base64" || strings.Contains(strings.ToLower(v.description), "base64") && p.role == content {
		return base64.StdEncoding.EncodeToString([]byte("example\n")), true
	}
	covers, named, edited := maps.Clone(g.covers), g.named, g.edited
	meant := g.roleText(v, p, i)
	text := meant
	if v.pattern != "" && !accepts(v.pattern, text) {
		if made, ok := matching(v.pattern); ok {
			text = made
		} // else beyond RE2: the validator decides
	}
	text, ok := fit(v, text)
	if text != meant { // the role's claims do not hold for it
		g.covers, g.named, g.edited = covers, named, edited
		delete(g.outside, p.path)
	}
	return text, ok
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
		return g.content(v, p)
	case sought:
		s, found := g.soughtText()
		g.edited = g.edited || found && g.has(replacement)
		return s
	case replacement:
		s, _ := g.soughtText()
		return s + " again"
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
func (g *generator) content(v *view, p *param) string {
	offers := offered(v)
	if len(offers) > 0 || len(g.files) == 0 || !g.has(target) && !g.has(output) {
		return append(offers, g.plainText(v, p))[0]
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
func (g *generator) soughtText() (text string, found bool) {
	if len(g.files) == 0 {
		return "example", false
	}
	whole := g.files[0].Text
	text = singleText(whole)
	if !g.scene.single {
		text = cmp.Or(repeatedLine(whole), repeatedWord(whole), text)
	}
	return cmp.Or(text, "example"), text != ""
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
		text := g.files[0].Text
		if w := cmp.Or(repeatedWord(text), singleText(text)); w != "" {
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
