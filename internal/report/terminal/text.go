package terminal

import (
	"strings"
	"unicode"

	"charm.land/lipgloss/v2"

	"github.com/ax-check/ax-check/internal/verdict"
)

// style is a way to set text apart where colour is asked for.
type style int

const (
	plain style = iota
	bold
	faint
	red
	yellow
	green
	blue
)

var styles = map[style]lipgloss.Style{
	bold:   lipgloss.NewStyle().Bold(true),
	faint:  lipgloss.NewStyle().Faint(true),
	red:    lipgloss.NewStyle().Foreground(lipgloss.Red).Bold(true),
	yellow: lipgloss.NewStyle().Foreground(lipgloss.Yellow),
	green:  lipgloss.NewStyle().Foreground(lipgloss.Green),
	blue:   lipgloss.NewStyle().Foreground(lipgloss.Blue),
}

func (p *page) paint(s style, text string) string {
	if !p.Color || s == plain || text == "" {
		return text
	}
	return styles[s].Render(text)
}

// line writes a line; what fails shows when the page is flushed.
func (p *page) line(text string) { _, _ = p.WriteString(strings.TrimRight(text, " ") + "\n") }

// wrapped writes text of the program or a server, broken to the width.
func (p *page) wrapped(indent int, text string) {
	p.hanging(strings.Repeat(" ", indent), indent, text)
}

// hanging writes text behind a lead of so many columns, and its further lines
// below the text.
func (p *page) hanging(lead string, columns int, text string) {
	for i, l := range wrap(clean(text), p.width-columns) {
		if i > 0 {
			lead = strings.Repeat(" ", columns)
		}
		p.line(lead + l)
	}
}

// bullet writes an item behind the sign of its verdict.
func (p *page) bullet(s style, v verdict.Verdict, text string) {
	p.hanging("  "+p.paint(s, symbol(v))+" ", 4, text)
}

// wrap breaks text at spaces; a word that is too long for a line is cut.
func wrap(text string, columns int) []string {
	var lines []string
	current := ""
	for word := range strings.FieldsSeq(text) {
		word = cut(word, columns)
		switch {
		case current == "":
			current = word
		case width(current)+1+width(word) <= columns:
			current += " " + word
		default:
			lines = append(lines, current)
			current = word
		}
	}
	return append(lines, current)
}

// cut shortens text to so many columns, leaving out its middle.
func cut(text string, columns int) string {
	if width(text) <= columns {
		return text
	}
	runes := []rune(text)
	head, tail := 0, len(runes)
	used := 1 // the ellipsis
	for fromHead := true; head < tail; fromHead = !fromHead {
		next := runes[tail-1]
		if fromHead {
			next = runes[head]
		}
		if used += width(string(next)); used > columns {
			break
		}
		if fromHead {
			head++
		} else {
			tail--
		}
	}
	return string(runes[:head]) + "…" + string(runes[tail:])
}

// clean takes the power from text that a server wrote: line ends are shown,
// whatever else does not print is replaced.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return '⏎'
		case r == '\t' || unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// excerpt shows a value on one line.
func excerpt(value string) string {
	value = strings.TrimRight(value, "\n")
	if value == "" {
		return "(empty)"
	}
	return cut(clean(value), maxExcerpt)
}
