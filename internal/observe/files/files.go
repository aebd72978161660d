// Package files observes what a server wrote. It takes an index of the layers
// that hold the written state, and tells the difference between two indexes as
// effects.
//
// Cost follows the change: only written state is walked, unchanged files keep
// the digest and content of the index before, and the original below a layer
// is read only for a path that was first written since the index before.
package files

import (
	"crypto/sha256"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"unique"
)

// Layer is one part of the root that a server sees.
type Layer struct {
	// Mount is the path at which the server sees the layer, clean and absolute.
	Mount string
	// Upper is the open folder that holds the written state.
	Upper *os.File
	// Lower is the path, outside the sandbox, of the read-only original that
	// Upper covers as an overlay; "" when all there is was written.
	Lower string
	// Open opens a path below Upper that this process may not open itself
	// (mode 000, another owner). It may be nil.
	Open func(rel string) (*os.File, error)
}

// Index is what layers held at one moment. It does not change and may be used
// by several goroutines.
type Index struct {
	layers  []Layer // by Mount, longest first
	entries map[string]*entry
	taken   int64 // start of the scan, in ns since the epoch
	kept    int64 // bytes of content held by the entries
}

// Unread lists the paths whose content was not, or not wholly, read. Their
// changes may have gone unseen.
func (ix *Index) Unread() []string {
	var paths []string
	for _, p := range slices.Sorted(maps.Keys(ix.entries)) {
		if e := ix.entries[p]; e.unread || e.truncated {
			paths = append(paths, p)
		}
	}
	return paths
}

// entry is one path of an index. Entries are shared between indexes and not
// changed once in one.
type entry struct {
	stat
	content
	target   string            // of a symbolic link
	xattrs   map[string]string // user attributes, without the overlay's own
	whiteout bool              // the overlay's mark that the original is gone
	opaque   bool              // a folder that shows nothing of its original
	redirect string            // where the original of a renamed folder lies
	unread   bool              // the content, or what lies below, could not be read
	host     string            // path of an entry that was found in the original
}

// stat is what tells cheaply that a file is unchanged.
type stat struct {
	identity
	size         int64
	mtime, ctime int64 // ns since the epoch
	mode         fs.FileMode
	uid, gid     uint32
	nlink        uint32
}

// identity stays with a file when it is renamed. The time of birth guards
// against an inode number that was freed and given to another file.
type identity struct {
	device, inode uint64
	born          int64 // ns since the epoch; 0 where the file system does not say
}

// content is what is known of a regular file's bytes.
type content struct {
	digest    [sha256.Size]byte
	text      bool // valid UTF-8 without NUL
	truncated bool // larger than maxDigested: the rest was not read
	// bytes holds the content itself when held is true. Equal contents are held
	// once, whatever the number of indexes and worlds.
	bytes unique.Handle[string]
	held  bool
	// prefix is the digest of the first prefixSize bytes: as many as the file
	// had before it grew.
	prefix     [sha256.Size]byte
	prefixSize int64
}

func (e *entry) isDir() bool     { return e != nil && e.mode.IsDir() }
func (e *entry) isRegular() bool { return e != nil && e.mode.IsRegular() }

// sameFile reports whether two entries are one file, whatever its path.
func sameFile(a, b *entry) bool {
	return a.host == "" && b.host == "" && a.born != 0 && a.identity == b.identity
}

// look is what the server saw at a path: what was written, else the original.
func (ix *Index) look(p string) *entry {
	if e, ok := ix.entries[p]; ok {
		if e.whiteout {
			return nil
		}
		return e
	}
	host, ok := ix.origin(p)
	if !ok {
		return nil
	}
	return statHost(host)
}

// origin is the path outside the sandbox of the original that shows through at
// p. ok is false when none can: the layer has no original, or p or a folder
// above it was deleted, replaced or made opaque.
func (ix *Index) origin(p string) (host string, ok bool) {
	l, ok := ix.layer(p)
	if !ok || l.Lower == "" {
		return "", false
	}
	host, at := l.Lower, l.Mount
	for name := range strings.SplitSeq(strings.Trim(strings.TrimPrefix(p, l.Mount), "/"), "/") {
		if name == "" {
			continue
		}
		at = path.Join(at, name)
		e := ix.entries[at]
		switch {
		case e == nil:
			host = path.Join(host, name)
		case e.opaque || !e.isDir():
			return "", false
		case path.IsAbs(e.redirect):
			host = path.Join(l.Lower, e.redirect)
		case e.redirect != "":
			host = path.Join(host, e.redirect)
		default:
			host = path.Join(host, name)
		}
	}
	return host, true
}

// layer finds the layer that a path lies in.
func (ix *Index) layer(p string) (Layer, bool) {
	i := slices.IndexFunc(ix.layers, func(l Layer) bool { return isBelow(p, l.Mount) || p == l.Mount })
	if i < 0 {
		return Layer{}, false
	}
	return ix.layers[i], true
}

func (ix *Index) isMount(p string) bool {
	return slices.ContainsFunc(ix.layers, func(l Layer) bool { return l.Mount == p })
}

// isHidden reports whether p lies in a folder that could not be listed.
func (ix *Index) isHidden(p string) bool {
	for dir := range above(p) {
		if e := ix.entries[dir]; e.isDir() && e.unread {
			return true
		}
	}
	return false
}

// isBelow reports whether p lies below dir.
func isBelow(p, dir string) bool {
	if dir == "/" {
		return len(p) > 1
	}
	return len(p) > len(dir) && p[len(dir)] == '/' && strings.HasPrefix(p, dir)
}

// above yields the folders that p lies in, nearest first.
func above(p string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for p != "/" && p != "." {
			p = path.Dir(p)
			if !yield(p) {
				return
			}
		}
	}
}
