package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ax-check/ax-check/internal/testenv"
)

// recorded lists the events of a kind, but for the start of the probe itself.
func recorded(w *World, kinds ...EventKind) []string {
	var found []string
	for _, e := range w.TakeEvents() {
		if slices.Contains(kinds, e.Kind) && !(e.Kind == Exec && strings.Contains(e.Target, probeName)) {
			found = append(found, string(e.Kind)+" "+e.Target)
		}
	}
	return found
}

func TestContactsAreRecordedAndRefused(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		w := start(t, Spec{})
		for _, c := range []struct {
			act   []string
			ended string
			want  []string
		}{
			{[]string{"dial", "tcp", "192.0.2.1:80"}, "ENETUNREACH", []string{"contact tcp://192.0.2.1:80"}},
			{[]string{"dial", "tcp", "[2001:db8::1]:443"}, "ENETUNREACH", []string{"contact tcp://[2001:db8::1]:443"}},
			{[]string{"dial-mapped", "192.0.2.1:80"}, "ENETUNREACH", []string{"contact tcp://192.0.2.1:80"}},
			{[]string{"dial", "udp", "192.0.2.1:123"}, "ENETUNREACH", []string{"contact udp://192.0.2.1:123"}},
			{[]string{"packet", "udp4", "192.0.2.1:514"}, "ENETUNREACH", []string{"contact udp://192.0.2.1:514"}},
			{[]string{"packet", "udp6", "[2001:db8::1]:514"}, "ENETUNREACH", []string{"contact udp://[2001:db8::1]:514"}},
			{[]string{"message", "sendmsg", "192.0.2.1:514"}, "ENETUNREACH", []string{"contact udp://192.0.2.1:514"}},
			{[]string{"message", "sendmmsg", "192.0.2.1:514"}, "ENETUNREACH", []string{"loopback udp://127.0.0.1:9", "contact udp://192.0.2.1:514"}},
			{[]string{"packet", "udp4", "255.255.255.255:9"}, "ENETUNREACH", []string{"contact udp://255.255.255.255:9"}},
			{[]string{"nested", "dial", "tcp", "192.0.2.1:80"}, "ENETUNREACH", []string{"contact tcp://192.0.2.1:80"}},
			{[]string{"answer", "tcp", "127.0.0.1:4000"}, "welcome", []string{"loopback tcp://127.0.0.1:4000"}},
			{[]string{"answer", "tcp", "[::1]:4000"}, "welcome", []string{"loopback tcp://[::1]:4000"}},
			{[]string{"dial", "tcp", "127.0.0.1:4001"}, "ECONNREFUSED", []string{"loopback tcp://127.0.0.1:4001"}},
			{[]string{"lookup", "example.test"}, "not found", []string{"lookup example.test"}},
			{[]string{"lookup", "localhost"}, "ok", nil},
		} {
			t.Run(strings.Join(c.act, " "), func(t *testing.T) {
				w.TakeEvents()
				begin := time.Now()
				if got := try(t, w, c.act[0], c.act[1:]...); got != c.ended {
					t.Errorf("ended with %q, want %q", got, c.ended)
				}
				// Refused at once: a resolver's or a connection's time-out is seconds.
				if took := time.Since(begin); took > 3*time.Second {
					t.Errorf("took %s", took)
				}
				// A name may be asked for each kind of address.
				if diff := cmp.Diff(c.want, slices.Compact(recorded(w, Contact, Loopback, Lookup))); diff != "" {
					t.Error(diff)
				}
			})
		}
	})
}

// The C library asks for names in its own way: by sendmmsg, and other services first.
func TestNamesOfTheLibraryAreRecorded(t *testing.T) {
	getent, err := exec.LookPath("getent")
	if err != nil {
		t.Skip("getent is not there")
	}
	testenv.AsRootAndUser(t, func(t *testing.T) {
		w := start(t, Spec{})
		p, err := w.Run(Command{Argv: []string{getent, "ahosts", "library.test"}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}, Recorded: true})
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if got := finish(t, p); got != "" {
			t.Errorf("getent printed %q", got)
		}
		_, _ = p.Stdin.Close(), p.Stdout.Close()
		if took := time.Since(begin); took > 3*time.Second {
			t.Errorf("took %s", took)
		}
		if diff := cmp.Diff([]string{"lookup library.test"}, slices.Compact(recorded(w, Contact, Loopback, Lookup))); diff != "" {
			t.Error(diff)
		}
	})
}

