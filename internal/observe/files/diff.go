package files

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ax-check/ax-check/internal/effect"
)

// Diff tells what became of the files between two indexes of the same layers,
// ordered by target and class. What was made and removed in between is not seen.
//
// A renamed file or folder is a Delete and a Create with RenamedFrom; what lies
// in a renamed folder is not repeated. A folder that came or went is listed
// with the first entries below it and the number of the others. Same bytes
// written again, new times, and copies made by the overlay alone are volatile.
func Diff(before, after *Index) []effect.Effect {
	d := differ{
		before: view{before, map[string]*entry{}},
		after:  view{after, map[string]*entry{}},
		seen:   map[string]bool{},
		origin: map[string]string{},
		dest:   map[string]string{},
	}
	d.candidates()
	d.findMovedFolders()
	d.findBelowGone()
	d.compareAll()
	d.findMovedFiles()
	d.emit()
	slices.SortFunc(d.effects, func(a, b effect.Effect) int {
		return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Kind, b.Kind))
	})
	return d.effects
}

type differ struct {
	before, after view
	paths         []string        // that may have changed
	seen          map[string]bool // the same as a set
	unlisted      bool            // folders that went held more than maxListed entries
	// origin maps the new path of a renamed folder to the old one, dest back.
	origin, dest  map[string]string
	created, gone []change
	effects       []effect.Effect
}

// view is an index that remembers what was looked up in the original.
type view struct {
	*Index
	looked map[string]*entry
}

func (v view) look(p string) *entry {
	e, ok := v.looked[p]
	if !ok {
		e = v.Index.look(p)
		v.looked[p] = e
	}
	return e
}

// read is look with the content of a file of the original.
func (v view) read(p string) *entry {
	e := load(v.look(p))
	v.looked[p] = e
	return e
}

// change is a path that came or went.
type change struct {
	path  string
	entry *entry
	from  string // old path of a renamed one
}

// candidates collects the paths at which the two indexes hold different
// entries. Unchanged ones are the same entry in both.
func (d *differ) candidates() {
	for p, e := range d.before.entries {
		if d.after.entries[p] != e {
			d.consider(p)
		}
	}
	for p := range d.after.entries {
		if d.before.entries[p] == nil {
			d.consider(p)
		}
	}
	slices.Sort(d.paths)
}

func (d *differ) consider(p string) {
	if !d.seen[p] {
		d.seen[p] = true
		d.paths = append(d.paths, p)
	}
}

// findMovedFolders pairs folders that went with folders that came: by identity,
// or by the overlay's note of where the original of a renamed folder lies.
func (d *differ) findMovedFolders() {
	gone := map[identity]string{}
	for _, p := range d.paths {
		if e := d.before.look(p); e.isDir() && e.host == "" && e.born != 0 && d.after.look(p) == nil {
			gone[e.identity] = p
		}
	}
	for _, p := range d.paths {
		e := d.after.look(p)
		if _, moved := d.renamed(p, d.origin); moved || !e.isDir() || d.before.look(p) != nil {
			continue
		}
		from, ok := gone[e.identity]
		if !ok && e.redirect != "" {
			from, ok = d.redirectedFrom(p, e.redirect), true
		}
		if ok && d.before.look(from).isDir() && d.after.look(from) == nil {
			d.origin[p], d.dest[from] = from, p
		}
	}
}

func (d *differ) redirectedFrom(p, redirect string) string {
	if !path.IsAbs(redirect) {
		return path.Join(path.Dir(p), redirect)
	}
	l, _ := d.after.layer(p)
	return path.Join(l.Mount, redirect)
}

// renamed maps a path in a renamed folder by way of origin or dest. ok is false
// for any other path, and true for the folder itself.
func (d *differ) renamed(p string, table map[string]string) (mapped string, ok bool) {
	if len(table) == 0 {
		return p, false
	}
	if to, ok := table[p]; ok {
		return to, true
	}
	for dir := range above(p) {
		if to, ok := table[dir]; ok {
			return path.Join(to, strings.TrimPrefix(p, dir)), true
		}
	}
	return p, false
}

// maxListed bounds how many entries of originals Diff looks at when whole
// folders went.
const maxListed = 10_000

// findBelowGone adds what the original held below folders that were deleted,
// replaced, or made opaque: the written state has no entry for it.
func (d *differ) findBelowGone() {
	for _, p := range slices.Clone(d.paths) {
		if !d.before.look(p).isDir() {
			continue
		}
		was, ok := d.before.origin(p)
		if is, still := d.after.origin(p); ok && (!still || is != was) {
			d.listBelow(p)
		}
	}
	slices.Sort(d.paths)
}

