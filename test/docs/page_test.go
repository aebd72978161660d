// Package docs holds the documents to the program. Every example that they show
// is run again and its output compared; go test ./test/docs -update writes the
// documents anew from what the program says.
//
// An example is a fenced block of a page:
//
//	```console            commands after "$ ", each followed by its output
//	```console needs=world             one that needs a sandbox
//	```console needs=world needs=npm:PACKAGE@VERSION    and a package from npm
//	```json file=tools.json            a file that the page's commands find
//
// Commands run in sh, in a folder that belongs to the page, with the program in
// PATH as ax-check. A block is one session: $? and variables live as long as it
// does. Blocks of any other kind are only read.
package docs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// page is a document, line by line.
type page struct {
	name  string
	lines []string
}

// block is a fenced block of a page.
type block struct {
	kind  string   // first word of the fence
	words []string // the others
	body  span
}

// span is lines of a page, from 0, without the last.
type span struct{ from, to int }

func newPage(name, text string) page {
	return page{name: name, lines: strings.Split(text, "\n")}
}

func (p page) text() string { return strings.Join(p.lines, "\n") }

// shown gives lines of the page as a program prints them: each one ended.
func (p page) shown(s span) string {
	if s.from == s.to {
		return ""
	}
	return strings.Join(p.lines[s.from:s.to], "\n") + "\n"
}

const fence = "```"

// blocks lists the fenced blocks in order. A fence that is never closed is an
// error, because everything after it would go unchecked.
func (p page) blocks() ([]block, error) {
	var blocks []block
	open := false
	for i, line := range p.lines {
		switch info, ok := strings.CutPrefix(line, fence); {
		case !ok:
		case open:
			blocks[len(blocks)-1].body.to = i
			open = false
		default:
			kind, words, _ := strings.Cut(info, " ")
			blocks = append(blocks, block{kind: kind, words: strings.Fields(words), body: span{from: i + 1}})
			open = true
		}
	}
	if open {
		return nil, fmt.Errorf("%s:%d: the block is not closed", p.name, blocks[len(blocks)-1].body.from)
	}
	return blocks, nil
}

// values lists what stands after "key=" in the words of the fence.
func (b block) values(key string) []string {
	var found []string
	for _, w := range b.words {
		if value, ok := strings.CutPrefix(w, key+"="); ok {
			found = append(found, value)
		}
	}
	return found
}

const prompt = "$ "

// step is a command of an example and where the page shows its output.
type step struct {
	command string
	output  span
}

// steps reads a console block.
func (p page) steps(b block) []step {
	var steps []step
	for i := b.body.from; i < b.body.to; i++ {
		if command, ok := strings.CutPrefix(p.lines[i], prompt); ok {
			steps = append(steps, step{command: command, output: span{i + 1, i + 1}})
		} else if len(steps) > 0 {
			steps[len(steps)-1].output.to = i + 1
		}
	}
	return steps
}

// replace puts other lines into a page. Spans behind it are then no longer valid.
func (p *page) replace(s span, text string) {
	var lines []string
	if text != "" {
		lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	}
	p.lines = slices.Replace(slices.Clone(p.lines), s.from, s.to, lines...)
}

// varying is what may differ between two machines. Everything else of an
// example must come out as the page shows it.
var varying = []struct {
	what *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`machine    kernel \S+`), "machine    kernel K"},
	{regexp.MustCompile(`\(made as (?:root|user namespace)\)`), "(made as M)"},
	{regexp.MustCompile(`"version": "(?:\(devel\)|v[0-9][^"]*)"`), `"version": "V"`},
	{regexp.MustCompile(`"ax_check":"(?:\(devel\)|v[0-9][^"]*)"`), `"ax_check":"V"`},
}

func settled(output string) string {
	for _, v := range varying {
		output = v.what.ReplaceAllString(output, v.as)
	}
	return output
}

func TestStepsOfABlock(t *testing.T) {
	p := newPage("page.md", "text\n```console needs=world needs=npm:a@1\n$ one\n1\n\n2\n$ two\n```\n```json file=x.json\n{}\n```\n")
	blocks, err := p.blocks()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"world", "npm:a@1"}, blocks[0].values("needs")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"x.json"}, blocks[1].values("file")); diff != "" {
		t.Error(diff)
	}
	got := map[string]string{}
	for _, s := range p.steps(blocks[0]) {
		got[s.command] = p.shown(s.output)
	}
	if diff := cmp.Diff(map[string]string{"one": "1\n\n2\n", "two": ""}, got); diff != "" {
		t.Error(diff)
	}
	p.replace(p.steps(blocks[0])[0].output, "3\n")
	if want := "text\n```console needs=world needs=npm:a@1\n$ one\n3\n$ two\n```\n```json file=x.json\n{}\n```\n"; p.text() != want {
		t.Errorf("after replacing: %q", p.text())
	}
}

func TestAnOpenBlockIsAnError(t *testing.T) {
	if _, err := newPage("page.md", "```console\n$ one\n").blocks(); err == nil {
		t.Error("want an error")
	}
}
