package files

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// The indexes are git's own, in every version that it writes.
func TestSameGitIndex(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for _, version := range []string{"2", "3", "4"} {
		t.Run("version "+version, func(t *testing.T) {
			dir := t.TempDir()
			git := func(args ...string) {
				t.Helper()
				c := exec.Command("git", append([]string{"-C", dir, "-c", "index.version=" + version}, args...)...)
				c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
				if out, err := c.CombinedOutput(); err != nil {
					t.Fatalf("git %v: %v\n%s", args, err, out)
				}
			}
			write := func(name, text string) {
				t.Helper()
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			index := func() string {
				t.Helper()
				text, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
				if err != nil {
					t.Fatal(err)
				}
				return string(text)
			}
			git("init", "-q")
			write("a-first.txt", "one\n")
			write("a-second-name-that-shares-a-start.txt", "two\n")
			git("add", ".")
			before := index()

			later := time.Now().Add(time.Hour)
			if err := os.Chtimes(filepath.Join(dir, "a-first.txt"), later, later); err != nil {
				t.Fatal(err)
			}
			git("update-index", "--refresh")
			looked := index()
			if looked == before {
				t.Fatal("git did not write its index again")
			}
			if !sameGitIndex(before, looked) {
				t.Error("an index that was only refreshed counts as another")
			}
			write("a-first.txt", "changed\n")
			git("add", "a-first.txt")
			if sameGitIndex(looked, index()) {
				t.Error("an index with another object counts as the same")
			}
		})
	}
}

func FuzzGitEntries(f *testing.F) {
	f.Add("DIRC\x00\x00\x00\x02\x00\x00\x00\x00")
	f.Add("DIRC\x00\x00\x00\x04\xff\xff\xff\xff")
	f.Fuzz(func(t *testing.T, text string) {
		if _, ok := gitEntries(text); ok != sameGitIndex(text, text) {
			t.Errorf("an index is not the same as itself: %q", text)
		}
	})
}