func TestProgramsAreRecorded(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		w := start(t, Spec{})
		p, err := w.Run(Command{Argv: []string{"/bin/sh", "-c", "true; env printenv HOME; exit 4"}, Dir: "/", Env: []string{"HOME=/x", "PATH=/no/such/folder:/usr/bin:/bin"}, Recorded: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := finish(t, p); got != "/x" || p.Status() != 4 {
			t.Errorf("printed %q and ended with %d", got, p.Status())
		}
		_, _ = p.Stdin.Close(), p.Stdout.Close()
		got := recorded(w, Exec)
		for i, line := range got { // the folder that a name is found in differs
			words := strings.Fields(line)
			words[1] = filepath.Base(words[1])
			got[i] = strings.Join(words, " ")
		}
		if diff := cmp.Diff([]string{"exec sh -c true; env printenv HOME; exit 4", "exec env printenv HOME", "exec printenv HOME"}, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestUnixSocketsOfTheWorldWork(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		w := start(t, Spec{})
		for _, path := range []string{
			Workspace + "/s", Home + "/s", "/tmp/ax-check-test.s", "/var/tmp/ax-check-test.s", "/run/s", "/var/run/s2", "/dev/shm/s",
			"relative.s", "@ax-check-test",
		} {
			if got := try(t, w, "answer", "unix", path); got != "welcome" {
				t.Errorf("%s: %q, want to be welcome", path, got)
			}
		}
		if got := try(t, w, "dial", "unix", Workspace+"/nothing"); got != "ENOENT" {
			t.Errorf("a socket that is not there: %s", got)
		}
		if got := try(t, w, "several", "write", Workspace+"/file", "x", ";", "dial", "unix", Workspace+"/file"); got != "ok\nECONNREFUSED" {
			t.Errorf("a file that is no socket: %s", got)
		}
	})
}

// A connect that has to wait makes nobody else wait.
func TestAFullQueueHoldsUpNobody(t *testing.T) {
	w := start(t, Spec{})
	if got := try(t, w, "full-queue", Workspace+"/s"); got != "ok" {
		t.Fatal(got)
	}
	if err := w.KillAll(); err != nil {
		t.Fatal(err)
	}
}

// What the sandbox refuses and the machine would not is told; what both refuse
// is not.
func TestRefusedWrites(t *testing.T) {
	const variable = testenv.Prefix + "OPEN_FOLDER"
	if os.Getuid() == 0 {
		dir := testenv.PublicDir(t)
		open, closed := dir+"/open", dir+"/closed"
		if err := errors.Join(os.Mkdir(open, 0o777), os.Chmod(open, 0o777), os.Mkdir(closed, 0o755), os.WriteFile(closed+"/file", nil, 0o644)); err != nil {
			t.Fatal(err)
		}
		t.Setenv(variable, dir)
	}
	testenv.AsRootAndUser(t, func(t *testing.T) {
		home := t.TempDir()
		if err := errors.Join(os.Mkdir(home+"/.ssh", 0o700), os.WriteFile(home+"/.ssh/known_hosts", nil, 0o600), os.WriteFile(home+"/.netrc", nil, 0o600), os.WriteFile(home+"/mine", nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		t.Setenv("HOME", home)
		w := start(t, Spec{})
		type write struct {
			act     []string
			refused bool
		}
		user := os.Getuid() != 0
		writes := []write{
			{[]string{"write", home + "/.ssh/known_hosts", "x"}, true},
			{[]string{"write", home + "/.ssh/new", "x"}, true},
			{[]string{"write", home + "/.netrc", "x"}, true},
			{[]string{"write", home + "/mine", "x"}, false},
			{[]string{"mkdir", home + "/new/folder"}, false},
			{[]string{"write", "/tmp/ax-check-test-new", "x"}, false},
			{[]string{"write", "/var/tmp/ax-check-test-new", "x"}, false},
			{[]string{"write", "/dev/null", "x"}, false},
			{[]string{"write", "/dev/shm/x", "x"}, false},
			{[]string{"write", "/proc/self/comm", "x"}, false},
			{[]string{"write", "/no/such/folder/file", "x"}, false},
			{[]string{"write", "/proc/sys/kernel/printk", "4"}, !user},
			{[]string{"write", "/etc/hostname", "x"}, false},
			{[]string{"mkdir", "/new-at-the-top"}, false},
			{[]string{"remove", Workspace + "/nothing"}, false},
		}
		if dir := os.Getenv(variable); dir != "" {
			writes = append(
				writes,
				write{[]string{"write", dir + "/open/new", "x"}, user},
				write{[]string{"mkdir", dir + "/open/folder"}, user},
				write{[]string{"write", dir + "/closed/file", "x"}, false},
				write{[]string{"write", dir + "/closed/new", "x"}, false},
			)
		}
		for _, c := range writes {
			w.TakeEvents()
			ended := try(t, w, c.act[0], c.act[1:]...)
			events := recorded(w, Refused)
			if refused := len(events) > 0; refused != c.refused {
				t.Errorf("%s (%s): recorded %q, want refused: %v", strings.Join(c.act, " "), ended, events, c.refused)
			}
			if c.refused && ended == "ok" {
				t.Errorf("%s was not refused", strings.Join(c.act, " "))
			}
		}
	})
}

// As root nothing that programs usually do is refused.
func TestNothingNormalIsRefused(t *testing.T) {
	w := start(t, Spec{})
	script := `set -e
cd "$HOME"; mkdir -p .cache .local/share; echo x >.cache/y; mv .cache/y .local/share/z; ln -s z .local/share/l; chmod 600 .local/share/z
cp /etc/passwd . ; touch passwd; rm passwd; echo x >/tmp/ax-check-test-x; rm /tmp/ax-check-test-x; echo >/dev/null
if [ "$(id -u)" = 0 ]; then echo x >>/etc/hosts; echo x >/usr/local/ax-check-test-x; mkdir -p /opt/ax-check-test /srv/x /var/lib/x /root/x; echo x >/ax-check-test-top; rm -rf /opt/ax-check-test; fi`
	p, err := w.Run(Command{Argv: []string{"/bin/sh", "-c", script}, Dir: Workspace, Env: []string{"HOME=" + Home, "PATH=/usr/bin:/bin"}, Recorded: true})
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(p.Stdout)
	waitFor(t, "the script to end", p.Done)
	if p.Status() != 0 || err != nil {
		t.Errorf("status %d (%v): %s%s", p.Status(), err, out, p.StderrTail())
	}
	_, _ = p.Stdin.Close(), p.Stdout.Close()
	if got := recorded(w, Refused, Contact, Lookup); len(got) > 0 {
		t.Errorf("recorded: %s", fmt.Sprint(got))
	}
}
