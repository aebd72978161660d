// Package testenv gives tests the surroundings that they need: other users, and
// reasons to skip. Only tests import it.
package testenv

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// PublicDir makes a temporary folder that every user may enter, unlike that of
// testing.T, and removes it with the test.
func PublicDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ax-check-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("removing the test's folder: %v", err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// outcome is what a re-executed test told with its verbose output.
type outcome struct {
	ran     bool   // the test was found and run to its end
	skipped string // why it skipped; "" when it did not
}

var ended = regexp.MustCompile(`(?m)^\s*--- (PASS|FAIL|SKIP): (\S+) \(`)

// readOutcome finds the end of the test of this name in the output of a test
// binary that ran with -test.v. The reason of a skip is all that was logged.
func readOutcome(output, name string) outcome {
	for _, m := range ended.FindAllStringSubmatch(output, -1) {
		if m[2] != name {
			continue
		}
		o := outcome{ran: true}
		if m[1] == "SKIP" {
			o.skipped = logged(output)
		}
		return o
	}
	return outcome{}
}

// logged leaves out what the testing package itself prints.
func logged(output string) string {
	var lines []string
	for _, line := range strings.Split(output, "\n") {
		text := strings.TrimSpace(line)
		if text == "" || text == "PASS" || strings.HasPrefix(text, "===") || strings.HasPrefix(text, "---") {
			continue
		}
		lines = append(lines, text)
	}
	if len(lines) == 0 {
		return "no reason given"
	}
	return strings.Join(lines, "\n")
}

// pattern selects exactly the test of this name with -test.run.
func pattern(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}
