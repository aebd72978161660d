package lint

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/ax-check/ax-check/internal/finding"
)

// Style says how the text may look, and names the rules.
type Style struct {
	Color bool
	// Title gives the title of a rule by its id.
	Title func(id string) string
}

const (
	// manyTools is from how many tools on a rule is told once for a list and
	// not with every tool.
	manyTools = 3
	// namedTools is how many of them are named.
	namedTools = 5
)

// Text writes the report for people: first what concerns single tools, then
// what many tools have in common, then the sums.
func Text(w io.Writer, r Report, style Style) error {
	p := &printer{Writer: bufio.NewWriter(w), style: style}
	for _, list := range r.Lists {
		p.list(list)
	}
	p.summary(r)
	return p.Flush()
}

// printer collects write errors in its Writer until Flush.
type printer struct {
	*bufio.Writer
	style Style
}

func (p *printer) list(list List) {
	common := commonRules(list.Findings)
	heading := ""
	for _, f := range list.Findings {
		if common[f.Rule] != nil {
			continue
		}
		if h := about(f, list.Source); h != heading {
			heading = h
			fmt.Fprintf(p, "%s\n", p.bold(clean(h)))
		}
		fmt.Fprintf(p, "  %s%s %s: %s\n", where(f), p.severity(f.Severity), f.Rule, clean(f.Message))
		fmt.Fprintf(p, "    fix: %s\n\n", f.Fix)
	}
	for _, f := range list.Findings {
		if tools := common[f.Rule]; tools != nil {
			p.common(tools)
			delete(common, f.Rule)
		}
	}
}

// common tells once what a rule found in many tools; fs holds one finding each.
func (p *printer) common(fs []finding.Finding) {
	f := fs[0]
	fmt.Fprintf(p, "%s\n", p.bold(fmt.Sprintf("%s in %d tools", p.style.Title(f.Rule), len(fs))))
	for _, f := range fs[:min(namedTools, len(fs))] {
		fmt.Fprintf(p, "  %s%s %s: %s\n", where(f), p.severity(f.Severity), f.Rule, clean(toolName(f)))
	}
	if more := len(fs) - namedTools; more > 0 {
		fmt.Fprintf(p, "  and %d more; --format json lists each\n", more)
	}
	fmt.Fprintf(p, "    fix: %s\n\n", f.Fix)
}

func (p *printer) summary(r Report) {
	s := r.Summary()
	fmt.Fprintf(p, "%s checked: %s, %s, %s\n", count(s.Tools, "tool"),
		count(s.Error, "error"), count(s.Warn, "warning"), count(s.Info, "info"))
	for _, list := range r.Lists {
		if len(list.Findings) > 0 {
			fmt.Fprintf(p, "ax-check explain %s tells more, and so for each rule\n", list.Findings[0].Rule)
			return
		}
	}
}

// commonRules finds the rules that hit many tools with one and the same fix,
// and for each the first finding in every such tool.
func commonRules(fs []finding.Finding) map[string][]finding.Finding {
	common := map[string][]finding.Finding{}
	for _, f := range fs {
		if f.Index == nil {
			continue
		}
		seen := common[f.Rule]
		if n := len(seen); n == 0 || *seen[n-1].Index != *f.Index {
			common[f.Rule] = append(seen, f)
		}
	}
	for rule, seen := range common {
		if len(seen) < manyTools {
			delete(common, rule)
		}
	}
	return common
}

// about is the heading that a finding stands under.
func about(f finding.Finding, source string) string {
	if f.Index == nil {
		return source
	}
	return toolName(f)
}

func toolName(f finding.Finding) string {
	if f.Tool == nil || strings.TrimSpace(*f.Tool) == "" {
		return fmt.Sprintf("the entry at index %d", *f.Index)
	}
	return *f.Tool
}

// where is file:line:column for a file and the pointer for a server.
func where(f finding.Finding) string {
	switch {
	case f.File != nil:
		return fmt.Sprintf("%s:%d:%d: ", clean(*f.File), *f.Line, *f.Column)
	case f.Pointer != "":
		return clean(f.Pointer) + ": "
	}
	return ""
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// clean keeps what a server wrote from moving the cursor of a terminal.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

func (p *printer) bold(text string) string { return p.sgr("1", text) }

func (p *printer) severity(s finding.Severity) string {
	color := map[finding.Severity]string{finding.Error: "31", finding.Warn: "33", finding.Info: "36"}[s]
	return p.sgr(color, s.String())
}

// sgr wraps text in an ECMA-48 "select graphic rendition" sequence.
func (p *printer) sgr(code, text string) string {
	if !p.style.Color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
