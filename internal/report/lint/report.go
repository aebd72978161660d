// Package lint writes the findings of a lint run: as text for people, and as
// JSON for programs.
package lint

import "github.com/ax-check/ax-check/internal/finding"

// Report is everything that one run of lint has to say.
type Report struct {
	Lists []List
}

// List is one tool list and what was found in it.
type List struct {
	// Source is the file, command or address that the list came from.
	Source   string
	Tools    int
	Findings []finding.Finding
}

// Summary counts a report.
type Summary struct {
	Error int `json:"error"`
	Warn  int `json:"warn"`
	Info  int `json:"info"`
	Tools int `json:"tools"`
}

// Summary counts the findings by severity, and the tools.
func (r Report) Summary() Summary {
	var s Summary
	for _, list := range r.Lists {
		s.Tools += list.Tools
		for _, f := range list.Findings {
			switch f.Severity {
			case finding.Error:
				s.Error++
			case finding.Warn:
				s.Warn++
			case finding.Info:
				s.Info++
			}
		}
	}
	return s
}
