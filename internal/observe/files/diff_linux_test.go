package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/ax-check/ax-check/internal/effect"
)

// world is a layer at /w: a plain folder, or one over an original.
type world struct {
	t     testing.TB
	upper string
	layer Layer
}

func plainWorld(t testing.TB) *world {
	t.Helper()
	upper := t.TempDir()
	f, err := os.Open(upper)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return &world{t: t, upper: upper, layer: Layer{Mount: "/w", Upper: f}}
}

func coveringWorld(t testing.TB) *world {
	t.Helper()
	w := plainWorld(t)
	w.layer.Lower = t.TempDir()
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) path(name string) string { return filepath.Join(w.upper, name) }

func (w *world) write(name, content string) {
	w.t.Helper()
	w.must(os.MkdirAll(filepath.Dir(w.path(name)), 0o755))
	w.must(os.WriteFile(w.path(name), []byte(content), 0o644))
}

func (w *world) writeLower(name, content string) {
	w.t.Helper()
	p := filepath.Join(w.layer.Lower, name)
	w.must(os.MkdirAll(filepath.Dir(p), 0o755))
	w.must(os.WriteFile(p, []byte(content), 0o644))
}

// copyUp does what the overlay does when a file of the original is opened for
// writing.
func (w *world) copyUp(name string) {
	w.t.Helper()
	from := filepath.Join(w.layer.Lower, name)
	content, err := os.ReadFile(from)
	w.must(err)
	info, err := os.Stat(from)
	w.must(err)
	w.write(name, string(content))
	w.must(os.Chtimes(w.path(name), info.ModTime(), info.ModTime()))
}

func (w *world) whiteout(name string) {
	w.t.Helper()
	w.must(os.MkdirAll(filepath.Dir(w.path(name)), 0o755))
	if err := unix.Mknod(w.path(name), unix.S_IFCHR, 0); err != nil {
		w.t.Skipf("a whiteout cannot be made here: %v", err)
	}
}

func (w *world) mark(name, attribute, value string) {
	w.t.Helper()
	if err := unix.Setxattr(w.path(name), attribute, []byte(value), 0); err != nil {
		w.t.Skipf("%s cannot be set here: %v", attribute, err)
	}
}

func (w *world) scan(previous *Index, mapped ...string) *Index {
	w.t.Helper()
	set := map[string]bool{}
	for _, m := range mapped {
		set[m] = true
	}
	ix, err := Scan([]Layer{w.layer}, previous, set)
	w.must(err)
	return ix
}

// diff scans, acts, scans again and tells the difference.
func (w *world) diff(act func()) []effect.Effect {
	w.t.Helper()
	before := w.scan(nil)
	act()
	return Diff(before, w.scan(before))
}

// brief writes an effect as "class kind target <- from: before -> after (detail)".
func brief(effects []effect.Effect) []string {
	var lines []string
	for _, e := range effects {
		line := fmt.Sprintf("%s %s %s", e.Class, e.Kind, e.Target)
		if e.RenamedFrom != "" {
			line += " <- " + e.RenamedFrom
		}
		if e.Before != nil || e.After != nil {
			line += ":"
		}
		if e.Before != nil {
			line += fmt.Sprintf(" %q ->", *e.Before)
		}
		if e.After != nil {
			line += fmt.Sprintf(" %q", *e.After)
		}
		if e.Detail != "" {
			line += " (" + e.Detail + ")"
		}
		if e.Volatile {
			line = "volatile " + line
		}
		lines = append(lines, line)
	}
	return lines
}

func check(t *testing.T, got []effect.Effect, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, brief(got)); diff != "" {
		t.Errorf("effects (-want +got):\n%s", diff)
	}
}

