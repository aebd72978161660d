package acceptance

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// soon is how long what was killed may take to be gone.
const soon = 10 * time.Second

// wantNothingLeft fails when a process, a mount or a file outlives the run, the
// program's cache of what it fetched aside.
func (s *scene) wantNothingLeft(t testing.TB) {
	t.Helper()
	var left []string
	if !eventually(func() bool { left = s.left(t); return len(left) == 0 }) {
		t.Errorf("left behind:\n%s", strings.Join(left, "\n"))
	}
}

// eventually polls a condition that comes true on its own.
func eventually(condition func() bool) bool {
	for end := time.Now().Add(soon); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if condition() {
			return true
		}
	}
	return condition()
}

func (s *scene) left(t testing.TB) []string {
	t.Helper()
	var left []string
	for _, p := range s.processes(t) {
		left = append(left, "process "+p)
	}
	if now := mountTable(t); now != s.mounts {
		left = append(left, "mounts, before:", s.mounts, "after:", now)
	}
	left = append(left, s.files(t, "tmp")...)
	left = append(left, s.files(t, "home")...)
	for _, file := range s.files(t, "cache") {
		if staging(file) {
			left = append(left, file)
		}
	}
	return left
}

// staging reports whether a path lies in a folder that something is fetched
// into, before it becomes a part of the cache.
func staging(path string) bool {
	return strings.Contains(path, "/.staging-") || strings.HasSuffix(path, ".old")
}

// processes lists the living that are, or are told of, a program of the scene.
func (s *scene) processes(t testing.TB) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		// One that is gone by now, or of another user, gives nothing.
		exe, _ := os.Readlink(filepath.Join("/proc", e.Name(), "exe"))
		line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		words := strings.ReplaceAll(string(line), "\x00", " ")
		if strings.HasPrefix(exe, s.dir) || strings.Contains(words, s.dir) {
			found = append(found, fmt.Sprintf("%d %s (%s)", pid, words, exe))
		}
	}
	return found
}

// files lists what is below a folder of the scene.
func (s *scene) files(t testing.TB, name string) []string {
	t.Helper()
	top := s.path(name)
	var found []string
	_ = filepath.WalkDir(top, func(path string, _ fs.DirEntry, err error) error {
		if path != top && err == nil { // a folder may go away meanwhile
			found = append(found, path)
		}
		return nil
	})
	slices.Sort(found)
	return found
}

func mountTable(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