func (d *differ) listBelow(p string) {
	host, ok := d.before.origin(p)
	if !ok {
		return
	}
	// A folder that cannot be read shows the server nothing either.
	children, _ := os.ReadDir(host)
	for _, child := range children {
		q := path.Join(p, child.Name())
		if d.seen[q] || d.before.isMount(q) {
			continue
		}
		if len(d.seen) >= maxListed+len(d.before.entries)+len(d.after.entries) {
			d.unlisted = true
			return
		}
		if e := d.before.look(q); e != nil {
			d.consider(q)
			if e.isDir() {
				d.listBelow(q)
			}
		}
	}
}

// compareAll sorts the candidates into those that came, those that went, and
// those that changed.
func (d *differ) compareAll() {
	for _, p := range d.paths {
		from, moved := d.renamed(p, d.origin)
		old, now := d.before.look(from), d.after.look(p)
		if to, left := d.renamed(p, d.dest); left && d.after.look(to) != nil {
			old = nil // it is compared where it went
		}
		switch {
		case old == nil && now == nil, d.before.isHidden(from), d.after.isHidden(p):
		case old == nil:
			d.created = append(d.created, change{path: p, entry: d.after.read(p)})
		case now == nil && moved:
			d.gone = append(d.gone, change{path: from, entry: old})
		case now == nil:
			d.gone = append(d.gone, change{path: p, entry: old})
		default:
			d.effects = append(d.effects, compare(p, d.before.read(from), d.after.read(p))...)
		}
	}
	for _, to := range slices.Sorted(maps.Keys(d.origin)) {
		from := d.origin[to]
		d.gone = append(d.gone, change{path: from, entry: d.before.look(from)})
		d.created = append(d.created, change{path: to, entry: d.after.look(to), from: from})
	}
	d.gone, d.created = distinct(d.gone), distinct(d.created)
}

// distinct sorts changes by path and drops a path that was found twice: by its
// old name and through its new one.
func distinct(changes []change) []change {
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.path, b.path) })
	return slices.CompactFunc(changes, func(a, b change) bool { return a.path == b.path })
}

// findMovedFiles pairs files and links that came with those that went: the same
// file, else the same content, and among equals one of the same name.
func (d *differ) findMovedFiles() {
	files := map[identity]int{}
	contents := map[sameness][]int{}
	sizes := map[int64]bool{}
	for _, c := range d.created {
		sizes[c.entry.size] = true
	}
	for i, c := range d.gone {
		if c.entry.isDir() {
			continue
		}
		files[c.entry.identity] = i
		if sizes[c.entry.size] {
			c.entry = d.before.read(c.path)
			d.gone[i] = c
		}
		if s, ok := samenessOf(c.entry); ok {
			contents[s] = append(contents[s], i)
		}
	}
	taken := map[int]bool{}
	take := func(c *change, i int) {
		taken[i] = true
		c.from = d.gone[i].path
	}
	for i := range d.created {
		c := &d.created[i]
		if j, ok := files[c.entry.identity]; ok && sameFile(d.gone[j].entry, c.entry) && !taken[j] {
			take(c, j)
		}
	}
	for i := range d.created {
		c := &d.created[i]
		s, ok := samenessOf(c.entry)
		if !ok || c.from != "" {
			continue
		}
		found := -1
		for _, j := range contents[s] {
			sameName := path.Base(d.gone[j].path) == path.Base(c.path)
			if !taken[j] && (found < 0 || sameName) {
				found = j
			}
			if found >= 0 && sameName {
				break
			}
		}
		if found >= 0 {
			take(c, found)
		}
	}
}

// sameness is equal for files with the same content and for links with the same
// target.
type sameness struct {
	digest [32]byte
	target string
}

// samenessOf is not ok where equal content is no sign of a rename: an empty
// file, or one that was not wholly read.
func samenessOf(e *entry) (sameness, bool) {
	switch {
	case e.isRegular():
		return sameness{digest: e.digest}, e.size > 0 && !e.unread && !e.truncated
	case e.mode&fs.ModeSymlink != 0:
		return sameness{target: e.target}, true
	}
	return sameness{}, false
}

// maxBelow is how many entries below a folder that came or went are listed.
const maxBelow = 50

// note is what the effect of a folder says of entries below it that are not listed.
type note struct {
	count  int
	digest []byte
}

