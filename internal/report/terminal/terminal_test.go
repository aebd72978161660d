package terminal_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/ax-check/ax-check/internal/report"
	"github.com/ax-check/ax-check/internal/report/terminal"
	"github.com/ax-check/ax-check/internal/verdict"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func sample(t *testing.T) report.Run {
	t.Helper()
	f, err := os.Open("../testdata/run.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	events, err := report.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return report.Collect(events)
}

func write(t *testing.T, f terminal.Format, run report.Run) string {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b, run); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	formats := map[string]terminal.Format{
		"wide.golden":   {Width: 120},
		"narrow.golden": {Width: 80},
		"color.golden":  {Width: 100, Color: true},
	}
	for name, f := range formats {
		t.Run(name, func(t *testing.T) {
			got := write(t, f, sample(t))
			file := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want +got (rewrite with -update):\n%s", diff)
			}
		})
	}
}

// Colour adds nothing but colour, and without it there is not one escape.
func TestColorAddsOnlyColor(t *testing.T) {
	plain := write(t, terminal.Format{Width: 100}, sample(t))
	colored := write(t, terminal.Format{Width: 100, Color: true}, sample(t))
	if strings.ContainsRune(plain, '\x1b') {
		t.Error("an escape sequence in plain text")
	}
	stripped := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(colored, "")
	if diff := cmp.Diff(plain, stripped); diff != "" {
		t.Errorf("colour changes the text (-plain +coloured):\n%s", diff)
	}
	if stripped == colored {
		t.Error("no colour although it was asked for")
	}
}

func TestLinesKeepToTheWidth(t *testing.T) {
	for _, width := range []int{80, 100, 120} {
		for line := range strings.Lines(write(t, terminal.Format{Width: width}, sample(t))) {
			if strings.HasPrefix(line, "decided ") { // always one line
				continue
			}
			if n := lipgloss.Width(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("width %d: a line of %d columns: %s", width, n, line)
			}
		}
	}
}

// The last line always says how much was decided, of an empty run too.
func TestLastLine(t *testing.T) {
	runs := map[string]report.Run{
		"decided 23 of 40 hints: 6 contradicted,": sample(t),
		"decided 0 of 0 hints":                    {Complete: true},
	}
	for want, run := range runs {
		lines := strings.Split(strings.TrimSpace(write(t, terminal.Format{}, run)), "\n")
		if last := lines[len(lines)-1]; !strings.HasPrefix(last, want) {
			t.Errorf("last line %q, want it to begin with %q", last, want)
		}
	}
}

// A tool's name cannot forge a line of the report.
func TestServerTextIsHarmless(t *testing.T) {
	name := "a\ndecided 4 of 4\x1b[2J\u202e"
	run := report.Run{Tools: []verdict.Tool{verdict.Undecided(&name, 0, nil, nil, verdict.Namespaces, "x", "said\r\x07")}}
	got := write(t, terminal.Format{}, run)
	if strings.ContainsAny(got, "\x1b\r\x07\u202e") || strings.Contains(got, "\ndecided 4") {
		t.Errorf("control characters came through: %q", got)
	}
}
