package reply

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ax-check/ax-check/internal/effect"
)

type reading struct {
	Outcome effect.Outcome
	Vacuous bool
	Reason  string
}

func read(r Reply) reading {
	outcome, vacuous, reason := Classify(r)
	return reading{outcome, vacuous, reason}
}

func TestTheProtocolSpeaksFirst(t *testing.T) {
	message := "Unknown tool: frob"
	tests := map[string]struct {
		reply Reply
		want  reading
	}{
		"protocol error": {
			Reply{ProtocolError: &message, Text: "done"},
			reading{effect.ProtocolError, false, message},
		},
		"isError with text": {
			Reply{IsError: true, Text: "no such file: a.txt\nat line 3"},
			reading{effect.IsError, false, "no such file: a.txt"},
		},
		"isError with structure only": {
			Reply{IsError: true, Structured: json.RawMessage(`{"code":7}`)},
			reading{effect.IsError, false, `{"code":7}`},
		},
		"isError wins over an idle text": {
			Reply{IsError: true, Text: "nothing to do"},
			reading{effect.IsError, false, "nothing to do"},
		},
		"empty reply": {Reply{}, reading{effect.OK, false, ""}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, read(tc.reply)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestErrorsToldInTexts(t *testing.T) {
	failures := []string{
		"Error: ENOENT: no such file or directory, open '/tmp/x'",
		"error: pathspec 'x' did not match any file(s) known to git",
		"**Error:** the note could not be saved",
		"## Error: bad request",
		"Error - invalid token",
		"[ERROR] connection refused",
		"Error (404): page missing",
		"TypeError: Cannot read properties of undefined (reading 'x')\n    at handler (/app/index.js:3:4)",
		"MCP error -32602: Input validation error: Invalid arguments",
		"Error executing query: near \"SELEC\": syntax error",
		"An error occurred while reading the file",
		"fatal: not a git repository (or any of the parent directories): .git",
		"ENOENT: no such file or directory, stat '/x'",
		"Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nKeyError: 'x'",
		"Failed to fetch the page: 503",
		"Could not open database",
		"Could not find note 7",
		"Cannot delete a folder that is not empty",
		"Unable to parse date \"tomorrow\"",
		"Access denied - path outside allowed directories: /etc/passwd",
		"Permission denied",
		"Invalid API key",
		"Missing required parameter: path",
		"Unknown action: frobnicate",
		"❌ The task was not created",
		"ValueError: " + strings.Repeat("x", 1500),
		"Error: boom\n" + strings.Repeat("    at frame (/app/x.js:1:1)\n", 200),
	}
	for _, text := range failures {
		if got := read(Reply{Text: text}); got.Outcome != effect.SoftError || got.Reason == "" {
			t.Errorf("%.60q reads as %+v, a told error is wanted", text, got)
		}
	}
}

func TestContentsThatSpeakOfErrors(t *testing.T) {
	fine := []string{
		"Successfully wrote to /tmp/notes.txt",
		"[FILE] error.log\n[FILE] failed-runs.txt\n[DIR] src",
		"package main\n\n// Error: see below\nfunc main() {}",
		"Errors and how to avoid them\n\nAn essay.",
		"Error handling in Go\nis explicit.",
		"The function returns an error: the file is missing.",
		"ERROR: disk full\n" + strings.Repeat("INFO: a line of a log\n", 40),
		"Failed runs of last week\n" + strings.Repeat("run 1\n", 10),
		"Invalidated 3 cache entries",
		"Cannon Street, London",
		"Exceptional weather today",
		"- first point\n- error: second point",
		"0 errors, 0 warnings",
		"Created issue \"Error: crash on start\"",
		"Forbidding heights\n" + strings.Repeat("x", 400),
		`["Error: a", "Error: b"]`,
		`{"results": [{"error": "in a row"}]}`,
		`{"content": "Error: this is what the file says"}`,
		`{"error": null, "data": 1}`,
		`{"error": "", "errors": []}`,
		`{"error": false}`,
		`{"success": true, "message": "saved"}`,
		`{"status": "open"}`,
		`{"status": 0}`,
		"[]", "{}", "null", "42", "",
	}
	for _, text := range fine {
		if diff := cmp.Diff(reading{effect.OK, false, ""}, read(Reply{Text: text})); diff != "" {
			t.Errorf("%.60q:\n%s", text, diff)
		}
	}
}

func TestErrorsToldInObjects(t *testing.T) {
	tests := map[string]string{ // JSON to reason
		`{"error":"no such table: x"}`:                                 "no such table: x",
		`{"error":{"code":4,"message":"quota exceeded"}}`:              "quota exceeded",
		`{"error":true,"message":"bad id"}`:                            "bad id",
		`{"success":false,"message":"booking is closed"}`:              "booking is closed",
		`{"success":false}`:                                            "success is false",
		`{"ok":false,"reason":"locked"}`:                               "locked",
		`{"status":"error","message":"unknown city"}`:                  "unknown city",
		`{"status":"FAILED"}`:                                          "status is FAILED",
		`{"isError":true,"content":[]}`:                                "isError is true",
		`{"errorMessage":"timeout"}`:                                   "timeout",
		"  \n{\"error\":\"first line\\nsecond line\",\"data\":null}\n": "first line",
	}
	for text, reason := range tests {
		want := reading{effect.SoftError, false, reason}
		if diff := cmp.Diff(want, read(Reply{Text: text})); diff != "" {
			t.Errorf("as text, %s:\n%s", text, diff)
		}
		structured := Reply{Text: "see the structured content", Structured: json.RawMessage(text)}
		if diff := cmp.Diff(want, read(structured)); diff != "" {
			t.Errorf("structured, %s:\n%s", text, diff)
		}
	}
}

func TestNothingWasDone(t *testing.T) {
	idle := []string{
		"0 rows affected", "Query OK, 0 rows affected", "(0 rows)", "No rows were deleted.",
		"Nothing to do.", "nothing to commit, working tree clean", "Nothing was removed",
		"No changes", "No changes made.", "No changes were needed", "no changes to save", "No edits applied",
		"No matches found for \"x\"", "No results.", "No such booking: B-9",
		"Note 7 not found", "The table does not exist.",
		"Already up to date.", "Directory already exists", "The booking is already cancelled",
		"File unchanged", "Unknown name x was ignored",
		`{"affected":0}`, `{"changes":0,"lastInsertRowid":0}`, `{"deleted":false,"id":3}`, `{"found":false}`,
		`{"updated":0,"deleted":0}`, `{"message":"nothing to do"}`,
	}
	for _, text := range idle {
		if got := read(Reply{Text: text}); got.Outcome != effect.OK || !got.Vacuous || got.Reason == "" {
			t.Errorf("%q reads as %+v, vacuous is wanted", text, got)
		}
	}
	wrapped := Reply{Text: "0 rows affected", Structured: json.RawMessage(`{"result":"0 rows affected"}`)}
	if got := read(wrapped); !got.Vacuous {
		t.Errorf("a text repeated in the structured content reads as %+v", got)
	}
}

func TestSomethingWasDone(t *testing.T) {
	busy := []string{
		"10 rows affected", "120 rows", "3 files changed, 0 insertions", "Deleted 1 note",
		"Created B-1004", "Successfully created directory /x",
		"Chapter one\n" + strings.Repeat("Nothing to see here, said the guard.\n", 9),
		`{"changes":1,"lastInsertRowid":9}`, `{"updated":0,"inserted":2}`, `{"deleted":true}`,
		`{"found":true,"items":[]}`, `{"items":[]}`, `{"content":"not found is what the file says"}`,
		"{}", "[]",
	}
	for _, text := range busy {
		if diff := cmp.Diff(reading{effect.OK, false, ""}, read(Reply{Text: text})); diff != "" {
			t.Errorf("%.60q:\n%s", text, diff)
		}
	}
}

func TestReasonsAreShortAndValid(t *testing.T) {
	long := "Error: " + strings.Repeat("é", 300)
	got := read(Reply{Text: long})
	if len(got.Reason) > maxExcerpt+len("…") || !utf8.ValidString(got.Reason) {
		t.Errorf("reason of %d bytes, valid %t", len(got.Reason), utf8.ValidString(got.Reason))
	}
	if got := read(Reply{IsError: true, Text: "bad \xff byte"}); !utf8.ValidString(got.Reason) {
		t.Errorf("reason %q is not UTF-8", got.Reason)
	}
}

func FuzzClassify(f *testing.F) {
	f.Add("Error: x", `{"error":{"message":"y"}}`, false)
	f.Add("0 rows", `{"affected":0}`, true)
	f.Add("\xff", `{`, false)
	f.Fuzz(func(t *testing.T, text, structured string, isError bool) {
		outcome, vacuous, reason := Classify(Reply{IsError: isError, Text: text, Structured: json.RawMessage(structured)})
		if vacuous && outcome != effect.OK {
			t.Errorf("vacuous with outcome %s", outcome)
		}
		if !utf8.ValidString(reason) || strings.Contains(reason, "\n") {
			t.Errorf("reason %q", reason)
		}
		if outcome == effect.OK && !vacuous && reason != "" {
			t.Errorf("a fine reply with reason %q", reason)
		}
	})
}
