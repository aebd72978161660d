package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ax-check/ax-check/internal/testenv"
)

func TestClosed(t *testing.T) {
	for path, want := range map[string]bool{
		"/etc/hosts": true, "/proc/sys/kernel/printk": true, "/proc/sysrq-trigger": true, "/process": true,
		"/proc/self/comm": false, "/proc/7/oom_score_adj": false, "/proc": false,
	} {
		if got := closed(path); got != want {
			t.Errorf("closed(%q) = %v", path, got)
		}
	}
}

func TestWritable(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		dir := t.TempDir()
		if err := errors.Join(os.WriteFile(dir+"/file", nil, 0o600), os.Mkdir(dir+"/fixed", 0o555), os.WriteFile(dir+"/read-only", nil, 0o444)); err != nil {
			t.Fatal(err)
		}
		root := os.Getuid() == 0
		for path, want := range map[string]bool{
			dir + "/file": true, dir + "/new": true, dir + "/no/such/folder": false,
			dir + "/fixed/new": root, dir + "/read-only": root, "/etc/passwd": root, "/etc/new": root,
		} {
			if got := writable(path); got != want {
				t.Errorf("writable(%q) = %v", path, got)
			}
		}
	})
}

func TestAmongOthers(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		mine := t.TempDir()
		deep := filepath.Join(mine, "a", "b")
		if err := os.MkdirAll(deep, 0o755); err != nil {
			t.Fatal(err)
		}
		// The stranger's folders lie in one of root's; root's own lie in /tmp.
		user := os.Getuid() != 0
		for dir, want := range map[string]bool{"/": false, "/home": false, "/home/somebody": false, "/usr/lib/x": user, deep: user && filepath.Dir(os.TempDir()) != "/"} {
			if got := amongOthers(dir); got != want {
				t.Errorf("amongOthers(%q) = %v", dir, got)
			}
		}
	})
}
