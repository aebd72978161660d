package argument

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
)

// maxPatternText bounds the text made for a pattern, in bytes.
const maxPatternText = 4096

// matching makes a short text that a pattern accepts; ok is false when the
// pattern is not RE2 or asks for too much.
func matching(pattern string) (text string, ok bool) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	var b strings.Builder
	if !spell(&b, parsed) {
		return "", false
	}
	re, err := regexp.Compile(pattern)
	return b.String(), err == nil && re.MatchString(b.String())
}

// spell writes the shortest plain text of a parsed pattern. Anchors and word
// boundaries write nothing; matching checks the whole afterwards.
func spell(b *strings.Builder, re *syntax.Regexp) bool {
	if b.Len() > maxPatternText {
		return false
	}
	switch re.Op {
	case syntax.OpNoMatch:
		return false
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		return spellClass(b, re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('a')
	case syntax.OpCapture, syntax.OpPlus:
		return spell(b, re.Sub[0])
	case syntax.OpRepeat:
		for range re.Min {
			if !spell(b, re.Sub[0]) {
				return false
			}
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if !spell(b, sub) {
				return false
			}
		}
	case syntax.OpAlternate:
		return spell(b, re.Sub[0])
	}
	return true
}

// spellClass prefers a character that is safe everywhere: a letter, then a
// digit other than zero, then any printable one.
func spellClass(b *strings.Builder, ranges []rune) bool {
	within := func(r rune) bool {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= r && r <= ranges[i+1] {
				return true
			}
		}
		return false
	}
	for _, r := range "a1A0" {
		if within(r) {
			b.WriteRune(r)
			return true
		}
	}
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1] && r < ranges[i]+128; r++ {
			if unicode.IsPrint(r) {
				b.WriteRune(r)
				return true
			}
		}
	}
	return false
}