// fold keeps the first entries below each folder that came or went.
func fold(changes []change) (kept []change, notes map[string]*note) {
	folders := map[string]int{} // entries below
	for _, c := range changes {
		if c.entry.isDir() {
			folders[c.path] = 0
		}
	}
	notes = map[string]*note{}
	for _, c := range changes {
		top := ""
		for dir := range above(c.path) {
			if _, ok := folders[dir]; ok {
				top = dir
			}
		}
		if top == "" {
			kept = append(kept, c)
			continue
		}
		folders[top]++
		if folders[top] <= maxBelow {
			kept = append(kept, c)
			continue
		}
		if notes[top] == nil {
			notes[top] = &note{}
		}
		notes[top].count++
		notes[top].digest = fmt.Appendf(notes[top].digest, "%s %x %s\n", c.path, c.entry.digest, c.entry.target)
	}
	return kept, notes
}

func (d *differ) emit() {
	links := d.linkNames()
	kept, notes := fold(d.created)
	for _, c := range kept {
		e := creation(c)
		if name := links[c.entry.identity]; name != "" && c.from == "" {
			e.Detail = "hard link to " + name
		}
		if n := notes[c.path]; n != nil {
			e.Detail = fmt.Sprintf("and %d more below", n.count)
			e.Digest = short(sha256.Sum256(n.digest))
		}
		d.effects = append(d.effects, e)
	}
	kept, notes = fold(d.gone)
	for _, c := range kept {
		e := effect.Effect{Class: effect.Delete, Kind: kindOf(c.entry), Target: c.path}
		e.Before, e.Truncated = show(d.before.read(c.path))
		if n := notes[c.path]; n != nil {
			e.Detail = fmt.Sprintf("and %d more below", n.count)
			if d.unlisted {
				e.Detail = fmt.Sprintf("and at least %d more below", n.count)
			}
		}
		d.effects = append(d.effects, e)
	}
	for i := range d.effects {
		d.besideDatabase(&d.effects[i])
	}
}

func creation(c change) effect.Effect {
	e := effect.Effect{
		Class: effect.Create, Kind: kindOf(c.entry), Target: c.path,
		RenamedFrom: c.from, Digest: digestOf(c.entry),
	}
	e.After, e.Truncated = show(c.entry)
	switch {
	case c.entry.unread:
		e.Detail = "not readable"
	case e.Kind == effect.KindFile && !c.entry.isRegular():
		e.Detail = typeName(c.entry)
	}
	return e
}

// linkNames maps a file with several names to one that it had before.
func (d *differ) linkNames() map[identity]string {
	names := map[identity]string{}
	for _, p := range slices.Sorted(maps.Keys(d.after.entries)) {
		e := d.after.entries[p]
		if old := d.before.entries[p]; e.nlink > 1 && e.isRegular() && old != nil && sameFile(old, e) && names[e.identity] == "" {
			names[e.identity] = p
		}
	}
	return names
}

// besideDatabase tells the files beside an SQLite database apart from content:
// its shared memory and its journal come and go with reading too, and its
// write-ahead log holds changes of rows, of which added bytes say nothing
// (https://www.sqlite.org/tempfiles.html, https://www.sqlite.org/walformat.html).
func (d *differ) besideDatabase(e *effect.Effect) {
	for _, suffix := range []string{"-shm", "-wal", "-journal"} {
		base, ok := strings.CutSuffix(e.Target, suffix)
		if !ok || !d.isDatabase(base) {
			continue
		}
		switch {
		case suffix == "-shm":
			e.Volatile, e.Detail = true, "shared memory of a database, derived from the log beside it"
		case suffix == "-journal":
			e.Volatile, e.Detail = true, "journal of a database, kept while it is written"
		case d.emptyLog(e.Target) || e.Class == effect.Delete && d.sameContent(base):
			e.Volatile, e.Detail = true, "log of a database without anything that is not in the database"
		default:
			e.Class, e.Detail = effect.Rewritten, "write-ahead log of a database"
		}
	}
}

// isDatabase reports whether a path is an SQLite database, by its first bytes;
// of one that is too large to be held, by the log that lies beside it.
func (d *differ) isDatabase(p string) bool {
	const magic = "SQLite format 3\x00"
	for _, v := range []view{d.before, d.after} {
		e := v.read(p)
		switch {
		case !e.isRegular():
		case e.held && strings.HasPrefix(e.bytes.Value(), magic):
			return true
		case !e.held && (v.look(p+"-wal") != nil || v.look(p+"-journal") != nil):
			return true
		}
	}
	return false
}

func (d *differ) sameContent(p string) bool {
	before, after := d.before.read(p), d.after.read(p)
	if before == nil || after == nil {
		return false
	}
	old, _ := samenessOf(before)
	now, ok := samenessOf(after)
	return ok && old == now
}

// emptyLog reports whether a log holds nothing, on whichever side it is there.
func (d *differ) emptyLog(p string) bool {
	for _, v := range []view{d.before, d.after} {
		if e := v.look(p); e != nil && e.size > 0 {
			return false
		}
	}
	return true
}
