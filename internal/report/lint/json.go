package lint

import (
	"encoding/json"
	"io"

	"github.com/ax-check/ax-check/internal/finding"
)

// document is the JSON form, version 1. It is only ever extended.
type document struct {
	Schema   string            `json:"schema"`
	Findings []finding.Finding `json:"findings"`
	Summary  Summary           `json:"summary"`
}

// JSON writes the report as one ax-check.lint/v1 document.
func JSON(w io.Writer, r Report) error {
	d := document{Schema: "ax-check.lint/v1", Findings: []finding.Finding{}, Summary: r.Summary()}
	for _, list := range r.Lists {
		d.Findings = append(d.Findings, list.Findings...)
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(d)
}