func TestPlainLayer(t *testing.T) {
	tests := []struct {
		name string
		seed func(w *world)
		act  func(w *world)
		want []string
	}{
		{
			"nothing", func(w *world) { w.write("a", "x") }, func(*world) {}, nil,
		},
		{
			"file created", nil, func(w *world) { w.write("a", "x\n") },
			[]string{`create file /w/a: "x\n"`},
		},
		{
			"folder with a file created", nil, func(w *world) { w.write("d/a", "x") },
			[]string{`create dir /w/d`, `create file /w/d/a: "x"`},
		},
		{
			"link created", nil, func(w *world) { w.must(os.Symlink("there", w.path("l"))) },
			[]string{`create symlink /w/l: "there"`},
		},
		{
			"pipe created", nil, func(w *world) { w.must(unix.Mkfifo(w.path("p"), 0o644)) },
			[]string{`create file /w/p (named pipe)`},
		},
		{
			"file deleted", func(w *world) { w.write("a", "x") }, func(w *world) { w.must(os.Remove(w.path("a"))) },
			[]string{`delete file /w/a: "x" ->`},
		},
		{
			"folder deleted", func(w *world) { w.write("d/a", "x") }, func(w *world) { w.must(os.RemoveAll(w.path("d"))) },
			[]string{`delete dir /w/d`, `delete file /w/d/a: "x" ->`},
		},
		{
			"text appended", func(w *world) { w.write("a", "x\n") }, func(w *world) { w.write("a", "x\ny\n") },
			[]string{`append file /w/a: "y\n" (2 bytes added at the end)`},
		},
		{
			"binary appended", func(w *world) { w.write("a", "x\x00") }, func(w *world) { w.write("a", "x\x00y\x00z") },
			[]string{`append file /w/a: "(3 bytes, binary)" (3 bytes added at the end)`},
		},
		{
			"empty file filled", func(w *world) { w.write("a", "") }, func(w *world) { w.write("a", "x") },
			[]string{`append file /w/a: "x" (1 bytes added at the end)`},
		},
		{
			"file emptied", func(w *world) { w.write("a", "x") }, func(w *world) { w.write("a", "") },
			[]string{`modify file /w/a: "x" -> "" (emptied)`},
		},
		{
			"text changed", func(w *world) { w.write("a", "one\ntwo\nthree\n") }, func(w *world) { w.write("a", "one\n2\nthree\n") },
			[]string{`modify file /w/a: "two" -> "2"`},
		},
		{
			"binary changed", func(w *world) { w.write("a", "\x00ab") }, func(w *world) { w.write("a", "\x00cb") },
			[]string{`rewritten file /w/a: "(3 bytes, binary)" -> "(3 bytes, binary)"`},
		},
		{
			"JSON entry added by rewriting", func(w *world) { w.write("a.json", `{"a":1}`) },
			func(w *world) { w.write("a.json", `{"b":2,"a":1}`) },
			[]string{`append json /w/a.json#/b: "2"`},
		},
		{
			"JSON value replaced", func(w *world) { w.write("a.json", `{"a":1}`) },
			func(w *world) { w.write("a.json", `{"a":2}`) },
			[]string{`modify json /w/a.json#/a: "1" -> "2"`},
		},
		{
			"JSON entry removed", func(w *world) { w.write("a", `{"a":1,"b":2}`) },
			func(w *world) { w.write("a", `{"a":1}`) },
			[]string{`delete json /w/a#/b: "2" ->`},
		},
		{
			"JSON formatted", func(w *world) { w.write("a", `{"a":1}`) }, func(w *world) { w.write("a", `{ "a": 1 }`) },
			[]string{`volatile modify json /w/a (formatting only)`},
		},
		{
			"JSON line added in front", func(w *world) { w.write("a", "{\"a\":1}\n{\"a\":2}\n") },
			func(w *world) { w.write("a", "{\"a\":0}\n{\"a\":1}\n{\"a\":2}\n") },
			[]string{`append json /w/a#/0: "{\"a\":0}"`},
		},
		{
			"JSON line added at the end", func(w *world) { w.write("a", "{\"a\":1}\n") },
			func(w *world) { w.write("a", "{\"a\":1}\n{\"a\":2}\n") },
			[]string{`append file /w/a: "{\"a\":2}\n" (8 bytes added at the end)`},
		},
		{
			"JSON that became text", func(w *world) { w.write("a.json", `{"a":1}`) },
			func(w *world) { w.write("a.json", `broken`) },
			[]string{`modify file /w/a.json: "{\"a\":1}" -> "broken"`},
		},
		{
			"file renamed", func(w *world) { w.write("a", "x") },
			func(w *world) { w.must(os.Rename(w.path("a"), w.path("b"))) },
			[]string{`delete file /w/a: "x" ->`, `create file /w/b <- /w/a: "x"`},
		},
		{
			"file moved by copying", func(w *world) { w.write("a", "x"); w.write("b/z", "x") },
			func(w *world) { w.write("c/a", "x"); w.must(os.Remove(w.path("a"))) },
			[]string{`delete file /w/a: "x" ->`, `create dir /w/c`, `create file /w/c/a <- /w/a: "x"`},
		},
		{
			"file copied", func(w *world) { w.write("a", "x") }, func(w *world) { w.write("b", "x") },
			[]string{`create file /w/b: "x"`},
		},
		{
			"file renamed over another", func(w *world) { w.write("a", "x"); w.write("b", "y") },
			func(w *world) { w.must(os.Rename(w.path("a"), w.path("b"))) },
			[]string{`delete file /w/a: "x" ->`, `modify file /w/b: "y" -> "x"`},
		},
		{
			"files exchanged", func(w *world) { w.write("a", "x"); w.write("b", "y") },
			func(w *world) { w.write("a", "y"); w.write("b", "x") },
			[]string{`modify file /w/a: "x" -> "y"`, `modify file /w/b: "y" -> "x"`},
		},
		{
			"folder renamed", func(w *world) { w.write("d/a", "x"); w.write("d/e/b", "y") },
			func(w *world) { w.must(os.Rename(w.path("d"), w.path("f"))) },
			[]string{`delete dir /w/d`, `create dir /w/f <- /w/d`},
		},
		{
			"folder renamed and changed within",
			func(w *world) { w.write("d/a", "x"); w.write("d/b", "y"); w.write("d/c", "z") },
			func(w *world) {
				w.must(os.Rename(w.path("d"), w.path("f")))
				w.write("f/a", "changed")
				w.must(os.Remove(w.path("f/b")))
				w.write("f/new", "n")
			},
			[]string{
				`delete dir /w/d`, `delete file /w/d/b: "y" ->`, `create dir /w/f <- /w/d`,
				`modify file /w/f/a: "x" -> "changed"`, `create file /w/f/new: "n"`,
			},
		},
		{
			"folder renamed and a new one in its place", func(w *world) { w.write("d/a", "x") },
			func(w *world) { w.must(os.Rename(w.path("d"), w.path("f"))); w.write("d/b", "y") },
			[]string{`delete file /w/d/a: "x" ->`, `create file /w/d/b: "y"`, `create dir /w/f`, `create file /w/f/a <- /w/d/a: "x"`},
		},
		{
			"hard link", func(w *world) { w.write("a", "x") },
			func(w *world) { w.must(os.Link(w.path("a"), w.path("b"))) },
			[]string{`create file /w/b: "x" (hard link to /w/a)`},
		},
		{
			"mode", func(w *world) { w.write("a", "x") }, func(w *world) { w.must(os.Chmod(w.path("a"), 0o755)) },
			[]string{`modify metadata /w/a: "mode 644" -> "mode 755" (mode 644 -> 755)`},
		},
		{
			"mode of a folder", func(w *world) { w.write("d/a", "x") },
			func(w *world) { w.must(os.Chmod(w.path("d"), 0o700|os.ModeSticky)) },
			[]string{`modify metadata /w/d: "mode 755" -> "mode 1700" (mode 755 -> 1700)`},
		},
		{
			"attribute", func(w *world) { w.write("a", "x") }, func(w *world) { w.mark("a", "user.colour", "red") },
			[]string{`modify metadata /w/a: "user.colour absent" -> "user.colour \"red\"" (user.colour absent -> "red")`},
		},
		{
			"link retargeted", func(w *world) { w.must(os.Symlink("one", w.path("l"))) },
			func(w *world) { w.must(os.Remove(w.path("l"))); w.must(os.Symlink("two", w.path("l"))) },
			[]string{`modify symlink /w/l: "one" -> "two"`},
		},
		{
			"file became a folder", func(w *world) { w.write("a", "x") },
			func(w *world) { w.must(os.Remove(w.path("a"))); w.write("a/b", "y") },
			[]string{`modify dir /w/a: "x" -> (was a file, is a folder)`, `create file /w/a/b: "y"`},
		},
		{
			"deleted and made again", func(w *world) { w.write("a", "x") },
			func(w *world) { w.must(os.Remove(w.path("a"))); w.write("b", ""); w.write("a", "x") },
			[]string{`volatile modify file /w/a (same bytes in a new file)`, `create file /w/b: ""`},
		},
		{
			"same bytes written", func(w *world) {
				w.write("a", "x")
				w.must(os.Chtimes(w.path("a"), time.Unix(1, 0), time.Unix(1, 0)))
			},
			func(w *world) { w.write("a", "x") },
			[]string{`volatile modify file /w/a (same bytes, new times)`},
		},
		{
			"touched", func(w *world) { w.write("a", "x") },
			func(w *world) { w.must(os.Chtimes(w.path("a"), time.Unix(1, 0), time.Unix(1, 0))) },
			[]string{`volatile modify file /w/a (same bytes, new times)`},
		},
		{
			"shared memory of a database", func(w *world) { w.write("app.db", sqlite); w.write("app.db-shm", "\x001") },
			func(w *world) { w.write("app.db-shm", "\x002") },
			[]string{`volatile rewritten file /w/app.db-shm: "(2 bytes, binary)" -> "(2 bytes, binary)" (shared memory of a database, derived from the log beside it)`},
		},
		{
			"an empty log made by reading", func(w *world) { w.write("app.db", sqlite) },
			func(w *world) { w.write("app.db-wal", "") },
			[]string{`volatile create file /w/app.db-wal: "" (log of a database without anything that is not in the database)`},
		},
		{
			"a log that was merged before", func(w *world) { w.write("app.db", sqlite); w.write("app.db-wal", "w\x00") },
			func(w *world) { w.must(os.Remove(w.path("app.db-wal"))) },
			[]string{`volatile delete file /w/app.db-wal: "(2 bytes, binary)" -> (log of a database without anything that is not in the database)`},
		},
		{
			"a row written to the log", func(w *world) { w.write("app.db", sqlite); w.write("app.db-wal", "w\x00") },
			func(w *world) { w.write("app.db-wal", "w\x00x") },
			[]string{`rewritten file /w/app.db-wal: "(1 bytes, binary)" (write-ahead log of a database)`},
		},
		{
			"a journal left behind", func(w *world) { w.write("app.db", sqlite) },
			func(w *world) { w.write("app.db-journal", "j\x00") },
			[]string{`volatile create file /w/app.db-journal: "(2 bytes, binary)" (journal of a database, kept while it is written)`},
		},
		{
			"a name like shared memory alone", func(w *world) { w.write("app.db-shm", "\x001") },
			func(w *world) { w.write("app.db-shm", "\x002") },
			[]string{`rewritten file /w/app.db-shm: "(2 bytes, binary)" -> "(2 bytes, binary)"`},
		},
		{
			"long text", func(w *world) { w.write("a", "") }, func(w *world) { w.write("a", strings.Repeat("é", 1000)) },
			[]string{`append file /w/a: "` + strings.Repeat("é", 200) + `" (2000 bytes added at the end)`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := plainWorld(t)
			if tt.seed != nil {
				tt.seed(w)
			}
			check(t, w.diff(func() { tt.act(w) }), tt.want...)
		})
	}
}

