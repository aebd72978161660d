// Package terminal writes what a person reads: a table of all tools, then what
// is wrong, what could be said better, what could not be judged and why, and
// last, always, how much was decided.
//
// Meaning is never carried by colour alone, and nothing but colour is ever
// added to plain text. Whatever a server wrote is shown without control
// characters, so that it cannot move the cursor or forge a line.
package terminal

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/ax-check/ax-check/internal/effect"
	"github.com/ax-check/ax-check/internal/finding"
	"github.com/ax-check/ax-check/internal/hint"
	"github.com/ax-check/ax-check/internal/report"
	"github.com/ax-check/ax-check/internal/verdict"
)

const (
	defaultWidth = 100
	leastWidth   = 60
	mostWidth    = 140 // longer lines are hard to read
	maxEffects   = 3   // shown of one piece of evidence
	maxExcerpt   = 32  // columns of a value before or after
)

// Format says how to write. The zero value is plain text of 100 columns.
type Format struct {
	Width int  // columns of the terminal; 0 when unknown
	Color bool // emit colour
}

// Write writes the report of a run.
func (f Format) Write(w io.Writer, run report.Run) error {
	out := bufio.NewWriter(w)
	p := page{Writer: out, Format: f, run: run, width: f.columns()}
	p.head()
	p.table()
	p.contradicted()
	p.overcautious()
	p.undeclared()
	p.untested()
	p.incidental()
	p.findings()
	p.boundary()
	p.last()
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

func (f Format) columns() int {
	if f.Width == 0 {
		return defaultWidth
	}
	return min(max(f.Width, leastWidth), mostWidth)
}

// page is a report while it is written.
type page struct {
	*bufio.Writer
	Format
	run   report.Run
	width int
}

func (p *page) head() {
	parts := []string{strings.TrimSpace(or(p.run.Server.Name, "unnamed server") + " " + p.run.Server.Version)}
	if v := p.run.Server.Protocol; v != "" {
		parts = append(parts, "MCP "+v)
	}
	if t := p.run.Server.Transport; t != "" {
		parts = append(parts, t)
	}
	if t := p.run.Boundary.Tier; t != "" {
		parts = append(parts, "isolation: "+string(t))
	}
	p.line(p.paint(bold, cut(clean(strings.Join(parts, " · ")), p.width)))
}

// section writes a title with its count, below an empty line.
func (p *page) section(style style, title string, n int) {
	p.line("")
	if n > 0 {
		title = fmt.Sprintf("%s (%d)", title, n)
	}
	p.line(p.paint(style, title))
}

func (p *page) contradicted() {
	found := p.hints(verdict.Contradicted)
	if len(found) == 0 {
		return
	}
	p.section(red, "Contradicted", len(found))
	for i, h := range found {
		if i > 0 {
			p.line("")
		}
		claim := fmt.Sprintf("%s: %s declares %t", h.tool, h.name, h.Effective)
		p.line("  " + p.paint(red, symbol(verdict.Contradicted)) + " " + p.paint(bold, cut(claim, p.width-4)))
		p.wrapped(4, h.Reason)
		p.evidence(h)
		p.line("    " + p.paint(green, fmt.Sprintf("set %s to %t", h.name, h.Suggested)))
	}
}

func (p *page) overcautious() {
	found := p.hints(verdict.Overcautious)
	if len(found) == 0 {
		return
	}
	p.section(blue, "Overcautious: a safer value would hold", len(found))
	for _, h := range found {
		p.bullet(blue, verdict.Overcautious, fmt.Sprintf("%s: %s %s → %t: %s", h.tool, h.name, declared(h.Hint), h.Suggested, h.Reason))
	}
}

func (p *page) undeclared() {
	found := p.hints(verdict.Undeclared)
	if len(found) == 0 {
		return
	}
	p.section(bold, "Undeclared: absent, and the default is right", len(found))
	for _, n := range hint.Names() {
		var tools []string
		for _, h := range found {
			if h.name == n {
				tools = append(tools, h.tool)
			}
		}
		if len(tools) > 0 {
			p.bullet(bold, verdict.Undeclared, fmt.Sprintf("%s %t: %s", n, n.Default(), strings.Join(tools, ", ")))
		}
	}
}

// untested groups the hints that could not be judged by the reason.
func (p *page) untested() {
	found := p.hints(verdict.Untested)
	if len(found) == 0 {
		return
	}
	p.section(yellow, "Not judged", len(found))
	var reasons []string
	who := map[string][]string{}
	for _, h := range found {
		if !slices.Contains(reasons, h.Reason) {
			reasons = append(reasons, h.Reason)
		}
	}
	for _, t := range p.run.Tools {
		for _, r := range reasons {
			if hints := untestedFor(t, r); hints != "" {
				who[r] = append(who[r], toolName(t)+" ("+hints+")")
			}
		}
	}
	for _, r := range reasons {
		p.bullet(yellow, verdict.Untested, strings.Join(who[r], ", ")+": "+r)
	}
}

// untestedFor names the hints of a tool that could not be judged for a reason.
func untestedFor(t verdict.Tool, reason string) string {
	var names []string
	for _, n := range hint.Names() {
		if h := t.Hints[n]; h.Verdict == verdict.Untested && h.Reason == reason {
			names = append(names, heading(n))
		}
	}
	if len(names) == len(hint.Names()) {
		return "all four"
	}
	return strings.Join(names, ", ")
}

func (p *page) incidental() {
	var targets []string
	tools := map[string]int{}
	for _, t := range p.run.Tools {
		for _, target := range t.Incidental {
			if tools[target]++; tools[target] == 1 {
				targets = append(targets, target)
			}
		}
	}
	if len(targets) == 0 {
		return
	}
	p.section(bold, "Set apart as bookkeeping, not held against any tool", 0)
	for _, target := range targets {
		p.wrapped(2, fmt.Sprintf("%s (calls of %s)", target, counted(tools[target], "tool")))
	}
}

func (p *page) findings() {
	if len(p.run.Findings) == 0 {
		return
	}
	p.section(bold, "Findings", len(p.run.Findings))
	for _, f := range p.run.Findings {
		text := f.Rule + ": " + f.Message
		if f.Tool != nil {
			text = *f.Tool + ": " + text
		}
		style := map[finding.Severity]style{finding.Error: red, finding.Warn: yellow, finding.Info: blue}[f.Severity]
		p.hanging("  "+p.paint(style, f.Severity.String())+" ", 3+len(f.Severity.String()), text)
		if f.Fix != "" {
			p.wrapped(4, f.Fix)
		}
	}
}

func (p *page) boundary() {
	b := p.run.Boundary
	if len(b.Observed)+len(b.NotObserved) == 0 {
		return
	}
	text := "Observed: " + or(strings.Join(b.Observed, ", "), "nothing")
	if len(b.NotObserved) > 0 {
		text += ". Not observed: " + strings.Join(b.NotObserved, ", ")
	}
	p.line("")
	p.wrapped(0, text+".")
}

// last always says how much was decided.
func (p *page) last() {
	p.line("")
	if !p.run.Complete {
		p.hanging(p.paint(yellow, "Stopped early:")+" ", 15, p.run.Stopped)
	}
	sum := verdict.Summarize(p.run.Tools)
	text := fmt.Sprintf("decided %d of %d hints", sum.Decided(), sum.Total())
	var parts []string
	for _, v := range verdict.All() {
		if n := sum.Count(v); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	p.line(text)
}

// judged is a hint with its place.
type judged struct {
	verdict.Hint
	tool string
	name hint.Name
}

func (p *page) hints(v verdict.Verdict) []judged {
	var out []judged
	for _, t := range p.run.Tools {
		for _, n := range hint.Names() {
			if h := t.Hints[n]; h.Verdict == v {
				out = append(out, judged{h, toolName(t), n})
			}
		}
	}
	return out
}

func toolName(t verdict.Tool) string {
	if t.Name == nil {
		return fmt.Sprintf("entry %d", t.Index)
	}
	return clean(*t.Name)
}

// evidence shows the most telling trial: what was called, and what came of it.
func (p *page) evidence(h judged) {
	if len(h.Evidence) == 0 {
		return
	}
	i := slices.IndexFunc(p.run.Trials, func(t effect.Trial) bool { return t.ID == h.Evidence[0] })
	if i < 0 {
		return
	}
	t := p.run.Trials[i]
	lead := fmt.Sprintf("%s %s", t.ID, t.Kind)
	if len(h.Evidence) > 1 {
		lead += " (and " + strings.Join(h.Evidence[1:], ", ") + ")"
	}
	if len(t.Calls) > 0 {
		lead += ", arguments " + string(t.Calls[0].Arguments)
	}
	p.line(p.paint(faint, "    "+cut(clean(lead), p.width-4)))
	shown := bearing(t, h.name)
	for i, e := range shown {
		if i == maxEffects {
			p.line(p.paint(faint, fmt.Sprintf("      … %d more", len(shown)-maxEffects)))
			break
		}
		p.line("      " + cut(clean(p.effect(t, e)), p.width-6))
	}
}

// bearing picks the effects of a trial that bear on a hint.
func bearing(t effect.Trial, n hint.Name) []effect.Effect {
	return slices.DeleteFunc(slices.Clone(t.Effects), func(e effect.Effect) bool {
		switch n {
		case hint.OpenWorld:
			return !e.IsOpenWorld() || e.Incidental
		case hint.Destructive:
			return !e.IsDestructive()
		case hint.Idempotent:
			return !e.IsState() || e.Call < 2
		}
		return !e.IsState()
	})
}

func (p *page) effect(t effect.Trial, e effect.Effect) string {
	text := fmt.Sprintf("%s %s", e.Class, e.Target)
	if len(t.Calls) > 1 {
		text = fmt.Sprintf("call %d: %s", e.Call, text)
	}
	switch {
	case e.RenamedFrom != "":
		text += "  from " + e.RenamedFrom
	case e.Before != nil && e.After != nil:
		text += "  " + excerpt(*e.Before) + " → " + excerpt(*e.After)
	case e.Before != nil:
		text += "  was " + excerpt(*e.Before)
	case e.After != nil:
		text += "  " + excerpt(*e.After)
	}
	if e.Detail != "" {
		text += "  " + e.Detail
	}
	return text
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func width(s string) int { return lipgloss.Width(s) }
