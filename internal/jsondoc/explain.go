package jsondoc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

func (d *Doc) errorAt(offset int, problem string) *Error {
	line, column := d.LineCol(offset)
	return &Error{Line: line, Column: column, Problem: problem}
}

// explain turns the lexer's error into words for someone who looks at the file.
func (p *parser) explain(err error) error {
	var syntactic *jsontext.SyntacticError
	if !errors.As(err, &syntactic) {
		return p.unexpectedEnd() // io.EOF: nothing but white space
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return p.unexpectedEnd()
	}
	at := min(p.skipped+int(syntactic.ByteOffset), len(p.doc.Text))
	if len(bytes.TrimSpace(p.doc.Text[at:])) == 0 {
		return p.unexpectedEnd()
	}
	if problem := recognise(p.doc.Text, at); problem != "" {
		return p.doc.errorAt(at, problem)
	}
	if p.expectsKey(at) {
		return p.doc.errorAt(at, "a key must be a string in double quotes")
	}
	return p.doc.errorAt(at, syntactic.Err.Error())
}

// unexpectedEnd names what was still open when the text ended.
func (p *parser) unexpectedEnd() error {
	text := p.doc.Text
	if len(bytes.TrimSpace(text[p.skipped:])) == 0 {
		return p.doc.errorAt(len(text), "the document is empty")
	}
	problem := "unexpected end of file"
	if n := len(p.open); n > 0 {
		what := "object"
		if text[p.open[n-1]] == '[' {
			what = "array"
		}
		line, column := p.doc.LineCol(p.open[n-1])
		problem += fmt.Sprintf(": the %s opened at line %d column %d is never closed", what, line, column)
	}
	return p.doc.errorAt(len(text), problem)
}

// recognise names the slips that people and programs make most often. It
// returns "" when the text at the offset looks like none of them.
func recognise(text []byte, at int) string {
	rest := text[at:]
	switch c := rest[0]; {
	case slices.Contains(text[:min(4, len(text))], 0):
		return "the text looks like UTF-16; JSON must be UTF-8"
	case c == ',':
		if next := bytes.TrimLeft(rest[1:], " \t\r\n"); len(next) > 0 && (next[0] == '}' || next[0] == ']') {
			return fmt.Sprintf("a comma before the closing %c; remove it", next[0])
		}
	case c == '\'':
		return "single quotes are not JSON; use double quotes"
	case c == '/' && len(rest) > 1 && (rest[1] == '/' || rest[1] == '*'):
		return "comments are not JSON; remove it"
	case c < ' ' && c != '\t' && c != '\n' && c != '\r':
		return fmt.Sprintf("a control character (U+%04X); inside a string write \\u%04x", c, c)
	case c == '\n' || c == '\r' || c == '\t':
		if word := trailingWord(text[:at]); word != "" && startsValue(text[:at-len(word)]) {
			return word + " is not a JSON value"
		}
		return "a line break or tab inside a string; write \\n or \\t"
	case c == '}' || c == ']':
		return fmt.Sprintf("unexpected %c", c)
	case isWordByte(c):
		if startsValue(text[:at]) {
			return leadingWord(rest) + " is not a JSON value"
		}
	}
	return ""
}

// expectsKey reports whether a key of the innermost object stands at the offset.
func (p *parser) expectsKey(at int) bool {
	text := p.doc.Text
	before := bytes.TrimRight(text[:at], " \t\r\n")
	return len(p.open) > 0 && text[p.open[len(p.open)-1]] == '{' && bytes.IndexByte([]byte("{,"), before[len(before)-1]) >= 0
}

// startsValue reports whether a value may follow the text before it.
func startsValue(before []byte) bool {
	before = bytes.TrimRight(before, " \t\r\n")
	return len(before) == 0 || bytes.IndexByte([]byte(":["), before[len(before)-1]) >= 0
}

func leadingWord(text []byte) string {
	end := slices.IndexFunc(text, func(c byte) bool { return !isWordByte(c) })
	if end < 0 {
		end = len(text)
	}
	return string(text[:min(end, 20)])
}

func trailingWord(text []byte) string {
	return string(text[len(bytes.TrimRightFunc(text, func(r rune) bool { return r < 0x80 && isWordByte(byte(r)) })):])
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}