func TestLayerOverOriginal(t *testing.T) {
	original := func(w *world) {
		w.writeLower("a", "one\ntwo\n")
		w.writeLower("d/x", "x")
		w.writeLower("d/e/y", "y")
	}
	tests := []struct {
		name string
		act  func(w *world)
		want []string
	}{
		{
			"copied up only", func(w *world) { w.copyUp("a"); w.copyUp("d/x") },
			[]string{`volatile modify file /w/a (copied up only)`, `volatile modify file /w/d/x (copied up only)`},
		},
		{
			"original appended to", func(w *world) { w.write("a", "one\ntwo\nthree\n") },
			[]string{`append file /w/a: "three\n" (6 bytes added at the end)`},
		},
		{
			"original changed", func(w *world) { w.write("a", "one\n2\n") },
			[]string{`modify file /w/a: "two" -> "2"`},
		},
		{
			"mode of an original", func(w *world) { w.copyUp("a"); w.must(os.Chmod(w.path("a"), 0o600)) },
			[]string{`modify metadata /w/a: "mode 644" -> "mode 600" (mode 644 -> 600)`},
		},
		{
			"file beside the original", func(w *world) { w.write("d/new", "n") },
			[]string{`create file /w/d/new: "n"`},
		},
		{
			"original deleted", func(w *world) { w.whiteout("a") },
			[]string{`delete file /w/a: "one\ntwo\n" ->`},
		},
		{
			"original folder deleted", func(w *world) { w.whiteout("d") },
			[]string{`delete dir /w/d`, `delete dir /w/d/e`, `delete file /w/d/e/y: "y" ->`, `delete file /w/d/x: "x" ->`},
		},
		{
			"original moved by copying", func(w *world) { w.whiteout("a"); w.write("b", "one\ntwo\n") },
			[]string{`delete file /w/a: "one\ntwo\n" ->`, `create file /w/b <- /w/a: "one\ntwo\n"`},
		},
		{
			"folder made again", func(w *world) { w.write("d/x", "x"); w.mark("d", "user.overlay.opaque", "y") },
			[]string{
				`delete dir /w/d/e`, `delete file /w/d/e/y: "y" ->`,
				`volatile modify file /w/d/x (same bytes, new times)`,
			},
		},
		{
			"folder renamed by redirect",
			func(w *world) {
				w.must(os.Mkdir(w.path("f"), 0o755))
				w.mark("f", "user.overlay.redirect", "/d")
				w.whiteout("d")
			},
			[]string{`delete dir /w/d`, `create dir /w/f <- /w/d`},
		},
		{
			"folder renamed by redirect and changed within",
			func(w *world) {
				w.write("f/x", "changed")
				w.mark("f", "user.overlay.redirect", "d")
				w.whiteout("f/e")
				w.whiteout("d")
			},
			[]string{
				`delete dir /w/d`, `delete dir /w/d/e`, `delete file /w/d/e/y: "y" ->`,
				`create dir /w/f <- /w/d`, `modify file /w/f/x: "x" -> "changed"`,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := coveringWorld(t)
			original(w)
			w.must(os.Chtimes(filepath.Join(w.layer.Lower, "d/x"), time.Unix(1, 0), time.Unix(1, 0)))
			check(t, w.diff(func() { tt.act(w) }), tt.want...)
		})
	}
}

