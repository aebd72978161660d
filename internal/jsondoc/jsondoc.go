// Package jsondoc reads JSON text into a tree that remembers where everything
// was written: byte spans of every key and value, duplicate keys in order, and
// from those JSON pointers, lines and columns.
//
// Keys are compared exactly, as RFC 8259 and every JSON.parse do. Text that is
// not UTF-8 inside strings is tolerated, so that a list with one bad byte can
// still be looked at.
package jsondoc

import (
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind is the JSON type of a value.
type Kind uint8

// The six types of RFC 8259.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// String names the kind with its article, as a message needs it ("a string").
func (k Kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// Node is one value of a document. Nodes are not changed after Parse.
type Node struct {
	Kind Kind
	// Start and End delimit the value in the text: bytes, End exclusive.
	Start, End int
	// Members of an object, in the order written, duplicates included.
	Members []Member
	// Items of an array.
	Items []*Node

	doc    *Doc
	parent *Node
	place  int // index in the parent's Members or Items
}

// Member is one key of an object and its value.
type Member struct {
	Key              string
	KeyStart, KeyEnd int // the key with its quotes: bytes, KeyEnd exclusive
	Value            *Node
}

// Doc is a parsed document.
type Doc struct {
	Text []byte
	Root *Node

	index func() lineIndex
}

func newDoc(text []byte) *Doc {
	return &Doc{Text: text, index: sync.OnceValue(func() lineIndex { return indexLines(text) })}
}

// LineCol gives the 1-based line and column of a byte offset. Columns count
// characters (code points), not bytes. It takes constant time, whatever the
// length of the line.
func (d *Doc) LineCol(offset int) (line, column int) {
	return d.index().at(d.Text, offset)
}

// Get returns the value under key, or nil. Of duplicates the last one counts,
// as for JSON.parse. It is nil-safe, and nil for anything but an object.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	for i := len(n.Members) - 1; i >= 0; i-- {
		if n.Members[i].Key == key {
			return n.Members[i].Value
		}
	}
	return nil
}

// Is reports whether n is there and of kind k.
func (n *Node) Is(k Kind) bool { return n != nil && n.Kind == k }

// Raw is the text of the value, a part of the document's text.
func (n *Node) Raw() []byte { return n.doc.Text[n.Start:n.End:n.End] }

// Bool gives the value of a boolean; ok is false for anything else.
func (n *Node) Bool() (value, ok bool) {
	if !n.Is(Bool) {
		return false, false
	}
	return n.Raw()[0] == 't', true
}

// Text gives the value of a string with its escapes resolved; ok is false for
// anything else. Bytes that are not UTF-8 become U+FFFD.
func (n *Node) Text() (value string, ok bool) {
	if !n.Is(String) {
		return "", false
	}
	return unquote(n.Raw()), true
}

// Number gives the value of a number; ok is false for anything else and for a
// number that no float64 can hold.
func (n *Node) Number() (value float64, ok bool) {
	if !n.Is(Number) {
		return 0, false
	}
	value, err := strconv.ParseFloat(string(n.Raw()), 64)
	return value, err == nil
}

// LineCol is the 1-based place of the value's first character.
func (n *Node) LineCol() (line, column int) { return n.doc.LineCol(n.Start) }

// Pointer is the RFC 6901 pointer to the value from the root of the document.
// Duplicate keys share one pointer.
func (n *Node) Pointer() string {
	if n.parent == nil {
		return ""
	}
	token := strconv.Itoa(n.place)
	if n.parent.Kind == Object {
		token = escapeToken.Replace(n.parent.Members[n.place].Key)
	}
	return n.parent.Pointer() + "/" + token
}

var escapeToken = strings.NewReplacer("~", "~0", "/", "~1")

// unquote resolves a string literal that the lexer has accepted.
func unquote(literal []byte) string {
	inner := literal[1 : len(literal)-1]
	plain := true
	for _, c := range inner {
		if c == '\\' || c >= utf8.RuneSelf {
			plain = false
			break
		}
	}
	if plain {
		return string(inner)
	}
	// The error only repeats that the text is not UTF-8, which is tolerated.
	text, _ := jsontext.AppendUnquote(nil, literal)
	return string(text)
}
