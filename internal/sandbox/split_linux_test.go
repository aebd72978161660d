package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ax-check/ax-check/internal/testenv"
)

// A folder with a mount below can't be covered as a whole by a plain user. The
// mounts are made in a mount namespace of the test's own.
func TestFoldersWithMountsBelow(t *testing.T) {
	const variable = testenv.Prefix + "MOUNTED"
	dir := os.Getenv(variable)
	if dir == "" {
		inMountNamespace(t, variable)
		return
	}
	if os.Getuid() == 0 {
		mountBelow(t, dir)
	}
	testenv.AsRootAndUser(t, func(t *testing.T) {
		w := start(t, Spec{})
		for path, inside := range map[string]string{dir + "/mounted/file": "in the mount", dir + "/beside/file": "beside", dir + "/file": "at the top", dir + "/fixed/file": "fixed"} {
			if got := try(t, w, "read", path); got != inside {
				t.Errorf("%s reads as %q, want %q", path, got, inside)
			}
		}
		user := os.Getuid() != 0
		for path, want := range map[string]string{
			dir + "/mounted/file": "ok", dir + "/mounted/new": "ok", dir + "/beside/new": "ok", dir + "/fixed/file": "EROFS",
			dir + "/new": map[bool]string{true: "EROFS", false: "ok"}[user], // shown, for there are mounts below
		} {
			w.TakeEvents()
			if got := try(t, w, "write", path, "mine"); got != want {
				t.Errorf("writing %s: %s, want %s", path, got, want)
			}
			refused := recorded(w, Refused)
			if want := path == dir+"/new" && user; (len(refused) > 0) != want {
				t.Errorf("writing %s: recorded %q, want refused: %v", path, refused, want)
			}
			if text, _ := os.ReadFile(path); string(text) == "mine" {
				t.Errorf("%s was written on the machine", path)
			}
		}
		// In the shown folder itself there is the machine's own socket file.
		for _, place := range []string{dir, dir + "/beside", dir + "/mounted", dir + "/fixed"} {
			if _, err := os.Stat(place + "/socket"); err == nil {
				if got := try(t, w, "dial", "unix", place+"/socket"); got != "ECONNREFUSED" {
					t.Errorf("dialling the socket in %s: %s, want ECONNREFUSED", place, got)
				}
			}
		}
	})
}

// inMountNamespace runs this test again where its mounts are seen by nobody else.
func inMountNamespace(t *testing.T, variable string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can mount")
	}
	c := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.v", "-test.run=^"+t.Name()+"$")
	c.Env = append(os.Environ(), variable+"="+testenv.PublicDir(t))
	c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("in a mount namespace: %v\n%s", err, out)
	}
	t.Logf("in a mount namespace:\n%s", out)
}

// mountBelow makes, in a folder of the stranger's: a writable mount, a read-only
// one, a plain folder, and a listening socket in each.
func mountBelow(t *testing.T, dir string) {
	t.Helper()
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Skipf("no mounts here: %v", err)
	}
	for name, text := range map[string]string{"mounted": "in the mount", "fixed": "fixed", "beside": "beside", "": "at the top"} {
		place := dir + "/" + name
		if name != "" {
			if err := os.Mkdir(place, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if name == "mounted" || name == "fixed" {
			if err := unix.Mount("test", place, "tmpfs", 0, "mode=0755"); err != nil {
				t.Skipf("no mounts here: %v", err)
			}
			t.Cleanup(func() { _ = unix.Unmount(place, unix.MNT_DETACH) })
		}
		l := listenAs(t, "unix", place+"/socket")
		t.Cleanup(func() {
			select {
			case conn, open := <-l.came:
				if open {
					_ = conn.Close()
					t.Errorf("the listener in %s saw somebody", place)
				}
			default:
			}
		})
		if err := errors.Join(os.WriteFile(place+"/file", []byte(text), 0o666), os.Chmod(place+"/socket", 0o777)); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{place, place + "/file"} {
			if err := os.Chown(path, testenv.Stranger, testenv.Stranger); err != nil {
				t.Fatal(err)
			}
		}
		if name == "fixed" {
			if err := unix.Mount("", place, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
}