// What was written before the first index is the before-side, not the original.
func TestWrittenStateHidesOriginal(t *testing.T) {
	w := coveringWorld(t)
	w.writeLower("a", "original")
	w.writeLower("d/x", "original")
	w.write("a", "seed")
	w.whiteout("d")
	check(t, w.diff(func() {
		w.write("a", "seeded")
		w.must(os.Remove(w.path("d")))
		w.write("d/x", "new")
		w.mark("d", "user.overlay.opaque", "y")
	}),
		`append file /w/a: "ed" (2 bytes added at the end)`,
		`create dir /w/d`,
		`create file /w/d/x: "new"`,
	)
}

func TestManyEntriesAreFolded(t *testing.T) {
	w := coveringWorld(t)
	for i := range 70 {
		w.writeLower(fmt.Sprintf("old/%02d", i), "x")
	}
	got := w.diff(func() {
		w.whiteout("old")
		for i := range 60 {
			w.write(fmt.Sprintf("new/%02d", i), fmt.Sprint(i))
		}
	})
	count := map[effect.Class]int{}
	var details []string
	for _, e := range got {
		count[e.Class]++
		if e.Detail != "" {
			details = append(details, e.Target+" "+e.Detail)
		}
	}
	if diff := cmp.Diff(map[effect.Class]int{effect.Create: 1 + maxBelow, effect.Delete: 1 + maxBelow}, count); diff != "" {
		t.Errorf("effects by class (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"/w/new and 10 more below", "/w/old and 20 more below"}, details); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}

func TestLargeFiles(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	large := strings.Repeat(line, 2*maxHeld/len(line))
	tests := []struct {
		name, after string
		want        []string
	}{
		{"appended", large + "more", []string{`append file /w/a: "(4 bytes of text)" (4 bytes added at the end)`}},
		{"changed", "y" + large[1:], []string{fmt.Sprintf(`modify file /w/a: "(%[1]d bytes of text)" -> "(%[1]d bytes of text)"`, len(large))}},
		{"changed to binary", "\x00" + large[1:], []string{fmt.Sprintf(`rewritten file /w/a: "(%[1]d bytes of text)" -> "(%[1]d bytes, binary)"`, len(large))}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := plainWorld(t)
			w.write("a", large)
			check(t, w.diff(func() { w.write("a", tt.after) }), tt.want...)
		})
		t.Run("original "+tt.name, func(t *testing.T) {
			w := coveringWorld(t)
			w.writeLower("a", large)
			check(t, w.diff(func() { w.write("a", tt.after) }), tt.want...)
		})
	}
}

func TestSparseFileIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("reads much of nothing")
	}
	w := plainWorld(t)
	w.write("a", "")
	w.must(os.Truncate(w.path("a"), 1<<40))
	before := w.scan(nil)
	if diff := cmp.Diff([]string{"/w/a"}, before.Unread()); diff != "" {
		t.Errorf("Unread (-want +got):\n%s", diff)
	}
	w.must(os.Truncate(w.path("a"), 1<<41))
	check(t, Diff(before, w.scan(before)), `rewritten file /w/a (only the first 256 MiB were compared)`)
}

