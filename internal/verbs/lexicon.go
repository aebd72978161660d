package verbs

import "strings"

// lexicon maps a verb in its plain form to what it says.
var lexicon = classify(map[Kind]string{
	Read: `get list search find fetch read query view show describe count check
		lookup browse inspect retrieve explain compare summarize summarise
		analyze analyse validate preview`,
	Destructive: `delete remove drop destroy purge erase wipe truncate overwrite
		uninstall revoke terminate kill reset`,
	Additive: `send post publish append submit charge pay refund transfer
		comment reply notify`,
	Write: `create add insert update edit modify put patch write upsert replace
		rename move upload import invite cancel restart deploy install enable
		disable approve reject merge close assign restore schedule purchase
		commit set archive copy mark store book share order record`,
})

// nouns are verbs that names and sentences use as nouns at least as often:
// they count as verbs only in front, and not as a read verb at the end.
var nouns = set(`post order comment set update report archive copy record mark
	log check run store book share list search query view show count read
	preview compare charge transfer refund reply import invite merge commit
	schedule purchase patch drop reset close restore deploy install move
	edit write`)

// told are things that a tool tells instead of doing what the verb says.
var told = set(`guide guidance instruction instructions example examples preview`)

// made are things that a tool may hand over when the verb says that it makes
// them; a verb that changes or deletes them works on something that is stored.
var made = set(`plan template rule rules log logs command commands embedding
	embeddings completion completions`)

var makes = set(`create add write deploy install`)

// asked are things that one sends to get an answer.
var asked = set(`prompt question query`)

// neutral are verbs that say nothing of what they change.
var neutral = set(`generate run execute manage process convert`)

var (
	particles    = set(`up`)
	negations    = set(`not never without no cannot`)
	conjunctions = set(`or and then`)
	prepositions = set(`of in on at to from for with by as into using via that
		which when if based`)
)

func classify(kinds map[Kind]string) map[string]Kind {
	verbs := map[string]Kind{}
	for kind, words := range kinds {
		for _, word := range strings.Fields(words) {
			verbs[word] = kind
		}
	}
	return verbs
}

func set(words string) map[string]bool {
	members := map[string]bool{}
	for _, word := range strings.Fields(words) {
		members[word] = true
	}
	return members
}
