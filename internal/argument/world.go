package argument

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"
)

// World is what the tool's server finds: paths are absolute, slash-separated
// and as the server sees them.
type World struct {
	Workspace, Home string
	Files           []File
	// Dirs holds folders, the workspace first.
	Dirs []string
}

// File is one file of the world.
type File struct {
	Path string
	// Text is the content, which may be capped; "" when Binary.
	Text   string
	Binary bool
	// Size is the full size in bytes.
	Size int64
}

// index answers the planner's questions about a world.
type index struct {
	World
	exists map[string]bool
	filled map[string]bool // folders that something lies in
	// values holds the values in the JSON documents by key; known holds all of
	// them, the keys, and the names of files with and without extension.
	values map[string][]string
	known  map[string]bool
}

func newIndex(w World) *index {
	x := &index{
		World: w, exists: map[string]bool{}, filled: map[string]bool{},
		values: map[string][]string{}, known: map[string]bool{},
	}
	for _, d := range w.Dirs {
		x.exists[path.Clean(d)] = true
		x.filled[path.Dir(path.Clean(d))] = true
	}
	if w.Workspace != "" {
		x.exists[path.Clean(w.Workspace)] = true
	}
	for _, f := range w.Files {
		x.exists[f.Path] = true
		x.filled[path.Dir(f.Path)] = true
		base := path.Base(f.Path)
		x.known[base] = true
		x.known[strings.TrimSuffix(base, path.Ext(base))] = true
		x.readJSON(f)
	}
	return x
}

// maxJSONText bounds the documents that are looked into, in bytes.
const maxJSONText = 1 << 20

// readJSON notes the values of a JSON or JSON Lines document, so that an
// argument can name something that the world really holds.
func (x *index) readJSON(f File) {
	ext := path.Ext(f.Path)
	if f.Binary || len(f.Text) > maxJSONText || (ext != ".json" && ext != ".jsonl" && ext != ".ndjson") {
		return
	}
	dec := json.NewDecoder(strings.NewReader(f.Text))
	dec.UseNumber()
	for dec.More() {
		doc, err := decodeValue(dec, 0)
		if err != nil {
			return
		}
		x.note("", doc)
	}
}

func (x *index) note(key string, v any) {
	switch v := v.(type) {
	case *object:
		for _, k := range v.keys {
			x.known[k] = true
			x.note(k, v.values[k])
		}
	case []any:
		for _, e := range v {
			x.note(key, e)
		}
	case string:
		x.noteText(key, v)
	case json.Number:
		x.noteText(key, v.String())
	}
}

func (x *index) noteText(key, text string) {
	key = strings.Join(words(key), "_")
	x.known[text] = true
	x.values[key] = append(x.values[key], text)
}

// holds reports whether a value stands in one of the world's documents or
// names one of its files.
func (x *index) holds(v any) bool {
	switch v := v.(type) {
	case string:
		return v != "" && x.known[v]
	case json.Number:
		return x.known[v.String()]
	}
	return false
}

// contains reports whether a text stands in one of the files.
func (x *index) contains(text string) bool {
	return slices.ContainsFunc(x.Files, func(f File) bool { return strings.Contains(f.Text, text) })
}

// fresh names a path in a folder that exists where nothing is.
func (x *index) fresh(folder, stem, ext string) string {
	for n := 1; ; n++ {
		name := stem
		if n > 1 {
			name += "-" + strconv.Itoa(n)
		}
		if p := path.Join(folder, name+ext); !x.exists[p] {
			return p
		}
	}
}

// extensions says which files a word asks for.
var extensions = map[string][]string{
	"json": {".json"}, "jsonl": {".jsonl", ".ndjson"}, "ndjson": {".ndjson", ".jsonl"},
	"csv": {".csv"}, "tsv": {".tsv"}, "spreadsheet": {".csv"},
	"markdown": {".md"}, "md": {".md"}, "note": {".md", ".txt"}, "notes": {".md", ".txt"},
	"image": {".png", ".jpg"}, "images": {".png", ".jpg"}, "png": {".png"}, "picture": {".png"},
	"photo": {".jpg", ".png"}, "media": {".png", ".jpg"},
	"text": {".txt"}, "txt": {".txt"}, "log": {".log", ".txt"},
	"yaml": {".yaml", ".yml"}, "toml": {".toml"}, "xml": {".xml"}, "html": {".html"}, "pdf": {".pdf"},
	"sqlite": {".sqlite", ".db"}, "database": {".db", ".sqlite"},
	"code": {".go", ".py", ".js", ".ts"}, "python": {".py"}, "javascript": {".js"}, "typescript": {".ts"},
}