func TestLayersInsideOneAnother(t *testing.T) {
	outer, inner := plainWorld(t), plainWorld(t)
	outer.layer.Mount, inner.layer.Mount = "/", "/tmp"
	outer.write("tmp/hidden", "x")
	outer.write("tmpfile", "x")
	inner.write("seen", "x")
	before, err := Scan([]Layer{outer.layer, inner.layer}, nil, nil)
	outer.must(err)
	outer.write("tmp/hidden", "changed")
	outer.write("tmpfile", "xy")
	inner.write("seen", "xz")
	after, err := Scan([]Layer{outer.layer, inner.layer}, before, nil)
	outer.must(err)
	check(t, Diff(before, after),
		`append file /tmp/seen: "z" (1 bytes added at the end)`,
		`append file /tmpfile: "y" (1 bytes added at the end)`,
	)
}

// A second store into a mapped page changes no time; only reading again tells.
func TestMappedFileIsReadAgain(t *testing.T) {
	w := plainWorld(t)
	w.write("a", "x")
	before := w.scan(nil)
	before.entries["/w/a"].digest[0] ^= 1 // as if the content had been another
	before.taken += time.Hour.Nanoseconds()
	if got := Diff(before, w.scan(before)); len(got) != 0 {
		t.Errorf("an unchanged file was read again: %q", brief(got))
	}
	if got := Diff(before, w.scan(before, "/w/a")); len(got) != 1 {
		t.Errorf("a mapped file was not read again: %q", brief(got))
	}
}

func TestRecentFileIsReadAgain(t *testing.T) {
	w := plainWorld(t)
	w.write("a", "x")
	before := w.scan(nil)
	before.entries["/w/a"].digest[0] ^= 1
	before.taken = before.entries["/w/a"].ctime + settled.Nanoseconds()
	if got := Diff(before, w.scan(before)); len(got) != 1 {
		t.Errorf("a file written within the kernel's tick was not read again: %q", brief(got))
	}
}

// asStranger runs f as a user who may read only what everybody may.
func asStranger(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Setfsuid(65534); err != nil {
		t.Skipf("another user cannot be taken on: %v", err)
	}
	defer func() {
		if err := unix.Setfsuid(0); err != nil {
			panic(err)
		}
	}()
	f()
}

func TestUnreadable(t *testing.T) {
	seal := func(w *world) {
		w.must(os.Chmod(w.path("a"), 0))
		w.must(os.Chmod(w.path("d"), 0))
	}
	seed := func(w *world) {
		w.write("a", "x")
		w.write("d/b", "y")
	}
	t.Run("without help", func(t *testing.T) {
		w := plainWorld(t)
		seed(w)
		before := w.scan(nil)
		seal(w)
		var after *Index
		asStranger(t, func() { after = w.scan(before) })
		check(t, Diff(before, after),
			`modify metadata /w/a: "mode 644" -> "mode 0" (mode 644 -> 0)`,
			`modify metadata /w/d: "mode 755" -> "mode 0" (mode 755 -> 0)`,
		)
		if diff := cmp.Diff([]string{"/w/a", "/w/d"}, after.Unread()); diff != "" {
			t.Errorf("Unread (-want +got):\n%s", diff)
		}
	})
	t.Run("with help", func(t *testing.T) {
		w := plainWorld(t)
		seed(w)
		before := w.scan(nil)
		w.write("a", "xx")
		w.write("d/b", "yy")
		seal(w)
		var after *Index
		asStranger(t, func() {
			w.layer.Open = func(rel string) (*os.File, error) {
				err := errors.Join(unix.Setfsuid(0))
				defer unix.Setfsuid(65534)
				if err != nil {
					return nil, err
				}
				return os.Open(w.path(rel))
			}
			after = w.scan(before)
		})
		check(t, Diff(before, after),
			`append file /w/a: "x" (1 bytes added at the end)`,
			`modify metadata /w/a: "mode 644" -> "mode 0" (mode 644 -> 0)`,
			`modify metadata /w/d: "mode 755" -> "mode 0" (mode 755 -> 0)`,
			`append file /w/d/b: "y" (1 bytes added at the end)`,
		)
		if got := after.Unread(); got != nil {
			t.Errorf("Unread = %q", got)
		}
	})
}

func TestHeldContentIsBounded(t *testing.T) {
	w := plainWorld(t)
	block := strings.Repeat("x", maxHeld-8)
	for i := range maxHeldTotal/maxHeld + 8 {
		w.write(fmt.Sprintf("%03d", i), fmt.Sprintf("%08d", i)+block)
	}
	first := w.scan(nil)
	for i := range 8 {
		w.write(fmt.Sprintf("%03d", i), fmt.Sprintf("%08d", i+1000)+block)
	}
	for i, ix := range []*Index{first, w.scan(first)} {
		if ix.kept != maxHeldTotal {
			t.Errorf("index %d holds %d bytes, want %d", i, ix.kept, maxHeldTotal)
		}
	}
}

func TestFilesVanishDuringScan(t *testing.T) {
	w := plainWorld(t)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			dir := w.path(fmt.Sprintf("d%d", i%10))
			os.MkdirAll(dir, 0o755)
			os.WriteFile(filepath.Join(dir, "f"), []byte("x"), 0o644)
			os.RemoveAll(dir)
		}
	}()
	for range 300 {
		w.scan(nil)
	}
	close(stop)
	<-stopped
}

// fill writes n files of about 200 bytes in folders of 100.
func fill(w *world, n int) {
	for i := range n {
		w.write(fmt.Sprintf("d%03d/f%02d", i/100, i%100), strings.Repeat(fmt.Sprintf("line %d\n", i), 20))
	}
}

func BenchmarkScan10k(b *testing.B) {
	w := plainWorld(b)
	fill(w, 10_000)
	for b.Loop() {
		w.scan(nil)
	}
}

func BenchmarkRescan10k(b *testing.B) {
	w := plainWorld(b)
	fill(w, 10_000)
	before := w.scan(nil)
	before.taken += time.Second.Nanoseconds() // past the kernel's tick
	for b.Loop() {
		if n := len(Diff(before, w.scan(before))); n != 0 {
			b.Fatalf("%d effects without a change", n)
		}
	}
}

// sqlite is the start of a database file.
const sqlite = "SQLite format 3\x00\x10\x00"
