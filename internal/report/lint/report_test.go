package lint_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/ax-check/ax-check/internal/finding"
	"github.com/ax-check/ax-check/internal/report/lint"
	"github.com/google/go-cmp/cmp"
)

func inFile(rule string, severity finding.Severity, index int, tool string) finding.Finding {
	file, line, column := "t.json", index+1, 2
	f := finding.Finding{
		Rule: rule, Severity: severity, Index: &index, File: &file, Line: &line, Column: &column,
		Message: "message of " + rule, Fix: "Fix " + rule + ".",
	}
	if tool != "" {
		f.Tool = &tool
	}
	return f
}

func ofServer(rule string, pointer string) finding.Finding {
	f := finding.Finding{Rule: rule, Severity: finding.Warn, Pointer: pointer, Message: "message of " + rule, Fix: "Fix."}
	if pointer != "" {
		index, tool := 0, "a"
		f.Index, f.Tool = &index, &tool
	}
	return f
}

func text(t *testing.T, r lint.Report, color bool) string {
	t.Helper()
	var b bytes.Buffer
	style := lint.Style{Color: color, Title: func(id string) string { return "Title of " + id }}
	if err := lint.Text(&b, r, style); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextGroupsByTool(t *testing.T) {
	report := lint.Report{Lists: []lint.List{{Source: "t.json", Tools: 3, Findings: []finding.Finding{
		inFile("R1", finding.Error, 0, "a"), inFile("R2", finding.Info, 0, "a"), inFile("R1", finding.Error, 1, ""),
	}}}}
	want := `a
  t.json:1:2: error R1: message of R1
    fix: Fix R1.

  t.json:1:2: info R2: message of R2
    fix: Fix R2.

the entry at index 1
  t.json:2:2: error R1: message of R1
    fix: Fix R1.

3 tools checked: 2 errors, 0 warnings, 1 info
ax-check explain R1 tells more, and so for each rule
`
	if diff := cmp.Diff(want, text(t, report, false)); diff != "" {
		t.Error(diff)
	}
}

func TestTextTellsOnceWhatManyToolsShare(t *testing.T) {
	var findings []finding.Finding
	for i, tool := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		findings = append(findings, inFile("R1", finding.Info, i, tool), inFile("R1", finding.Info, i, tool))
	}
	findings = append(findings, inFile("R2", finding.Warn, 6, "g"))
	want := `g
  t.json:7:2: warn R2: message of R2
    fix: Fix R2.

Title of R1 in 7 tools
  t.json:1:2: info R1: a
  t.json:2:2: info R1: b
  t.json:3:2: info R1: c
  t.json:4:2: info R1: d
  t.json:5:2: info R1: e
  and 2 more; --format json lists each
    fix: Fix R1.

7 tools checked: 0 errors, 1 warning, 14 infos
ax-check explain R1 tells more, and so for each rule
`
	report := lint.Report{Lists: []lint.List{{Source: "t.json", Tools: 7, Findings: findings}}}
	if diff := cmp.Diff(want, text(t, report, false)); diff != "" {
		t.Error(diff)
	}
}

func TestTextOfServer(t *testing.T) {
	report := lint.Report{Lists: []lint.List{{Source: "srv --x", Tools: 1, Findings: []finding.Finding{ofServer("W1", ""), ofServer("R1", "/tools/0")}}}}
	want := `srv --x
  warn W1: message of W1
    fix: Fix.

a
  /tools/0: warn R1: message of R1
    fix: Fix.

1 tool checked: 0 errors, 2 warnings, 0 infos
ax-check explain W1 tells more, and so for each rule
`
	if diff := cmp.Diff(want, text(t, report, false)); diff != "" {
		t.Error(diff)
	}
}

func TestTextKeepsControlCharactersOut(t *testing.T) {
	f := inFile("R1", finding.Error, 0, "a\x1b[2J\nb")
	f.Message = "m\x07\r"
	report := lint.Report{Lists: []lint.List{{Findings: []finding.Finding{f}}}}
	got := text(t, report, false)
	if strings.ContainsAny(got, "\x1b\x07\r") || !strings.Contains(got, "a\ufffd[2J\ufffdb") {
		t.Errorf("got %q", got)
	}
	if colored := text(t, report, true); !strings.Contains(colored, "\x1b[31merror\x1b[0m") || strings.Contains(colored, "[2J\n") {
		t.Errorf("got %q", colored)
	}
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	report := lint.Report{Lists: []lint.List{
		{Tools: 2, Findings: []finding.Finding{inFile("R<1>", finding.Error, 0, "a")}},
		{Tools: 1, Findings: []finding.Finding{ofServer("W1", "")}},
	}}
	if err := lint.JSON(&b, report); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Schema   string
		Findings []map[string]any
		Summary  map[string]int
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Schema != "ax-check.lint/v1" || len(got.Findings) != 2 || got.Findings[0]["severity"] != "error" || got.Findings[0]["rule"] != "R<1>" {
		t.Errorf("got %+v", got)
	}
	for _, key := range []string{"tool", "index", "file", "line", "column"} {
		if value, ok := got.Findings[1][key]; !ok || value != nil {
			t.Errorf("%s of a finding about a server is %v, want null", key, value)
		}
	}
	if diff := cmp.Diff(map[string]int{"error": 1, "warn": 1, "info": 0, "tools": 3}, got.Summary); diff != "" {
		t.Error(diff)
	}
}

func TestJSONOfNothing(t *testing.T) {
	var b bytes.Buffer
	if err := lint.JSON(&b, lint.Report{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `"findings": []`) {
		t.Errorf("got %s", b.String())
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteErrorsAreTold(t *testing.T) {
	if err := lint.Text(broken{}, lint.Report{}, lint.Style{}); err == nil {
		t.Error("text: no error")
	}
	if err := lint.JSON(broken{}, lint.Report{}); err == nil {
		t.Error("json: no error")
	}
}
