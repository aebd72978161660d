package files

import (
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"
)

// maxExcerpt is the most bytes that an effect shows of a content.
const maxExcerpt = 400

// clip cuts a text to a length for reading.
func clip(text string) (string, bool) {
	if len(text) <= maxExcerpt {
		return text, false
	}
	return strings.ToValidUTF8(text[:maxExcerpt], ""), true
}

// show is the content of an entry, or a description where it is not text or was
// not held; nil for what has no content.
func show(e *entry) (*string, bool) {
	switch {
	case e.mode&fs.ModeSymlink != 0:
		return &e.target, false
	case !e.isRegular() || e.unread:
		return nil, false
	case !e.held || !e.text:
		text := describe(e, e.size)
		return &text, false
	}
	text, cut := clip(e.bytes.Value())
	return &text, cut
}

func describe(e *entry, size int64) string {
	if e.text {
		return fmt.Sprintf("(%d bytes of text)", size)
	}
	return fmt.Sprintf("(%d bytes, binary)", size)
}

// showAdded is what follows the old content in the new.
func showAdded(old, now *entry) (*string, bool) {
	if !now.held || !now.text {
		text := describe(now, now.size-old.size)
		return &text, false
	}
	text, cut := clip(now.bytes.Value()[old.size:])
	return &text, cut
}

// showDifference is the part that differs, in whole lines where they are short.
func showDifference(old, now *entry) (before, after *string, cut bool) {
	if !old.held || !now.held || !old.text || !now.text {
		before, cutOld := show(old)
		after, cutNow := show(now)
		return before, after, cutOld || cutNow
	}
	was, is := differing(old.bytes.Value(), now.bytes.Value())
	was, cutOld := clip(was)
	is, cutNow := clip(is)
	return &was, &is, cutOld || cutNow
}

// maxLead is how much of a line is shown in front of its first difference.
const maxLead = 80

// differing cuts what two texts begin and end with, back to whole lines.
func differing(a, b string) (string, string) {
	start, end := 0, min(len(a), len(b))
	for start < end && a[start] == b[start] {
		start++
	}
	tail := 0
	for tail < end-start && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	line := strings.LastIndexByte(a[:start], '\n') + 1
	start = max(line, start-maxLead)
	for start > line && !utf8.RuneStart(a[start]) {
		start--
	}
	if newline := strings.IndexByte(a[len(a)-tail:], '\n'); newline >= 0 {
		tail -= newline
	} else {
		tail = 0
	}
	return a[start : len(a)-tail], b[start : len(b)-tail]
}
