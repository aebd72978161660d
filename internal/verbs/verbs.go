// Package verbs tells from a tool's name and the first sentence of its
// description whether the tool says that it reads, writes or destroys.
//
// It looks at words, never at parts of words: "settings" does not say "set".
// The name decides where it is clear, then the sentence. Text in a language
// other than English has no words that are known here and says nothing.
package verbs

import (
	"slices"
	"strings"
)

// Kind is what a verb says about its tool.
type Kind int

// From no knowledge to the most that is said. Additive verbs add something
// new with each call (send, post); Destructive ones lose or replace content.
const (
	Unknown Kind = iota
	Read
	Write
	Additive
	Destructive
)

// Writes reports whether the verb says that the tool changes something.
func (k Kind) Writes() bool { return k >= Write }

// Place is where a verb stands.
type Place string

// The two sources, in the order in which they decide.
const (
	Name     Place = "name"
	Sentence Place = "first sentence"
)

// Sense is what a tool says of itself. The zero Sense is: nothing.
type Sense struct {
	Kind Kind
	// Verb is the deciding word as it is written, in lower case.
	Verb  string
	Place Place
}

// Context is what the names of one list have in common.
type Context struct {
	prefix []string
}

// Names looks at all names of a list for a prefix that stands for the server
// and says nothing about the single tool.
func Names(list []string) *Context {
	names := make([][]string, len(list))
	for i, name := range list {
		names[i] = split(name)
	}
	return &Context{prefix: sharedPrefix(names)}
}

// Of reads a tool's name and description.
func (c *Context) Of(name, description string) Sense {
	if sense := ofName(c.trim(split(name))); sense.Kind != Unknown {
		return sense
	}
	return ofSentence(firstSentence(description))
}

// trim takes the server's prefix off a name, but never the whole name.
func (c *Context) trim(name []string) []string {
	n := len(c.prefix)
	if n < len(name) && slices.Equal(name[:n], c.prefix) {
		return name[n:]
	}
	return name
}

// ofName looks for the verb in a name: in front (delete_file), at the end
// (file_delete), or anywhere between, unless the word may as well be a noun.
func ofName(tokens []string) Sense {
	lead := slices.IndexFunc(tokens, func(t string) bool { return lexicon[t] != Unknown })
	for lead > 0 && nouns[tokens[lead]] {
		next := slices.IndexFunc(tokens[lead+1:], func(t string) bool { return lexicon[t] != Unknown })
		if next < 0 {
			return Sense{}
		}
		lead += 1 + next
	}
	if lead < 0 || negated(tokens, lead) {
		return Sense{}
	}
	if joined := joinedWrite(tokens, lead); joined >= 0 {
		return sense(tokens[joined], Name)
	}
	if !lexicon[tokens[lead]].Writes() {
		return sense(tokens[lead], Name)
	}
	return writeInName(tokens, lead)
}

// writeInName decides names in which the leading verb writes. In
// deploy_logs_get it is a namespace and the tool reads. In create_list,
// mark_as_read or deploy_diagram_generate one cannot tell, and the sentence has
// to. In deploy_plan and embeddings_create nothing is written.
func writeInName(tokens []string, lead int) Sense {
	end := len(tokens) - 1
	last := tokens[end]
	verb := tokens[lead]
	switch {
	case lead == end:
		if end > 0 && shows(verb, tokens[end-1]) {
			return Sense{}
		}
	case shows(verb, last), neutral[last], lead == 0 && nouns[last] && lexicon[last] == Read:
		return Sense{}
	case lexicon[last] == Read:
		return sense(last, Name)
	}
	return sense(verb, Name)
}

// ofSentence looks for a verb among the first two words of a sentence.
func ofSentence(words []string) Sense {
	for i := range min(2, len(words)) {
		verb := stem(words[i])
		if lexicon[verb] == Unknown || i > 0 && nouns[verb] {
			continue
		}
		if negated(words, i) {
			return Sense{}
		}
		if joined := joinedWrite(words, i); joined >= 0 {
			return sense(words[joined], Sentence)
		}
		rest := words[i+1:]
		if len(rest) > 0 && particles[rest[0]] {
			return Sense{} // "set up" is not "set"
		}
		if of := object(rest); len(of) > 0 && shows(verb, of[len(of)-1]) {
			return Sense{}
		}
		return sense(words[i], Sentence)
	}
	return Sense{}
}

// joinedWrite finds a write verb that a conjunction ties to a read verb, as in
// get_or_create_label: of the two, the write counts. Further away, words that
// may be nouns are taken for nouns (view tags or commits). It is -1 when there
// is none.
func joinedWrite(words []string, lead int) int {
	if lexicon[stem(words[lead])].Writes() {
		return -1
	}
	for i := range len(object(words[lead+1:])) {
		at := lead + 1 + i
		if !conjunctions[words[at]] || at+1 == len(words) {
			continue
		}
		verb := stem(words[at+1])
		if lexicon[verb].Writes() && (i == 0 || !nouns[verb]) {
			return at + 1
		}
	}
	return -1
}

func negated(words []string, verb int) bool {
	return verb > 0 && negations[words[verb-1]]
}

// shows reports whether a write verb with that object only shows or asks
// something: deploy_plan, install_instructions, send_prompt.
func shows(verb, object string) bool {
	return lexicon[verb].Writes() && told[object] ||
		makes[verb] && made[object] ||
		lexicon[verb] == Additive && asked[object]
}

// object is the phrase after a verb, up to the first preposition.
func object(words []string) []string {
	end := slices.IndexFunc(words, func(w string) bool { return prepositions[w] })
	if end < 0 {
		end = len(words)
	}
	return words[:min(end, 5)]
}

func sense(word string, place Place) Sense {
	return Sense{Kind: lexicon[stem(word)], Verb: strings.ToLower(word), Place: place}
}
