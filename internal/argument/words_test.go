package argument

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestWords(t *testing.T) {
	tests := map[string][]string{
		"":                 nil,
		"oldPath":          {"old", "path"},
		"old_path2":        {"old", "path", "2"},
		"HTTPServerURL":    {"http", "server", "url"},
		"a-b.c/d":          {"a", "b", "c", "d"},
		"Path to the file": {"path", "to", "the", "file"},
		"größeÄndern":      {"größe", "ändern"},
	}
	for name, want := range tests {
		if diff := cmp.Diff(want, words(name)); diff != "" {
			t.Errorf("%q: %s", name, diff)
		}
	}
}

func TestKindInWords(t *testing.T) {
	tests := map[string]kind{
		"read a file":                                 file,
		"list the directory":                          dir,
		"move files and directories":                  either,
		"path of the file or folder":                  either,
		"file/folder path":                            either,
		"a file to read, within an allowed directory": file,
		"directory whose files are listed":            dir,
		"nothing of the kind":                         either,
	}
	for prose, want := range tests {
		if got := kindIn(words(prose)); got != want {
			t.Errorf("%q is %d, want %d", prose, got, want)
		}
	}
}

func TestPathNames(t *testing.T) {
	for _, name := range []string{"path", "filePath", "source_dir", "file_name", "outfile", "input-files", "path2", "saveTo", "dockerfile"} {
		if !isPathName(words(name)) {
			t.Errorf("%s is a path", name)
		}
	}
	for _, name := range []string{"fileId", "fileType", "profile", "file_url", "name", "pathological", "folderOwner"} {
		if isPathName(words(name)) {
			t.Errorf("%s is no path", name)
		}
	}
}

func TestMatching(t *testing.T) {
	for _, pattern := range []string{`^\d{4}-\d{2}$`, `^#[0-9a-f]{6}$`, `x`, `^[^a-z]+$`, `^(?:a|b)c*$`, `\S`, `^$|^\d+$`, `^[\x{4e00}-\x{9fa5}]+$`} {
		text, ok := matching(pattern)
		if !ok || !regexp.MustCompile(pattern).MatchString(text) {
			t.Errorf("%s: %q, %t", pattern, text, ok)
		}
	}
	for _, pattern := range []string{`(`, `(?=x)`, `[^\x00-\x{10FFFF}]`} {
		if text, ok := matching(pattern); ok {
			t.Errorf("%s cannot be matched, got %q", pattern, text)
		}
	}
}

// TestFixture holds what the planner needs of the built-in workspace.
func TestFixture(t *testing.T) {
	for _, ext := range []string{".txt", ".json", ".jsonl", ".csv", ".md", ".py", ".png"} {
		found := false
		err := fs.WalkDir(Fixture(), ".", func(name string, d fs.DirEntry, err error) error {
			found = found || path.Ext(name) == ext
			return err
		})
		if err != nil || !found {
			t.Errorf("no %s: %v", ext, err)
		}
	}
	if err := fstest.TestFS(Fixture(), "garden.txt", "letters/2025/market.txt", emptySeed); err != nil {
		t.Error(err)
	}
	if inside, err := fs.ReadDir(Fixture(), emptySeed); err != nil || len(inside) != 0 {
		t.Errorf("%s holds %v, %v", emptySeed, inside, err)
	}
	if info, err := fs.Stat(Fixture(), "garden.txt"); err != nil || info.Mode() != 0o644 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	w := fixtureWorld(t)
	x := newIndex(w)
	best := x.ranked(nil, true)
	if line := repeatedLine(best[0].Text); line == "" || strings.Count(best[0].Text, line) < 2 {
		t.Errorf("%s has no line that repeats", best[0].Path)
	}
	if singleText(best[0].Text) == "" {
		t.Errorf("%s has no line of its own", best[0].Path)
	}
	if path.Dir(best[0].Path) != w.Workspace || path.Dir(best[1].Path) != w.Workspace || best[1].Binary {
		t.Errorf("the best files are %s and %s", best[0].Path, best[1].Path)
	}
	if x.emptyFolder() == "" || x.folder() == w.Workspace {
		t.Errorf("folders %q and %q", x.emptyFolder(), x.folder())
	}
}
