package rule

import (
	"fmt"
	"strings"
)

// Doc is the prose of a rule's page.
type Doc struct {
	Summary        string
	What           string
	Why            string
	HowToFix       string
	Before, After  string // JSON, or what goes over the wire
	HowDetected    string
	FalsePositives string
	Sources        []Source
}

// Source is where a fact on the page comes from.
type Source struct {
	Title, URL string
	Checked    string // the day on which someone read it there: 2006-01-02
	Says       string
}

// The headings of a page, in their order.
const (
	headWhat           = "What it checks"
	headWhy            = "Why it matters"
	headHowToFix       = "How to fix"
	headBefore         = "Before"
	headAfter          = "After"
	headHowDetected    = "How ax-check detects it"
	headFalsePositives = "Known false positives"
	headSources        = "Sources"
)

var headings = []string{headWhat, headWhy, headHowToFix, headBefore, headAfter, headHowDetected, headFalsePositives, headSources}

// Doc reads the rule's page. Every heading must be there, in order, with text.
func (r Rule) Doc() (Doc, error) {
	doc, err := parseDoc(r.Page)
	if err != nil {
		return Doc{}, fmt.Errorf("page of %s: %w", r.ID, err)
	}
	return doc, nil
}

func parseDoc(page string) (Doc, error) {
	summary, rest, _ := strings.Cut(page, "\n## ")
	sections := map[string]string{}
	for i, part := range strings.Split(rest, "\n## ") {
		heading, body, _ := strings.Cut(part, "\n")
		body = strings.TrimSpace(body)
		if i >= len(headings) || heading != headings[i] {
			return Doc{}, fmt.Errorf("unexpected heading %q; the headings are %s", heading, strings.Join(headings, ", "))
		}
		if body == "" {
			return Doc{}, fmt.Errorf("nothing under %q", heading)
		}
		if code := heading == headBefore || heading == headAfter; code && !fenced(body) {
			return Doc{}, fmt.Errorf("want one code block under %q", heading)
		}
		sections[heading] = body
	}
	if len(sections) != len(headings) {
		return Doc{}, fmt.Errorf("%d of %d headings", len(sections), len(headings))
	}
	sources, err := parseSources(sections[headSources])
	if err != nil {
		return Doc{}, err
	}
	return Doc{
		Summary:        strings.TrimSpace(summary),
		What:           sections[headWhat],
		Why:            sections[headWhy],
		HowToFix:       sections[headHowToFix],
		Before:         unfence(sections[headBefore]),
		After:          unfence(sections[headAfter]),
		HowDetected:    sections[headHowDetected],
		FalsePositives: sections[headFalsePositives],
		Sources:        sources,
	}, nil
}

func fenced(body string) bool {
	return strings.HasPrefix(body, "```") && strings.HasSuffix(body, "\n```") && strings.Count(body, "```") == 2
}

// unfence takes a code block out of its fence.
func unfence(body string) string {
	_, code, _ := strings.Cut(body, "\n")
	return strings.TrimSuffix(code, "```")
}

// parseSources reads lines such as
//
//   - [Title](https://address), checked 2026-09-22. What it says.
func parseSources(body string) ([]Source, error) {
	var sources []Source
	for _, item := range strings.Split("\n"+body, "\n- ")[1:] {
		item = strings.Join(strings.Fields(item), " ")
		title, rest, ok1 := strings.Cut(strings.TrimPrefix(item, "["), "](")
		url, rest, ok2 := strings.Cut(rest, "), checked ")
		checked, says, ok3 := strings.Cut(rest, ". ")
		if !ok1 || !ok2 || !ok3 {
			return nil, fmt.Errorf("a source must read [title](address), checked DATE. What it says: %q", item)
		}
		sources = append(sources, Source{Title: title, URL: url, Checked: checked, Says: says})
	}
	if len(sources) == 0 {
		return nil, fmt.Errorf("no sources")
	}
	return sources, nil
}
