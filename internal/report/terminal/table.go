package terminal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ax-check/ax-check/internal/hint"
	"github.com/ax-check/ax-check/internal/verdict"
)

const (
	gutter    = 2
	leastName = 12 // columns
)

// table writes one row a tool and one cell a hint: the declared value, the
// observed one where it differs, and the sign of the verdict.
func (p *page) table() {
	p.line("")
	if len(p.run.Tools) == 0 {
		p.line("The server offers no tools.")
		return
	}
	columns := p.columnsOfHints()
	name := p.nameColumn(columns)

	header := pad("tool", name)
	for i, n := range hint.Names() {
		header += strings.Repeat(" ", gutter) + pad(heading(n), columns[i])
	}
	p.line("  " + p.paint(faint, strings.TrimRight(header, " ")))
	for _, t := range p.run.Tools {
		row := "  " + pad(cut(toolName(t), name), name)
		for i, n := range hint.Names() {
			text := cell(t.Hints[n])
			row += strings.Repeat(" ", gutter) + p.paint(styleOf(t.Hints[n].Verdict), text) + strings.Repeat(" ", columns[i]-width(text))
		}
		p.line(row)
	}
	p.legend()
}

func (p *page) columnsOfHints() []int {
	columns := make([]int, len(hint.Names()))
	for i, n := range hint.Names() {
		columns[i] = width(heading(n))
		for _, t := range p.run.Tools {
			columns[i] = max(columns[i], width(cell(t.Hints[n])))
		}
	}
	return columns
}

// nameColumn gives the names what the hints leave, and no more than they need.
func (p *page) nameColumn(columns []int) int {
	room := p.width - 2
	for _, c := range columns {
		room -= gutter + c
	}
	need := width("tool")
	for _, t := range p.run.Tools {
		need = max(need, width(toolName(t)))
	}
	return max(min(need, room), leastName)
}

// legend explains the signs that the table uses.
func (p *page) legend() {
	used := verdict.Summarize(p.run.Tools)
	p.line("")
	text := "declared → observed "
	for _, v := range verdict.All() {
		if used.Count(v) == 0 {
			continue
		}
		part := "  " + symbol(v) + " " + string(v)
		if width(text)+width(part)+gutter > p.width {
			p.line("  " + p.paint(faint, text))
			text, part = "", strings.TrimSpace(part)
		}
		text += part
	}
	p.line("  " + p.paint(faint, text))
}

func heading(n hint.Name) string { return strings.TrimSuffix(string(n), "Hint") }

// cell shows a value once where declared and observed agree.
func cell(h verdict.Hint) string {
	sign := symbol(h.Verdict)
	was := declared(h)
	switch {
	case h.Observed == nil:
		return was + " → " + sign
	case was == fmt.Sprint(*h.Observed):
		return was + " " + sign
	}
	return fmt.Sprintf("%s → %t %s", was, *h.Observed, sign)
}

// declared shows an absent hint as a dash.
func declared(h verdict.Hint) string {
	if b, ok := h.Declared.Bool(); ok {
		return fmt.Sprint(b)
	}
	if h.DeclaredRaw != nil {
		return "invalid"
	}
	return "–"
}

func symbol(v verdict.Verdict) string {
	i := slices.Index(verdict.All(), v)
	return []string{"✗", "✓", "=", "~", "·", "?", "/"}[i]
}

func styleOf(v verdict.Verdict) style {
	switch v {
	case verdict.Contradicted:
		return red
	case verdict.Supported, verdict.Confirmed:
		return green
	case verdict.Overcautious:
		return blue
	case verdict.Untested:
		return yellow
	case verdict.Moot:
		return faint
	}
	return plain
}

func pad(s string, columns int) string {
	return s + strings.Repeat(" ", max(0, columns-width(s)))
}
