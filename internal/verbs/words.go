package verbs

import (
	"strings"
	"unicode"
)

// split cuts a name into lower-case words: at everything that is not a letter
// or digit, and where camelCase changes (getURLList is get, url, list).
func split(name string) []string {
	var tokens []string
	runes := []rune(name)
	start := 0
	cut := func(end int) {
		if end > start {
			tokens = append(tokens, strings.ToLower(string(runes[start:end])))
		}
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			cut(i)
			start = i + 1
		case i > start && unicode.IsUpper(r) && beginsWord(runes, i):
			cut(i)
			start = i
		}
	}
	cut(len(runes))
	return tokens
}

// beginsWord reports whether the capital at i starts a new word: after a small
// letter or digit, or as the last capital before a small letter.
func beginsWord(runes []rune, i int) bool {
	if !unicode.IsUpper(runes[i-1]) {
		return true
	}
	return i+1 < len(runes) && unicode.IsLower(runes[i+1])
}

// firstSentence gives the words of the text up to the first full stop,
// question or exclamation mark followed by space, or to the end of its line.
func firstSentence(text string) []string {
	text = strings.TrimLeftFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	text, _, _ = strings.Cut(text, "\n")
	for i := 0; i+1 < len(text); i++ {
		if strings.IndexByte(".!?", text[i]) >= 0 && (text[i+1] == ' ' || text[i+1] == '\t') {
			text = text[:i]
			break
		}
	}
	if len(text) > 400 { // only the opening is looked at
		text = text[:400]
	}
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '-'
	})
}

// stem takes the third person off a verb that is known without it: deletes,
// searches, copies.
func stem(word string) string {
	if lexicon[word] != Unknown {
		return word
	}
	candidates := []string{strings.TrimSuffix(word, "s"), strings.TrimSuffix(word, "es")}
	if base, ok := strings.CutSuffix(word, "ies"); ok {
		candidates = append(candidates, base+"y")
	}
	for _, c := range candidates {
		if lexicon[c] != Unknown {
			return c
		}
	}
	return word
}

// sharedPrefix finds the leading words that at least 80 % of the names share.
// A list of one or two names shows no pattern. A verb in front counts as part
// of the server's name only where most names have another verb right after it.
func sharedPrefix(names [][]string) []string {
	if len(names) < 3 {
		return nil
	}
	var prefix []string
	for {
		token, sharing := commonToken(names, len(prefix))
		if len(sharing)*5 < len(names)*4 || lexicon[token] != Unknown && !mostlyVerbs(sharing, len(prefix)+1) {
			return prefix
		}
		prefix = append(prefix, token)
		names, sharing = sharing, nil
	}
}

// commonToken gives the most frequent word at a position that is not the last
// of its name, and the names that have it.
func commonToken(names [][]string, at int) (token string, sharing [][]string) {
	counts := map[string]int{}
	for _, name := range names {
		if at+1 < len(name) {
			counts[name[at]]++
			// The first to reach the highest count wins, so that equal
			// counts give the same answer every time.
			if counts[name[at]] > counts[token] {
				token = name[at]
			}
		}
	}
	for _, name := range names {
		if at+1 < len(name) && name[at] == token {
			sharing = append(sharing, name)
		}
	}
	return token, sharing
}

func mostlyVerbs(names [][]string, at int) bool {
	n := 0
	for _, name := range names {
		if lexicon[name[at]] != Unknown {
			n++
		}
	}
	return n*2 > len(names)
}
