// Package document compares two versions of a JSON or JSON Lines document by
// structure, so that an entry added by rewriting the whole file is told apart
// from a value replaced.
//
// It is pure. Its effects carry only the place inside the document ("#/a/0");
// the caller puts the path in front.
package document

import (
	"bytes"
	"path"
	"strings"

	"github.com/ax-check/ax-check/internal/effect"
)

// Bounds beyond which Compare gives up, so that its cost stays linear in what
// was written and small beside a trial.
const (
	maxBytes = 64 << 20 // of either version
	maxNodes = 1 << 20  // values in the part of either version that differs
	maxDepth = 512
)

// Compare tells what differs between two versions of a document. The two are
// taken for JSON or JSON Lines by their content: objects and arrays only,
// unless the extension of name claims JSON, since a file of bare numbers or
// words is more likely text. The extension also decides between JSON and JSON
// Lines where a version is both.
//
// A member or element added is an Append, one gone a Delete, a value replaced a
// Modify. A change of the order of array elements is a Modify, as order is
// content there; a change of key order, spacing or spelling of the same values
// is one volatile effect. The target of an effect is "#" and an RFC 6901
// pointer, or "" for the whole document; array positions are those of the new
// version, and of the old one for a Delete.
//
// ok is false, and the effects are nil, when a version is neither form, has
// duplicate keys, or is beyond the bounds of size and depth.
func Compare(before, after []byte, name string) (effects []effect.Effect, ok bool) {
	if len(before) > maxBytes || len(after) > maxBytes {
		return nil, false
	}
	f := formOf(name)
	compare := []func(before, after []byte, f form) (comparer, bool){compareValues, compareLines}
	if f.lines {
		compare[0], compare[1] = compare[1], compare[0]
	}
	for _, try := range compare {
		c, ok := try(before, after, f)
		if !ok {
			continue
		}
		if len(c.effects) == 0 && !bytes.Equal(before, after) {
			c.effects = []effect.Effect{{
				Class: effect.Modify, Kind: effect.KindJSON, Volatile: true, Detail: "formatting only",
			}}
		}
		return capped(c.effects), true
	}
	return nil, false
}

// form is what the extension of a file's name claims about its content.
type form struct {
	scalars bool // a bare number, string or word is a document
	lines   bool // one document a line
}

func formOf(name string) form {
	switch strings.ToLower(path.Ext(name)) {
	case ".json":
		return form{scalars: true}
	case ".jsonl", ".ndjson":
		return form{scalars: true, lines: true}
	}
	return form{}
}

var byteOrderMark = []byte("\ufeff")

func compareValues(before, after []byte, f form) (c comparer, ok bool) {
	old, ok := parse(bytes.TrimPrefix(before, byteOrderMark), f)
	if !ok {
		return c, false
	}
	now, ok := parse(bytes.TrimPrefix(after, byteOrderMark), f)
	if !ok {
		return c, false
	}
	c.values("", old, now)
	return c, true
}

// compareLines skips the lines that both versions begin and end with, so that
// the cost of a record added to a long log is that of reading the log.
func compareLines(before, after []byte, f form) (c comparer, ok bool) {
	head := commonLines(before, after)
	first, ok := countRecords(before[:head], f)
	if !ok {
		return c, false
	}
	before, after = before[head:], after[head:]
	tail := commonEndLines(before, after)
	last, ok := countRecords(before[len(before)-tail:], f)
	if !ok {
		return c, false
	}
	old, ok := parseLines(before[:len(before)-tail], f)
	if !ok {
		return c, false
	}
	now, ok := parseLines(after[:len(after)-tail], f)
	// A version without any record is no document: the caller knows better
	// what it means that everything came or went.
	if !ok || first+last+len(old) == 0 || first+last+len(now) == 0 {
		return c, false
	}
	c.arrays("", first, old, now)
	return c, true
}

// commonLines is the length of the whole lines that both texts begin with.
func commonLines(a, b []byte) int {
	n := commonPrefix(a, b)
	return bytes.LastIndexByte(a[:n], '\n') + 1
}

// commonEndLines is the length of the whole lines that both texts end with.
func commonEndLines(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	if startsLine(a, len(a)-n) && startsLine(b, len(b)-n) {
		return n
	}
	newline := bytes.IndexByte(a[len(a)-n:], '\n')
	if newline < 0 {
		return 0
	}
	return n - newline - 1
}

func startsLine(text []byte, at int) bool { return at == 0 || text[at-1] == '\n' }

// commonPrefix compares in blocks first: the runtime's comparison of equal
// memory is many times faster than a loop over bytes.
func commonPrefix(a, b []byte) int {
	const block = 4096
	n, end := 0, min(len(a), len(b))
	for n+block <= end && bytes.Equal(a[n:n+block], b[n:n+block]) {
		n += block
	}
	for n < end && a[n] == b[n] {
		n++
	}
	return n
}
