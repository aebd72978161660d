package argument

import (
	"regexp"
	"strings"
	"unicode"
)

// words splits a name into lower-case words: camelCase, snake_case, kebab-case,
// dots, slashes and digits ("oldPath2" is old, path, 2).
func words(name string) []string {
	var out []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			out = append(out, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			continue
		case i > 0 && startsWord(runes, i):
			flush()
		}
		word = append(word, r)
	}
	flush()
	return out
}

// startsWord reports a boundary between two letters or digits: aB, ABc, a1, 1a.
func startsWord(runes []rune, i int) bool {
	before, here := runes[i-1], runes[i]
	switch {
	case unicode.IsDigit(before) != unicode.IsDigit(here):
		return true
	case !unicode.IsUpper(here):
		return false
	case !unicode.IsUpper(before):
		return true
	}
	return i+1 < len(runes) && unicode.IsLower(runes[i+1])
}

// lexicon is a set of words.
type lexicon map[string]bool

func lex(text string) lexicon {
	set := lexicon{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}

// any reports whether one of the words is in the lexicon.
func (l lexicon) any(words []string) bool {
	for _, w := range words {
		if l[w] {
			return true
		}
	}
	return false
}

// last reports whether the last word that is not a number is in the lexicon:
// the head of an English compound ("source_dir" is a dir, "fileId" an id).
func (l lexicon) last(words []string) bool { return l[head(words)] }

func head(words []string) string {
	for i := len(words) - 1; i >= 0; i-- {
		if !unicode.IsDigit(rune(words[i][0])) {
			return words[i]
		}
	}
	return ""
}

// The vocabulary by which a parameter's purpose is told. General English of
// tool schemas; no product's own names.
var (
	fileWords = lex("file files filename filenames document")
	dirWords  = lex("dir dirs directory directories folder folders subdirectory")
	rootWords = lex("repo repository project root workspace vault cwd workdir codebase basedir rootdir")
	pathHeads = lex("path paths pathname file files filename filenames filepath filepaths dir dirs directory directories folder folders cwd workdir root")
	joins     = lex("or and")
	scanVerbs = lex("search find list ls glob grep tree walk scan")

	sourceWords = lex("source src from input in old original origin start")
	destWords   = lex("destination dest dst target to output out new end")
	outputWords = lex("output out outfile outdir dest destination save export write")

	contentHeads = lex("content contents text body data markdown html code string str value lines snippet")
	soughtWords  = lex("search find match old before original anchor needle pattern regex query")
	replaceWords = lex("replace replacement new after with substitute updated")
	textHeads    = lex("text string str content contents value line lines code block snippet search find match replace replacement old new before after original anchor needle with pattern regex query")

	globHeads    = lex("glob globs pattern patterns mask wildcard include includes exclude excludes ignore")
	excludeWords = lex("exclude excludes excluded ignore ignored skip except")
	queryHeads   = lex("query queries search q keyword keywords term terms needle find grep")
	commandHeads = lex("command cmd")
	lineHeads    = lex("line row lineno linenumber")

	urlHeads    = lex("url urls uri uris link href webhook website homepage")
	hostHeads   = lex("host hostname domain ip endpoint")
	emailHeads  = lex("email emails mail recipient recipients cc bcc")
	remoteHeads = lex("remote server registry proxy upstream mirror")

	identityHeads = lex("id ids uuid guid key keys name names slug ref identifier handle number")

	actionHeads = lex("action actions operation op command cmd subcommand verb task")
	modeHeads   = lex("mode method type kind strategy behavior behaviour")
	actionVerbs = lex("create add new insert put post init append prepend write overwrite rewrite replace update edit modify patch set rename move copy merge upsert delete remove clear drop reset purge archive restore push pop apply abort continue start stop enable disable toggle get list read view show find search open close save load send undo hard soft mixed truncate")
	makingVerbs = lex("create add new init make mkdir touch")

	dryWords     = lex("dry preview simulate")
	confirmWords = lex("confirm confirmed confirmation yes force acknowledge")
	flagWords    = lex("dry preview simulate force overwrite replace recursive recursively append create confirm confirmed upsert write save delete parents exist clobber commit all")
)

var (
	pathPhrase = regexp.MustCompile(`(?i)\b(path|directory|folder|filename) (to|of|for|where|in|from|on|containing)\b|\b(file|absolute|relative|full|output|directory|folder)[- ]?path\b|\bfile to (read|write|edit|open|delete|move|copy|create|save|use|process|convert|upload)\b`)
	outPhrase  = regexp.MustCompile(`(?i)\b(destination|output|target) (path|file|directory|folder)\b|\bwhere (the|to)\b.{0,40}\b(saved?|written|write|stored?|cloned?|exported?|placed?)\b|\bsaved? (it |the \w+ )?(to|in|into)\b|\bwrite the (result|output|report)\b`)
	urlPhrase  = regexp.MustCompile(`(?i)\bURLs?\b|\bhttps?://|\bURIs?\b`)
	example    = regexp.MustCompile("(?i)(?:\\be\\.g\\.,?|\\bfor example,?|\\bfor instance,?|\\bexamples?:|\\bsuch as|\\blike)\\s*[:(]?\\s*[\"'`“‘]([^\"'`”’\\n]{1,80})[\"'`”’]")
	quoted     = regexp.MustCompile("[\"'`“‘]([A-Za-z][A-Za-z0-9_-]{1,30})[\"'`”’]")
)
