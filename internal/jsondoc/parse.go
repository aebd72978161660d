package jsondoc

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits keep a hostile document from taking the memory of the machine.
// A zero field sets no limit (nesting then ends at the lexer's 10,000).
type Limits struct {
	Bytes  int // length of the text
	Depth  int // arrays and objects inside one another
	Values int // values in the whole document
}

// Error says what is wrong with a document, and where.
type Error struct {
	Line, Column int // 1-based
	Problem      string
}

func (e *Error) Error() string {
	return fmt.Sprintf("line %d column %d: %s", e.Line, e.Column, e.Problem)
}

// Parse reads one JSON value with nothing but white space around it. A byte
// order mark in front is passed over. An error is an *Error.
//
// The document keeps text; the caller must not change it.
func Parse(text []byte, limits Limits) (*Doc, error) {
	doc := newDoc(text)
	if limits.Bytes > 0 && len(text) > limits.Bytes {
		return nil, doc.errorAt(0, fmt.Sprintf("the document has %d bytes, more than the limit of %d", len(text), limits.Bytes))
	}
	p := parser{doc: doc, limits: limits, skipped: len(text) - len(bytes.TrimPrefix(text, byteOrderMark))}
	p.lexer = jsontext.NewDecoder(bytes.NewBuffer(text[p.skipped:]),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	root, err := p.value()
	if err != nil {
		return nil, err
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	doc.Root = root
	return doc, nil
}

var byteOrderMark = []byte("\xef\xbb\xbf")

type parser struct {
	doc     *Doc
	limits  Limits
	lexer   *jsontext.Decoder
	skipped int // bytes in front of the text that the lexer sees
	values  int
	open    []int // offsets of the brackets not yet closed
	fresh   []Node
}

// value reads the next value, with all that is in it.
func (p *parser) value() (*Node, error) {
	p.values++
	if p.limits.Values > 0 && p.values > p.limits.Values {
		return nil, p.doc.errorAt(p.offset(), fmt.Sprintf("more than %d values in one document", p.limits.Values))
	}
	switch p.lexer.PeekKind() {
	case '{':
		return p.container(Object)
	case '[':
		return p.container(Array)
	}
	raw, err := p.lexer.ReadValue()
	if err != nil {
		return nil, p.explain(err)
	}
	node := p.node(scalarKind(raw), p.offset()-len(raw))
	node.End = p.offset()
	return node, nil
}

func (p *parser) container(kind Kind) (*Node, error) {
	if _, err := p.lexer.ReadToken(); err != nil {
		return nil, p.explain(err)
	}
	start := p.offset() - 1
	if p.limits.Depth > 0 && len(p.open) >= p.limits.Depth {
		return nil, p.doc.errorAt(start, fmt.Sprintf("more than %d arrays and objects inside one another", p.limits.Depth))
	}
	p.open = append(p.open, start)
	node := p.node(kind, start)
	for {
		if k := p.lexer.PeekKind(); k == '}' || k == ']' {
			break
		}
		if err := p.child(node); err != nil {
			return nil, err
		}
	}
	if _, err := p.lexer.ReadToken(); err != nil {
		return nil, p.explain(err)
	}
	p.open = p.open[:len(p.open)-1]
	node.End = p.offset()
	return node, nil
}

// child reads one item or one member and hangs it into node.
func (p *parser) child(node *Node) error {
	var member Member
	if node.Kind == Object {
		raw, err := p.lexer.ReadValue()
		if err != nil {
			return p.explain(err)
		}
		member = Member{Key: unquote(raw), KeyStart: p.offset() - len(raw), KeyEnd: p.offset()}
	}
	value, err := p.value()
	if err != nil {
		return err
	}
	value.parent = node
	if node.Kind == Object {
		member.Value, value.place = value, len(node.Members)
		node.Members = append(node.Members, member)
	} else {
		value.place = len(node.Items)
		node.Items = append(node.Items, value)
	}
	return nil
}

// end makes sure that nothing follows the value.
func (p *parser) end() error {
	rest := p.doc.Text[p.offset():]
	text := bytes.TrimLeft(rest, " \t\r\n")
	if len(text) == 0 {
		return nil
	}
	problem := "unexpected text after the end of the JSON value"
	if text[0] == '{' || text[0] == '[' {
		problem = "a second JSON value after the first; one document holds one value"
	}
	return p.doc.errorAt(p.offset()+len(rest)-len(text), problem)
}

// node takes a node from a block of them: one allocation for many values.
func (p *parser) node(kind Kind, start int) *Node {
	if len(p.fresh) == 0 {
		p.fresh = make([]Node, min(max(16, p.values), 1024))
	}
	node := &p.fresh[0]
	p.fresh = p.fresh[1:]
	node.Kind, node.Start, node.doc = kind, start, p.doc
	return node
}

// offset is the end of what has been read, in the document's text.
func (p *parser) offset() int { return p.skipped + int(p.lexer.InputOffset()) }

func scalarKind(raw jsontext.Value) Kind {
	switch raw.Kind() {
	case '"':
		return String
	case '0':
		return Number
	case 't', 'f':
		return Bool
	}
	return Null
}
