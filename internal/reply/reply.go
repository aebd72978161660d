// Package reply tells what the reply to a tools/call means: whether the tool
// did its work, failed, told of a failure inside a reply that the protocol
// calls a success, or had nothing to do.
//
// It looks only at the reply's own frame: the start of a text, a text that is
// short as a whole, the top-level keys of a JSON object. What a tool hands over
// (the contents of a file, rows, pages) may speak of errors as it likes. Where
// a frame cannot be told from what it holds, such as a short file that begins
// with "Error:", the reading is the one that claims less: the call then counts
// as not effective, which can leave a hint untested but never accuse a tool.
package reply

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/ax-check/ax-check/internal/effect"
)

// Reply is what came back for one call.
type Reply struct {
	// ProtocolError is the message of a JSON-RPC error; nil when there was none.
	ProtocolError *string
	// IsError is the result's own flag.
	IsError bool
	// Text is the text of the result's content, its blocks joined by line feeds.
	Text string
	// Structured is the result's structuredContent; empty when absent.
	Structured json.RawMessage
}

// Classify gives the outcome of a reply that arrived: OK, SoftError, IsError or
// ProtocolError. vacuous is true for an OK reply that says that nothing was
// done. reason quotes the reply in short where it is not OK or vacuous.
//
// An empty list or object is not vacuous: a listing of an empty store looks the
// same as a search without a match, and both did their work. A text that says
// "no matches" is vacuous: an edit that found nothing to replace says so too.
func Classify(r Reply) (outcome effect.Outcome, vacuous bool, reason string) {
	switch {
	case r.ProtocolError != nil:
		return effect.ProtocolError, false, excerpt(*r.ProtocolError)
	case r.IsError:
		return effect.IsError, false, excerpt(r.message())
	}
	frames := r.frames()
	for _, f := range frames {
		if why, bad := f.failure(); bad {
			return effect.SoftError, false, why
		}
	}
	if isErrorText(r.Text) {
		return effect.SoftError, false, excerpt(r.Text)
	}
	for _, f := range frames {
		if why, idle := f.idle(); idle {
			return effect.OK, true, why
		}
	}
	if !isData(r.Text) && isIdleText(r.Text) {
		return effect.OK, true, excerpt(r.Text)
	}
	return effect.OK, false, ""
}

// message is what a failed reply says: its text, else its structured content.
func (r Reply) message() string {
	if strings.TrimSpace(r.Text) != "" {
		return r.Text
	}
	return string(r.Structured)
}

// frames are the JSON objects that the reply consists of: the structured
// content, and a text that is an object as a whole.
func (r Reply) frames() []frame {
	var out []frame
	for _, raw := range [][]byte{r.Structured, []byte(r.Text)} {
		raw = bytes.TrimSpace(raw)
		if len(raw) == 0 || raw[0] != '{' {
			continue
		}
		var f frame
		if json.Unmarshal(raw, &f) == nil {
			out = append(out, f)
		}
	}
	return out
}

// frame holds the top-level members of a reply that is a JSON object.
type frame map[string]json.RawMessage

// failure reports members that say that the call failed.
func (f frame) failure() (reason string, failed bool) {
	for _, key := range []string{"error", "Error", "errorMessage", "error_message"} {
		raw := f[key]
		switch {
		case string(raw) == "true":
			return f.explain(key + " is true"), true
		case says(raw):
			return excerpt(plain(raw)), true
		}
	}
	for _, key := range []string{"success", "ok", "succeeded"} {
		if string(f[key]) == "false" {
			return f.explain(key + " is false"), true
		}
	}
	if string(f["isError"]) == "true" || string(f["is_error"]) == "true" {
		return f.explain("isError is true"), true
	}
	for _, key := range []string{"status", "result", "state"} {
		switch strings.ToLower(plain(f[key])) {
		case "error", "failed", "failure", "fail":
			return f.explain(key + " is " + plain(f[key])), true
		}
	}
	return "", false
}

// explain takes the reply's own words for a failure where it has some.
func (f frame) explain(otherwise string) string {
	for _, key := range []string{"message", "reason", "detail", "details"} {
		if raw, ok := f[key]; ok && says(raw) {
			return excerpt(plain(raw))
		}
	}
	return otherwise
}

// counters are members that count or confirm what a call changed.
var counters = []string{
	"affected", "affectedRows", "affected_rows", "rowsAffected", "rows_affected", "rowCount", "row_count",
	"changes", "changed", "updated", "modified", "deleted", "removed", "inserted", "created", "written",
	"replaced", "replacements", "matched", "matchedCount", "modifiedCount", "deletedCount", "found",
}

// idle reports counters that are all zero or false, or a message that says that
// nothing was done.
func (f frame) idle() (reason string, idle bool) {
	for _, key := range counters {
		switch string(f[key]) {
		case "":
		case "0", "false":
			if !idle {
				reason, idle = key+" is "+string(f[key]), true
			}
		default:
			return "", false
		}
	}
	if message := plain(f["message"]); !idle && isIdleText(message) {
		return excerpt(message), true
	}
	return reason, idle
}

// says reports a member that carries something: not null, false, or empty.
func says(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "false", `""`, "[]", "{}", "0":
		return false
	}
	return true
}

// plain is a member's text: a string's own, an object's message, else the JSON.
func plain(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var nested struct{ Message string }
	if json.Unmarshal(raw, &nested) == nil && nested.Message != "" {
		return nested.Message
	}
	return string(raw)
}

// Sizes, in bytes and lines, up to which a text as a whole is the tool's own
// word and not something that it hands over.
const (
	shortText, shortLines   = 300, 4
	mediumText, mediumLines = 2000, 20
)

var (
	// decoration is what may stand before the first word.
	decoration = regexp.MustCompile("^[\\s*#>`\\[\\]_-]+")
	// errorStart is a label: "Error:", "TypeError:", "MCP error -32603:",
	// "Error (404):", "[ERROR]", "ENOENT: ...".
	errorStart = regexp.MustCompile(`^(?:(?i:(?:[a-z]+ ){0,3}[a-z]*(?:error|exception))(?:\s*[-(]?\d+\)?)?\**\]?\s*[:–—-]|(?i:error)\]|(?i:fatal):|E[A-Z]{3,12}: |Traceback \(most recent)`)
	// errorMark is a sign that tools put before a failure.
	errorMark = regexp.MustCompile(`^\s*(?:❌|✗|✘|🚫|⛔)`)
	// errorOpening begins a short sentence that tells of a failure.
	errorOpening = regexp.MustCompile(`(?i)^(?:(?:an? )?(?:unexpected |internal |unknown )?error (?:occurred|while|when|in |reading|writing|executing)|failed\b|failure\b|could not |couldn't |cannot |can't |unable to |(?:access|permission) (?:is )?denied|operation not permitted|unauthori[sz]ed|forbidden|not allowed|invalid\b|missing (?:required|parameter|argument)|unknown (?:tool|parameter|argument|command|action|option|operation)|(?:request|operation|call) (?:failed|timed out)|timed out)`)
	// idleWords say that nothing was done.
	idleWords = regexp.MustCompile(`(?i)(?:` +
		`\b(?:0|zero|no) (?:rows?|records?|lines?|items?|files?|entries|documents?|changes?|edits?|replacements?|occurrences?)(?: (?:were|was|have been))? (?:affected|changed|updated|deleted|removed|inserted|modified|replaced|written|moved|made|found|applied|needed|necessary|required|detected)\b` +
		`|\b0 rows?\b|\bnothing (?:to|was|has been|changed|happened)\b|\bno[- ]op\b|^\W*no changes?\W*$|\bno changes?(?: to)? (?:commit|apply|save|make)\b` +
		`|\bno (?:match(?:es)?|results?|such)\b|\bnot found\b|\b(?:does not|doesn't|do not|don't) exist\b|\bcould not find\b` +
		`|\balready (?:exists?|up[- ]to[- ]date|done|set|present|in place|deleted|removed|cancelled|canceled|closed|applied)\b|\bunchanged\b|\bwas ignored\b)`)
)

// opening is how much of a text says how it begins, in bytes: a reply may be huge.
const opening = 4 << 10

// isErrorText reports a text that begins like an error message and is not too
// long to be one.
func isErrorText(text string) bool {
	if errorMark.MatchString(text) && within(text, mediumText, mediumLines) {
		return true
	}
	start := decoration.ReplaceAllString(text[:min(len(text), opening)], "")
	if errorStart.MatchString(firstLine(start)) {
		return within(text, mediumText, mediumLines) || isTrace(start)
	}
	return errorOpening.MatchString(start) && within(text, shortText, shortLines)
}

// isTrace reports an error followed by a stack trace, however long.
func isTrace(text string) bool {
	_, rest, _ := strings.Cut(text, "\n")
	rest = strings.TrimLeft(rest, " \t")
	return strings.HasPrefix(rest, "at ") || strings.HasPrefix(rest, "File \"")
}

// isData reports a text that is a JSON object or list: its words are data.
func isData(text string) bool {
	text = strings.TrimSpace(text)
	return text != "" && (text[0] == '{' || text[0] == '[') && json.Valid([]byte(text))
}

func isIdleText(text string) bool {
	return within(text, shortText, shortLines) && idleWords.MatchString(text)
}

func within(text string, size, lines int) bool {
	return len(text) <= size && strings.Count(strings.TrimSpace(text), "\n") < lines
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// maxExcerpt is the longest quotation of a reply, in bytes.
const maxExcerpt = 200

// excerpt is the first line of a text, cut short between characters.
func excerpt(text string) string {
	line := strings.ToValidUTF8(strings.TrimSpace(firstLine(strings.TrimSpace(text))), "\uFFFD")
	if len(line) <= maxExcerpt {
		return line
	}
	cut := maxExcerpt
	for !utf8.RuneStart(line[cut]) {
		cut--
	}
	return line[:cut] + "…"
}
