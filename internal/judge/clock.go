package judge

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/ax-check/ax-check/internal/effect"
)

// timestamps matches ISO 8601 dates and times, times of day, and Unix times from
// seconds to nanoseconds (10, 13, 16 or 19 digits, 2001 to 2033).
var timestamps = regexp.MustCompile(`\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?|\b\d\d:\d\d:\d\d(?:\.\d+)?\b|\b1\d{9}(?:\d{3}){0,3}(?:\.\d+)?\b`)

// movesClock reports a replaced value that differs from the old one in
// timestamps only, none of which the arguments gave. It says when something
// was done, not what, so it neither destroys content nor is an additional
// effect of a repeat. A further entry is never a clock.
func movesClock(e effect.Effect, arguments json.RawMessage) bool {
	if e.Class != effect.Modify || e.Truncated || e.Before == nil || e.After == nil || *e.Before == *e.After {
		return false
	}
	if withoutTimes(*e.Before) != withoutTimes(*e.After) {
		return false
	}
	for _, stamp := range timestamps.FindAllString(*e.After, -1) {
		if strings.Contains(string(arguments), stamp) {
			return false
		}
	}
	return true
}

func withoutTimes(s string) string { return timestamps.ReplaceAllLiteralString(s, "\x00") }

// countsEntries reports a number in a document that grew by no more than the
// entries which the same call added: a next id or a length keeps the books of
// an index that gains entries, and nothing is lost by its moving on.
func countsEntries(e effect.Effect, added int) bool {
	if e.Class != effect.Modify || e.Kind != effect.KindJSON || e.Before == nil || e.After == nil {
		return false
	}
	before, err1 := strconv.ParseInt(*e.Before, 10, 64)
	after, err2 := strconv.ParseInt(*e.After, 10, 64)
	return err1 == nil && err2 == nil && before < after && after-before <= int64(added)
}

var numbers = regexp.MustCompile(`\d+`)

// countGrew reports whether two replies to identical calls differ in numbers
// only, and one of these went up by exactly one: a sign of state that no
// observer sees. Timestamps are left aside.
func countGrew(first, second string) bool {
	first, second = withoutTimes(first), withoutTimes(second)
	if first == second || numbers.ReplaceAllLiteralString(first, "0") != numbers.ReplaceAllLiteralString(second, "0") {
		return false
	}
	later := numbers.FindAllString(second, -1)
	for i, text := range numbers.FindAllString(first, -1) {
		a, err1 := strconv.ParseInt(text, 10, 64)
		b, err2 := strconv.ParseInt(later[i], 10, 64)
		if err1 == nil && err2 == nil && b == a+1 {
			return true
		}
	}
	return false
}