// ranked lists the files, the most telling first: of the kind that the words
// ask for, in the workspace itself, with text that repeats. editable wants
// text above all.
func (x *index) ranked(asked []string, editable bool) []File {
	wanted := map[string]int{}
	for _, w := range asked {
		for i, ext := range extensions[w] {
			wanted[ext] = max(wanted[ext], 200-i)
		}
	}
	score := func(f File) int {
		s := wanted[path.Ext(f.Path)]
		if path.Dir(f.Path) == path.Clean(x.Workspace) {
			s += 50
		}
		if f.Binary || f.Text == "" {
			if editable {
				s -= 1000
			}
			return s
		}
		if repeatedLine(f.Text) != "" {
			s += 20
		}
		if path.Ext(f.Path) == ".txt" {
			s += 10
		}
		return s + 5
	}
	scores := map[string]int{}
	for _, f := range x.Files {
		scores[f.Path] = score(f)
	}
	files := slices.Clone(x.Files)
	slices.SortStableFunc(files, func(a, b File) int {
		return cmp.Or(cmp.Compare(scores[b.Path], scores[a.Path]), cmp.Compare(a.Path, b.Path))
	})
	return files
}

// folder is a folder below the workspace with something in it, else the
// workspace: what can be listed as well as moved or deleted.
func (x *index) folder() string {
	for _, d := range x.below() {
		if x.filled[d] {
			return d
		}
	}
	return x.Workspace
}

// emptyFolder is a folder with nothing in it; "" when the world has none.
func (x *index) emptyFolder() string {
	for _, d := range x.below() {
		if !x.filled[d] {
			return d
		}
	}
	return ""
}

// below lists the folders under the workspace, in order.
func (x *index) below() []string {
	var out []string
	for _, d := range x.Dirs {
		d = path.Clean(d)
		if strings.HasPrefix(d, strings.TrimSuffix(path.Clean(x.Workspace), "/")+"/") {
			out = append(out, d)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// relative writes a path as seen from the workspace.
func (x *index) relative(p string) string {
	if p == path.Clean(x.Workspace) {
		return "."
	}
	return strings.TrimPrefix(p, strings.TrimSuffix(path.Clean(x.Workspace), "/")+"/")
}

// repeatedLine is a whole line of plain words that occurs more than once, so
// that an edit by text or by line finds it again; "" when there is none.
func repeatedLine(text string) string {
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if !isPlainText(line) {
			continue
		}
		if seen[line] {
			return line
		}
		seen[line] = true
	}
	return ""
}

// isPlainText accepts letters, digits and inner spaces: the same to a search
// for text, for a regular expression or for a whole line.
func isPlainText(line string) bool {
	if len(line) < 3 || len(line) > 200 || strings.TrimSpace(line) != line {
		return false
	}
	for _, r := range line {
		if !(r == ' ' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') {
			return false
		}
	}
	return true
}

// repeatedWord is a word of at least four letters that occurs more than once.
func repeatedWord(text string) string {
	return firstWord(text, func(w string) bool { return strings.Count(text, w) > 1 })
}

// singleText is a line, else a word, that occurs exactly once.
func singleText(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if isPlainText(line) && strings.Count(text, line) == 1 {
			return line
		}
	}
	return firstWord(text, func(w string) bool { return strings.Count(text, w) == 1 })
}

// maxWords bounds the words of one file that are looked at.
const maxWords = 2000

func firstWord(text string, good func(string) bool) string {
	n := 0
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !isLetter(r) }) {
		if n++; n > maxWords {
			break
		}
		if len(w) >= 4 && good(w) {
			return w
		}
	}
	return ""
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }
