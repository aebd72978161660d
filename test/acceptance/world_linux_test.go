package acceptance

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// told is what the witness says in every call of a run, by tool. Worlds are all
// alike, so a tool that says different things is an error.
func told(t *testing.T, d document) map[string]string {
	t.Helper()
	said := map[string]string{}
	for _, e := range d.Evidence {
		for _, c := range e.Calls {
			if before, ok := said[e.Tool]; ok && before != c.Reply {
				t.Errorf("%s says in one world\n%s\nand in another\n%s", e.Tool, before, c.Reply)
			}
			said[e.Tool] = c.Reply
		}
	}
	if len(said) == 0 {
		t.Fatal("the witness was not asked")
	}
	return said
}

// witness verifies the witness with these arguments, split by "--" from its own.
func (s *scene) witness(t *testing.T, flags []string, own ...string) map[string]string {
	t.Helper()
	args := append([]string{"verify", "--format", "json"}, flags...)
	r := s.run(t, append(append(args, "--", s.path("bin/witness")), own...)...)
	r.wantCode(t, 0)
	return told(t, r.document(t))
}

func newWitnessScene(t *testing.T) *scene {
	t.Helper()
	needsWorlds(t)
	s := newScene(t)
	s.copyOf(t, "witness")
	return s
}

// seen is how the witness shows a file.
func seen(path string, mode fs.FileMode, content string) string {
	return fmt.Sprintf("%s %04o %.4x", path, mode, sha256.Sum256([]byte(content)))
}

// writeOriginals makes the folders that a user has.
func (s *scene) writeOriginals(t *testing.T) {
	t.Helper()
	s.write(t, "project/notes.md", "my notes\n")
	s.write(t, "project/deep/er/data.json", `{"a": 1}`)
	s.write(t, "project/secret", "for me only")
	s.write(t, "person/.config/app/settings", "theme: dark\n")
	err := errors.Join(
		os.Chmod(s.path("project/secret"), 0o600),
		os.Mkdir(s.path("project/empty"), 0o755),
		os.Symlink("notes.md", s.path("project/link")),
	)
	if err != nil {
		t.Fatal(err)
	}
}

// fingerprint tells everything of a tree: names, modes, owners, times, contents.
func fingerprint(t *testing.T, top string) string {
	t.Helper()
	sum := sha256.New()
	err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		fmt.Fprintln(sum, path, st.Mode, st.Uid, st.Gid, st.Size, st.Nlink, st.Mtim, st.Ctim)
		if !entry.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(sum, "%q\n", text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// The user's own folders are in every world as they are, and nothing else is;
// the originals are not touched, by tools that write and delete either.
func TestOriginalFolders(t *testing.T) {
	asRootAndUser(t, func(t *testing.T) {
		s := newWitnessScene(t)
		s.writeOriginals(t)
		before := fingerprint(t, s.path("project")) + fingerprint(t, s.path("person"))
		flags := []string{"--workspace", "../project", "--home", "../person"}
		said := s.witness(t, flags)
		want := strings.Join([]string{
			"deep/", "deep/er/", seen("deep/er/data.json", 0o644, `{"a": 1}`), "empty/", "link -> notes.md",
			seen("notes.md", 0o644, "my notes\n"), seen("secret", 0o600, "for me only"),
		}, "\n")
		if diff := cmp.Diff(want, said["show_folder"]); diff != "" {
			t.Errorf("the workspace of the world:\n%s", diff)
		}
		want = strings.Join([]string{
			".config/", ".config/app/", seen(".config/app/settings", 0o644, "theme: dark\n"), "tmp/",
		}, "\n")
		if diff := cmp.Diff(want, said["show_home"]); diff != "" {
			t.Errorf("the home of the world:\n%s", diff)
		}
		s.run(t, append(append([]string{"verify"}, flags...), "--", s.copyOf(t, "torture"), "ok")...).wantCode(t, 0)
		s.run(t, append(append([]string{"verify"}, flags...), "--setup", "rm -rf {workspace}/* {home}/.config; echo x > {workspace}/notes.md", "--", s.path("bin/torture"), "ok")...).wantCode(t, 0)
		if after := fingerprint(t, s.path("project")) + fingerprint(t, s.path("person")); after != before {
			t.Error("the original folders were changed")
		}
		s.wantNothingLeft(t)
	})
}

// Without folders of the user's own the workspace has files to work with, and
// with --no-seed none.
func TestSeeds(t *testing.T) {
	s := newWitnessScene(t)
	s.write(t, "project/only.txt", "this")
	for _, test := range []struct {
		name  string
		flags []string
		want  func(folder string) bool
	}{
		{"seeded", nil, func(folder string) bool { return strings.Count(folder, "\n") > 3 }},
		{"no seed", []string{"--no-seed"}, func(folder string) bool { return folder == "" }},
		{"workspace", []string{"--workspace", "../project"}, func(folder string) bool { return folder == seen("only.txt", 0o644, "this") }},
		{"home alone", []string{"--home", "../project"}, func(folder string) bool { return folder == "" }},
	} {
		t.Run(test.name, func(t *testing.T) {
			if folder := s.witness(t, test.flags)["show_folder"]; !test.want(folder) {
				t.Errorf("the workspace holds:\n%s", folder)
			}
		})
	}
}

// Set-up commands run in every world before the server starts, in order, and
// one that fails ends the run with its words.
func TestSetup(t *testing.T) {
	s := newWitnessScene(t)
	said := s.witness(t, []string{"--no-seed", "--setup", "echo one > {workspace}/made", "--setup", `echo two >> "$HOME/../workspace/made"`})
	if want := seen("made", 0o644, "one\ntwo\n"); said["show_folder"] != want {
		t.Errorf("the workspace holds %q, want %q", said["show_folder"], want)
	}
	r := s.run(t, "verify", "--setup", "echo out of paper >&2; exit 7", "--", s.path("bin/witness"))
	r.wantCode(t, 3)
	for _, want := range []string{"out of paper", "exit status 7"} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("no %q in %v", want, r)
		}
	}
}

// The server gets its arguments, its folder and its environment with the
// placeholders expanded, and nothing of the user's own environment.
func TestSurroundings(t *testing.T) {
	s := newWitnessScene(t)
	s.env = append(s.env, "WITNESS_OWN=mine", "WITNESS_KEPT=private", "API_TOKEN=private")
	want := map[string]string{
		"show_place": `in /ax-check/home with ["/ax-check/workspace/a" "--home=/ax-check/home"]`,
		"show_environment": "HOME LANG PATH PYTHONDONTWRITEBYTECODE TMPDIR WITNESS_DIR=/ax-check/workspace WITNESS_OWN=mine " +
			"XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME",
	}
	wanted := func(t *testing.T, said map[string]string) {
		t.Helper()
		for name, text := range want {
			if diff := cmp.Diff(text, said[name]); diff != "" {
				t.Errorf("%s:\n%s", name, diff)
			}
		}
	}
	own := []string{"{workspace}/a", "--home={home}"}
	t.Run("flags", func(t *testing.T) {
		wanted(t, s.witness(t, []string{"--env", "WITNESS_DIR={workspace}", "--env", "WITNESS_OWN", "--cwd", "{home}"}, own...))
	})
	t.Run("file", func(t *testing.T) {
		s.write(t, "here/ax-check.yaml", `
command: [`+s.path("bin/witness")+`, "{workspace}/a", "--home={home}"]
env: ["WITNESS_DIR={workspace}", WITNESS_OWN]
cwd: "{home}"
`)
		r := s.run(t, "verify", "--format", "json")
		r.wantCode(t, 0)
		wanted(t, told(t, r.document(t)))
	})
}

// The file means what the flags mean, down to each call and verdict.
func TestFileEqualsFlags(t *testing.T) {
	s := newWitnessScene(t)
	s.write(t, "project/only.txt", "this")
	s.write(t, "person/.rc", "that")
	plain := s.run(t, "verify", "--format", "json", "--workspace", "../project", "--home", "../person", "--setup", "echo x > {workspace}/x",
		"--cwd", "{home}", "--timeout", "5s", "--seed", "7", "--env", "WITNESS_A=1", "--", s.path("bin/witness"))
	plain.wantCode(t, 0)
	s.write(t, "here/other.yaml", `
command: [`+s.path("bin/witness")+`]
workspace: ../project
home: ../person
setup: ["echo x > {workspace}/x"]
cwd: "{home}"
timeout: 5s
seed: 7
env: [WITNESS_A=1]
`)
	filed := s.run(t, "verify", "--format", "json", "--config", "other.yaml")
	filed.wantCode(t, 0)
	if diff := cmp.Diff(plain.stable(), filed.stable()); diff != "" {
		t.Errorf("with the file the report differs:\n%s", diff)
	}
}

// A server of which nothing works is no success, and the cause is named.
func TestNothingWorks(t *testing.T) {
	s := newWitnessScene(t)
	r := s.run(t, "verify", "--format", "json", "--", s.path("bin/witness"), "-fail")
	r.wantCode(t, 3)
	if !strings.Contains(r.stderr, "the account is locked") {
		t.Errorf("the cause is missing: %v", r)
	}
	wantHint(t, r)
	d := r.document(t)
	if !d.Complete || len(d.Tools) != 4 || d.Summary["untested"] != 16 {
		t.Errorf("%d tools, complete %v, summary %v, want 4 with nothing told", len(d.Tools), d.Complete, d.Summary)
	}
	for _, tool := range d.Tools {
		if tool.Calls.Effective != 0 || tool.Calls.Made == 0 {
			t.Errorf("%s: calls %+v", tool.Name, tool.Calls)
		}
	}

	r = s.run(t, "verify", "--", s.copyOf(t, "torture"), "key-missing")
	r.wantCode(t, 3)
	for _, want := range []string{"API_KEY is not set", "--env API_KEY=VALUE"} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("no %q in %v", want, r)
		}
	}
	s.wantNothingLeft(t)
}
