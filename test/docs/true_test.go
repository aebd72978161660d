package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/ax-check/ax-check/internal/config"
	"github.com/ax-check/ax-check/internal/verdict"
)

// Every verdict and every reason code is explained where a reader looks for it.
func TestVerdictsAndReasonsAreExplained(t *testing.T) {
	words := reasonCodes(t)
	for _, v := range verdict.All() {
		words = append(words, string(v))
	}
	mustName(t, "docs/guide/reading-a-verdict.md", words)
}

// reasonCodes reads the constants of the judge from their source.
func reasonCodes(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), repository+"/internal/judge/reason.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, declaration := range file.Decls {
		constants, ok := declaration.(*ast.GenDecl)
		if !ok || constants.Tok != token.CONST {
			continue
		}
		ast.Inspect(constants, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				code, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				codes = append(codes, code)
			}
			return true
		})
	}
	if len(codes) < 10 {
		t.Fatalf("found only %q: are the reason codes written elsewhere now?", codes)
	}
	return codes
}

// Every key of ax-check.yaml is explained.
func TestSettingsAreExplained(t *testing.T) {
	var keys []string
	for field := range reflect.TypeFor[config.File]().Fields() {
		keys = append(keys, field.Tag.Get("yaml"))
	}
	mustName(t, "docs/guide/configuration.md", keys)
}

// mustName wants each word in the page, set as code.
func mustName(t *testing.T, page string, words []string) {
	t.Helper()
	text := readPage(t, page).text()
	for _, w := range words {
		if !strings.Contains(text, "`"+w+"`") {
			t.Errorf("%s does not explain `%s`", page, w)
		}
	}
}

// Every package has its line in the tour of the code, and every package that is
// toured exists.
func TestPackagesAreToured(t *testing.T) {
	toured := tour(t)
	var packages []string
	err := fs.WalkDir(os.DirFS(repository), "internal", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if entry.Name() == "testdata" {
			return fs.SkipDir
		}
		if holdsGo(t, name) {
			packages = append(packages, strings.TrimPrefix(name, "internal/"))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages {
		if !slices.Contains(toured, p) {
			t.Errorf("ARCHITECTURE.md does not say what internal/%s is for", p)
		}
	}
	for _, p := range toured {
		if !slices.Contains(packages, p) {
			t.Errorf("ARCHITECTURE.md speaks of internal/%s, which does not exist", p)
		}
	}
}

func holdsGo(t *testing.T, dir string) bool {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(repository, dir))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return strings.HasSuffix(e.Name(), ".go") && !strings.HasSuffix(e.Name(), "_test.go")
	})
}

var tourRow = regexp.MustCompile("^\\| `([a-z/]+)` \\|")

// tour lists the packages in the tables of ARCHITECTURE.md.
func tour(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, line := range readPage(t, "ARCHITECTURE.md").lines {
		if row := tourRow.FindStringSubmatch(line); row != nil {
			names = append(names, row[1])
		}
	}
	return names
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// Every link inside the repository leads somewhere, to a heading where it names one.
func TestLinksLeadSomewhere(t *testing.T) {
	for _, name := range everyPage(t) {
		for i, line := range readPage(t, name).lines {
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				if strings.Contains(m[1], "://") {
					continue
				}
				if problem := follow(t, name, m[1]); problem != "" {
					t.Errorf("%s:%d: %s", name, i+1, problem)
				}
			}
		}
	}
}

func everyPage(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		found, err := fs.Glob(os.DirFS(repository), pattern)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	return names
}

// follow says what is wrong with a link on a page, "" when nothing is.
func follow(t *testing.T, from, target string) string {
	t.Helper()
	file, anchor, _ := strings.Cut(target, "#")
	name := from
	if file != "" {
		name = filepath.Join(filepath.Dir(from), file)
	}
	if _, err := os.Stat(filepath.Join(repository, name)); err != nil {
		return "the link " + target + " leads nowhere"
	}
	if anchor != "" && !slices.Contains(anchors(readPage(t, name)), anchor) {
		return "the link " + target + " names no heading"
	}
	return ""
}

// anchors lists the headings of a page as GitHub makes addresses of them.
func anchors(p page) []string {
	var names []string
	for _, line := range p.lines {
		heading := strings.TrimLeft(line, "#")
		if heading == line || !strings.HasPrefix(heading, " ") {
			continue
		}
		names = append(names, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(heading)))
	}
	return names
}
