package sandbox

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ax-check/ax-check/internal/testenv"
)

// seeded makes a world with a file and a folder in its workspace.
func seeded(t *testing.T) *World {
	t.Helper()
	w := start(t, Spec{})
	folder, err := w.Folder(Workspace)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = folder.Close() }()
	err = errors.Join(folder.WriteFile("note", []byte("one"), 0o644), folder.MkdirAll("inbox/old", 0o755), folder.WriteFile("inbox/old/mail", []byte("hello"), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestSeedsAreSeenAndWritesAreFound(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		w := seeded(t)
		got := try(
			t, w, "several", "read", Workspace+"/note", ";", "append", Workspace+"/note", " two", ";",
			"rename", Workspace+"/inbox", Workspace+"/archive", ";", "read", Workspace+"/archive/old/mail", ";", "list", Workspace+"/inbox", ";",
			"write", Home+"/made", "by the program", ";", "write", "/dev/shm/shared", "memory",
		)
		if want := "one\nok\nok\nhello\nENOENT\nok\nok"; got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
		for path, want := range map[string]string{
			Workspace + "/note": "one two", Workspace + "/archive/old/mail": "hello", Home + "/made": "by the program", "/dev/shm/shared": "memory",
		} {
			if got, _ := inLayer(t, w, path); got != want {
				t.Errorf("the layer has %q in %s, want %q", got, path, want)
			}
		}
		if _, found := inLayer(t, w, Workspace+"/inbox/old/mail"); found {
			t.Error("the layer still has what was renamed")
		}
		if _, err := os.Stat(Base); err == nil {
			t.Errorf("%s was made on the machine", Base)
		}
	})
}

// Seeding and the program see each other's writes at once, in both directions.
func TestHardLinksOfSeedsBehave(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		w := seeded(t)
		got := try(t, w, "several", "link", Workspace+"/note", Workspace+"/same", ";", "append", Workspace+"/same", " two", ";", "read", Workspace+"/note")
		if want := "ok\nok\none two"; got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
		note, same := stat(t, w, Workspace+"/note"), stat(t, w, Workspace+"/same")
		if note.Ino != same.Ino || note.Nlink != 2 {
			t.Errorf("inodes %d and %d, %d links; want one inode with 2 links", note.Ino, same.Ino, note.Nlink)
		}
	})
}

func stat(t *testing.T, w *World, path string) unix.Stat_t {
	t.Helper()
	l := layerOf(w, path)
	var st unix.Stat_t
	if err := unix.Fstatat(int(l.Upper.Fd()), below(l, path), &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return st
}

func TestClosedFilesCanBeRead(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		w := seeded(t)
		if got := try(t, w, "several", "chmod", Workspace+"/note", "0", ";", "chmod", Workspace+"/inbox", "0", ";", "symlink", "/etc/passwd", Workspace+"/way-out"); got != "ok\nok\nok" {
			t.Fatal(got)
		}
		l := layerOf(w, Workspace)
		read := func(path string) string {
			f, err := l.Open(below(l, path))
			if err != nil {
				return err.Error()
			}
			defer func() { _ = f.Close() }()
			text, err := io.ReadAll(f)
			if err != nil {
				return err.Error()
			}
			return string(text)
		}
		if got := read(Workspace + "/note"); got != "one" {
			t.Errorf("the closed file reads as %q", got)
		}
		if got := read(Workspace + "/inbox/old/mail"); got != "hello" {
			t.Errorf("the file in the closed folder reads as %q", got)
		}
		f, err := l.Open(below(l, Workspace+"/inbox"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		if names, err := f.Readdirnames(-1); err != nil || len(names) != 1 {
			t.Errorf("the closed folder lists as %v (%v)", names, err)
		}
		if got := read(Workspace + "/way-out"); !strings.Contains(got, "symbolic links") {
			t.Errorf("a link is followed: %.80q", got)
		}
		if got := read(Workspace + "/no-such-file"); !strings.Contains(got, "no such file") {
			t.Errorf("a missing file reads as %q", got)
		}
	})
}

// Seeding stays in its folder, whatever a program has put there.
func TestSeedingIsConfined(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		outside := t.TempDir()
		w := start(t, Spec{})
		folder, err := w.Folder(Workspace)
		if err != nil {
			t.Fatal(err)
		}
		if got := try(t, w, "symlink", outside, Workspace+"/link"); got != "ok" {
			t.Fatal(got)
		}
		for _, name := range []string{"link/file", "../../escaped", "../home/../../../etc/file"} {
			if err := folder.WriteFile(name, []byte("x"), 0o644); err == nil {
				t.Errorf("%s could be written", name)
			}
		}
		_ = folder.Close()

		if got := try(t, w, "several", "rename", Workspace, Base+"/moved", ";", "symlink", outside, Workspace); got != "ok\nok" {
			t.Fatal(got)
		}
		if folder, err := w.Folder(Workspace); err == nil {
			_ = folder.WriteFile("file", []byte("x"), 0o644)
			_ = folder.Close()
			t.Error("a link was followed out of the world")
		}
		if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
			t.Errorf("the machine's folder has %v (%v)", entries, err)
		}
	})
}

// A home among other users' folders, with a name that needs care in mount
// options, is the user's inside as outside.
func TestHomeAmongOthers(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Skip(err)
		}
		odd := filepath.Join(home, `ax-check-test a,b:c\d`)
		if err := os.Mkdir(odd, 0o700); err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(odd) })
		if err := os.WriteFile(odd+"/mine", []byte("before"), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("HOME", odd)
		w := start(t, Spec{})
		if got := try(t, w, "several", "append", odd+"/mine", " after", ";", "read", odd+"/mine"); got != "ok\nbefore after" {
			t.Errorf("got %q", got)
		}
		if got, _ := inLayer(t, w, odd+"/mine"); got != "before after" {
			t.Errorf("the layer has %q", got)
		}
		if text, err := os.ReadFile(odd + "/mine"); err != nil || string(text) != "before" {
			t.Errorf("the machine has %q (%v)", text, err)
		}
	})
}
