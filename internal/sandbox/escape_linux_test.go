package sandbox

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ax-check/ax-check/internal/testenv"
)

// realHome makes a folder in the home of the user who runs the tests.
func realHome(t *testing.T) string {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skipf("this user has no home: %v", err)
	}
	dir, err := os.MkdirTemp(home, "ax-check-test-")
	if err != nil {
		t.Skipf("the home can't be written: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// fingerprint tells contents, names, modes, times and link counts of a tree.
func fingerprint(t *testing.T, top string) string {
	t.Helper()
	sum := sha256.New()
	err := filepath.Walk(top, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		fmt.Fprintln(sum, path, st.Mode, st.Uid, st.Size, st.Nlink, st.Mtim, st.Ctim)
		if !info.Mode().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(sum, "%q %v\n", text, err)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

func TestWritesStayInside(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		here, err := os.MkdirTemp(".", "ax-check-test-")
		if err != nil {
			t.Logf("the working folder can't be written: %v", err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(here) })
		here, _ = filepath.Abs(here)
		for name, dir := range map[string]string{"home": realHome(t), "temporary folder": t.TempDir(), "working folder": here} {
			t.Run(name, func(t *testing.T) { writesStayInside(t, dir) })
		}
	})
}

func writesStayInside(t *testing.T, dir string) {
	for _, name := range []string{"written", "appended", "removed", "renamed", "chmodded", "truncated", "touched", "linked", "pointed-at"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("precious "+name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	before := fingerprint(t, dir)
	w := start(t, Spec{})
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range [][]string{
		{"write", in("written"), "mine"},
		{"append", in("appended"), " and more"},
		{"remove", in("removed")},
		{"rename", in("renamed"), in("renamed-now")},
		{"chmod", in("chmodded"), "600"},
		{"truncate", in("truncated")},
		{"touch", in("touched")},
		{"link", in("linked"), in("linked-now")},
		{"symlink", in("pointed-at"), Workspace + "/way-out"},
		{"write", Workspace + "/way-out", "mine"},
		{"write", in("new"), "mine"},
		{"mkdir", in("new-folder/deep")},
		// Roots of another namespace are as far from the machine.
		{"nested", "write", in("nested"), "mine"},
	} {
		if got := try(t, w, c[0], c[1:]...); got != "ok" {
			t.Errorf("%s: %s, want ok", strings.Join(c, " "), got)
		}
	}
	if after := fingerprint(t, dir); after != before {
		t.Errorf("the machine's files have changed")
	}
	for name, want := range map[string]string{"written": "mine", "appended": "precious appended and more", "renamed-now": "precious renamed", "pointed-at": "mine", "new": "mine"} {
		if got, _ := inLayer(t, w, in(name)); got != want {
			t.Errorf("the layer has %q in %s, want %q", got, name, want)
		}
	}
	for _, e := range w.TakeEvents() {
		if e.Kind == Refused {
			t.Errorf("%s is said to be refused", e.Target)
		}
	}
}

func TestSystemFilesStay(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		paths := []string{"/etc/hostname", "/etc/hosts", "/etc/passwd", "/usr/bin/env"}
		read := func() string {
			var all strings.Builder
			for _, p := range paths {
				text, _ := os.ReadFile(p)
				fmt.Fprintf(&all, "%s %x\n", p, sha256.Sum256(text))
			}
			return all.String()
		}
		before := read()
		w := start(t, Spec{})
		want := "ok"
		if os.Getuid() != 0 {
			want = "EACCES"
		}
		for _, path := range append(paths, "/etc/ax-check-new") {
			if _, err := os.Stat(path); err != nil && path != "/etc/ax-check-new" {
				continue
			}
			if got := try(t, w, "write", path, "mine"); got != want && got != "ETXTBSY" {
				t.Errorf("writing %s: %s, want %s", path, got, want)
			}
			if got, found := inLayer(t, w, path); want == "ok" && got != "mine" && path != "/usr/bin/env" {
				t.Errorf("the layer has %q (found: %v) in %s", got, found, path)
			}
		}
		if after := read(); after != before {
			t.Errorf("the machine's files have changed:\n%s\n%s", before, after)
		}
		if _, err := os.Stat("/etc/ax-check-new"); err == nil {
			t.Error("/etc/ax-check-new was made on the machine")
		}
	})
}

// refusedWith are the ways in which the kernel says no.
var refusedWith = []string{"EACCES", "EPERM", "EROFS", "ENOENT", "EINVAL", "ENOSYS", "ENXIO", "ENODEV", "EBUSY", "ESRCH", "EXDEV", "EBADF"}

// wantRefused does acts as the program itself and as the root of namespaces that
// it may make, and wants every one refused.
func wantRefused(t *testing.T, w *World, acts ...[]string) {
	t.Helper()
	var all []string
	for _, act := range acts {
		all = append(append(all, act...), ";")
	}
	for _, how := range [][]string{{"several"}, {"nested", "several"}} {
		got := strings.Split(try(t, w, how[0], append(how[1:], all...)...), "\n")
		if len(got) != len(acts) {
			t.Errorf("%d acts, but %d lines: %q", len(acts), len(got), got)
			continue
		}
		for i, act := range acts {
			if !slices.Contains(refusedWith, got[i]) {
				t.Errorf("%s %s: %q, want it refused", how[0], strings.Join(act, " "), got[i])
			}
		}
	}
}

func TestKernelInterfacesAreClosed(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		w := start(t, Spec{})
		pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
		if err != nil {
			t.Fatal(err)
		}
		var acts [][]string
		for _, path := range []string{
			"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/vm/drop_caches", "/proc/sys/kernel/modprobe",
			"/proc/sys/net/ipv4/ip_forward", "/proc/sysrq-trigger", "/proc/irq/default_smp_affinity", "/proc/1/oom_score_adj",
			"/sys/power/state", "/sys/kernel/uevent_helper", "/sys/kernel/mm/transparent_hugepage/enabled",
			"/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/cpu/tasks", "/sys/fs/cgroup/unified/cgroup.procs",
			"/dev/kmsg", "/dev/mem", "/dev/port", "/dev/vda", "/dev/sda", "/dev/loop-control", "/dev/fuse",
		} {
			// Opened for writing; nothing is written where that succeeds by mistake.
			acts = append(acts, []string{"append", path, ""})
		}
		for _, path := range []string{
			"/dev/mem", "/dev/kmsg", "/dev/vda", "/dev/sda", "/proc/1/environ", "/proc/1/maps", "/proc/1/mem",
			"/proc/1/root/etc/passwd", "/proc/1/fd/3", "/proc/1/fd/10",
		} {
			acts = append(acts, []string{"read", path})
		}
		if os.Getuid() != 0 { // root sees the numbers, and nothing behind them
			acts = append(acts, []string{"list", "/proc/1/fd"})
		}
		wantRefused(t, w, append(acts, []string{"list", "/proc/1/root"}, []string{"list", "/proc/1/cwd/"})...)
		for _, path := range []string{"/proc/kcore", "/proc/keys"} {
			if got := try(t, w, "read", path); got != "empty" && !slices.Contains(refusedWith, got) {
				t.Errorf("%s reads as %.80q", path, got)
			}
		}
		if after, _ := os.ReadFile("/proc/sys/kernel/core_pattern"); string(after) != string(pattern) {
			t.Errorf("core_pattern is %q now, was %q", after, pattern)
		}
	})
}

func TestPowersAreGone(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		w := start(t, Spec{})
		calls := []string{"io_uring_setup", "keyctl", "add_key", "request_key", "bpf", "perf_event_open", "userfaultfd"}
		if runtime.GOARCH == "amd64" {
			calls = append(calls, "0x40000027") // getpid of the x32 table
		}
		for _, call := range calls {
			if got := try(t, w, "call", call); got != "ENOSYS" {
				t.Errorf("%s: %s, want ENOSYS", call, got)
			}
			if got := tryUnrecorded(t, w, "call", call); got != "ENOSYS" {
				t.Errorf("%s, not recorded: %s, want ENOSYS", call, got)
			}
		}
		for family, want := range map[int]string{unix.AF_VSOCK: "EAFNOSUPPORT", unix.AF_BLUETOOTH: "EAFNOSUPPORT", unix.AF_INET: "ok", unix.AF_INET6: "ok", unix.AF_UNIX: "ok"} {
			if got := try(t, w, "socket", strconv.Itoa(family)); got != want {
				t.Errorf("a socket of family %d: %s, want %s", family, got, want)
			}
		}
		for _, call := range []string{"reboot", "init_module", "swapon", "settimeofday", "acct", "kexec_load"} {
			if got := try(t, w, "nested", "call", call); got != "EPERM" && got != "ENOSYS" && got != "EFAULT" {
				t.Errorf("%s as a nested root: %s, want EPERM", call, got)
			}
		}
		got := try(t, w, "limits")
		if !strings.Contains(got, "NoNewPrivs:\t1") || !strings.Contains(got, "Seccomp:\t2") {
			t.Errorf("no_new_privs and a filter are not set:\n%s", got)
		}
		if os.Getuid() != 0 {
			for _, set := range []string{"CapEff", "CapPrm", "CapInh", "CapAmb"} {
				if !strings.Contains(got, set+":\t0000000000000000") {
					t.Errorf("%s is not empty:\n%s", set, got)
				}
			}
		}
		for _, c := range [][]string{
			{"mount", "none", "/mnt", "tmpfs", "0", ""},
			{"mount", "none", "/", "", "0x21", ""}, // remount, read-only
			{"mount", "none", "/", "", "0x20", ""}, // remount
			{"mount", "/dev/vda", "/mnt", "ext4", "0", ""},
			{"umount", "/proc/sys", "0"},
			{"umount", "/run", "2"},
			{"umount", "/", "2"},
			{"mknod", Workspace + "/disk", "0xfe00"},
			{"setns", "/proc/1/ns/mnt"},
			{"setns", "/proc/1/ns/net"},
			{"setns", "/proc/1/ns/user"},
			{"setns", "/proc/1/ns/pid"},
		} {
			if got := try(t, w, c[0], c[1:]...); !slices.Contains(refusedWith, got) {
				t.Errorf("%s: %q, want it refused", strings.Join(c, " "), got)
			}
		}
	})
}

func TestSecretsReadEmpty(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		home := testenv.PublicDir(t)
		secret := "secret-" + strconv.Itoa(os.Getpid())
		folders := []string{".ssh", ".aws", ".config", ".local/share/keyrings"}
		for _, file := range []string{".ssh/id_x", ".aws/credentials", ".config/gh/hosts.yml", ".local/share/keyrings/login.keyring", ".netrc", "open"} {
			if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(home, file)), 0o755), os.WriteFile(filepath.Join(home, file), []byte(secret), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		// A folder that is a link elsewhere is masked where it really is.
		real := testenv.PublicDir(t)
		if err := errors.Join(os.WriteFile(real+"/config.json", []byte(secret), 0o644), os.Symlink(real, home+"/.docker")); err != nil {
			t.Fatal(err)
		}
		before := fingerprint(t, home)
		handleType, handle := handleOf(t, home+"/.netrc")
		t.Setenv("HOME", home)
		w := start(t, Spec{})

		if got := try(t, w, "read", home+"/open"); got != secret {
			t.Fatalf("the test reads %q from an open file, so it can't tell", got)
		}
		for _, c := range [][]string{
			{"read", home + "/.ssh/id_x"},
			{"read", home + "/.config/gh/hosts.yml"},
			{"read", home + "/.docker/config.json"},
			{"read", real + "/config.json"},
			{"several", "umount", home + "/.netrc", "2", ";", "read", home + "/.netrc"},
			{"nested", "several", "umount", home + "/.ssh", "2", ";", "read", home + "/.ssh/id_x"},
			{"nested", "several", "umount", home + "/.netrc", "0", ";", "read", home + "/.netrc"},
			{"nested", "several", "mkdir", "/tmp/x", ";", "mount", home, "/tmp/x", "", "0x1000", "", ";", "read", "/tmp/x/.ssh/id_x", ";", "read", "/tmp/x/.netrc"},
			{"nested", "several", "mkdir", "/tmp/x", ";", "mount", home, "/tmp/x", "", "0x5000", "", ";", "umount", "/tmp/x/.ssh", "2", ";", "read", "/tmp/x/.ssh/id_x", ";", "read", "/tmp/x/.netrc"},
			{"nested", "several", "mkdir", "/tmp/x", ";", "mount", "overlay", "/tmp/x", "overlay", "0", "lowerdir=" + home + ":/etc", ";", "read", "/tmp/x/.ssh/id_x", ";", "read", "/tmp/x/.netrc"},
			{"nested", "several", "mount", "none", home + "/.netrc", "", "0x20", "", ";", "write", home + "/.netrc", "x", ";", "read", home + "/.netrc"},
			{"nested", "chroot", home + "/.netrc"},
			{"chroot", home + "/.netrc"},
			{"open-handle", "/", handleType, handle},
			{"nested", "open-handle", home, handleType, handle},
			{"nested", "open-handle", "/mnt", handleType, handle},
			{"rename", home + "/.ssh", home + "/ssh"},
			{"link", home + "/.netrc", home + "/netrc"},
		} {
			if got := try(t, w, c[0], c[1:]...); strings.Contains(got, secret) || got == "ok" {
				t.Errorf("%s: %q", strings.Join(c, " "), got)
			}
		}
		for _, folder := range folders {
			if got := try(t, w, "list", filepath.Join(home, folder)); got != "empty" {
				t.Errorf("%s holds %q", folder, got)
			}
		}
		if got := try(t, w, "read", home+"/.netrc"); got != "empty" {
			t.Errorf(".netrc reads as %q", got)
		}
		if os.Getuid() == 0 {
			if got := try(t, w, "read", "/etc/shadow"); got != "empty" {
				t.Errorf("/etc/shadow reads as %q", got)
			}
		}
		if after := fingerprint(t, home); after != before {
			t.Error("the home has changed")
		}
	})
}

func handleOf(t *testing.T, path string) (kind, bytes string) {
	t.Helper()
	handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, path, 0)
	if err != nil {
		t.Skipf("the file system of %s has no handles: %v", path, err)
	}
	return strconv.Itoa(int(handle.Type())), fmt.Sprintf("%x", handle.Bytes())
}

func TestReadableSecretsAreLeftOpen(t *testing.T) {
	home := testenv.PublicDir(t)
	for _, name := range []string{".npmrc", ".netrc"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte("setting"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	w := start(t, Spec{Readable: []string{home + "/.npmrc"}})
	if got := try(t, w, "several", "read", home+"/.npmrc", ";", "read", home+"/.netrc"); got != "setting\nempty" {
		t.Errorf("got %q, want the one open and the other masked", got)
	}
}

func TestOtherProcessesAreOutOfReach(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		w := start(t, Spec{})
		self := strconv.Itoa(os.Getpid())
		if os.Getpid() < 1000 {
			t.Skip("this process has a low id, which a process inside may have too")
		}
		for _, signal := range []string{"0", "15"} {
			if got := try(t, w, "kill", self, signal); got != "ESRCH" {
				t.Errorf("signal %s to this process: %s, want ESRCH", signal, got)
			}
		}
		if got := try(t, w, "list", "/proc/"+self); got != "ENOENT" {
			t.Errorf("this process is visible: %s", got)
		}
		wantRefused(t, w, []string{"ptrace", "1"}, []string{"vm-read", "1"}, []string{"take-fd", "1", "3"})
		for _, signal := range []string{"9", "19", "15", "1", "2", "3", "10", "12", "13", "14", "6", "11", "34"} {
			_ = try(t, w, "kill", "1", signal)
		}
		if got := try(t, w, "uids"); !strings.HasPrefix(got, strconv.Itoa(os.Getuid())) || !w.Alive() {
			t.Errorf("the world did not survive signals to its first process: %q", got)
		}
	})
}

func TestNothingLeaksIn(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		// As a careless parent leaves them: open, and not to be closed on exec.
		secret := filepath.Join(t.TempDir(), "descriptor")
		if err := os.WriteFile(secret, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		fd, err := unix.Open(secret, unix.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		high, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD, 251)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Close(fd); _ = unix.Close(high) })
		t.Setenv("AX_CHECK_PLANTED", "do not leak")

		w := start(t, Spec{})
		if got := try(t, w, "descriptors"); got != "ok" {
			t.Errorf("open besides stdio:\n%s", got)
		}
		if got := tryUnrecorded(t, w, "descriptors"); got != "ok" {
			t.Errorf("open besides stdio, not recorded:\n%s", got)
		}
		if got, want := try(t, w, "environment"), strings.Join(probeCommand(t, "").Env, "\n"); got != want {
			t.Errorf("environment:\n%s\nwant:\n%s", got, want)
		}
		wantRefused(t, w, []string{"read", "/proc/1/environ"})
		if got := try(t, w, "read", "/proc/sys/kernel/hostname"); got != "sandbox" {
			t.Errorf("host name %q", got)
		}
	})
}

func TestRunIsHidden(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		if os.Getuid() == 0 {
			marker, err := os.MkdirTemp("/run", "ax-check-test-")
			if err != nil {
				t.Skip(err)
			}
			t.Cleanup(func() { _ = os.Remove(marker) })
		}
		outside, err := os.ReadDir("/run")
		if err != nil || len(outside) == 0 {
			t.Skip("the machine has nothing in /run")
		}
		w := start(t, Spec{})
		inside := strings.Split(try(t, w, "list", "/run"), "\n")
		for _, e := range outside {
			if slices.Contains(inside, e.Name()) && e.Name() != "systemd" && e.Name() != "resolvconf" {
				t.Errorf("/run/%s is shown", e.Name())
			}
		}
	})
}

func TestDeathLeavesNoCore(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		w := start(t, Spec{})
		// A limit of 1 byte, unlike 0, also keeps the kernel from running a crash
		// handler of the machine: core(5), umh_coredump_setup.
		if got := try(t, w, "limits"); !strings.Contains(got, "Core:\t1 1") {
			t.Errorf("core dumps are allowed:\n%s", got)
		}
		for _, signal := range []string{"11", "6"} {
			p := launch(t, w, "kill-self", signal)
			waitFor(t, "the program to die", p.Done)
		}
		if got := try(t, w, "list", Workspace); got != "empty" {
			t.Errorf("left in the working folder: %s", got)
		}
	})
}

// A program that belongs to root and is to run as root runs as its caller.
func TestSetuidGivesNothing(t *testing.T) {
	const variable = testenv.Prefix + "SETUID_PROGRAM"
	if os.Getuid() == 0 {
		dir := testenv.PublicDir(t)
		program := dir + "/setuid"
		text, err := os.ReadFile("/proc/self/exe")
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.WriteFile(program, text, 0o755), os.Chmod(program, 0o755|os.ModeSetuid|os.ModeSetgid)); err != nil {
			t.Fatal(err)
		}
		t.Setenv(variable, program)
	}
	testenv.AsRootAndUser(t, func(t *testing.T) {
		program := os.Getenv(variable)
		if program == "" {
			t.Skip("only root can make a setuid program")
		}
		want := fmt.Sprint(os.Getuid(), os.Getuid(), os.Getgid(), os.Getgid())
		outside, err := exec.Command(program, probeName, "uids").Output()
		if err != nil {
			t.Fatal(err)
		}
		if os.Getuid() != 0 && strings.TrimSpace(string(outside)) == want {
			t.Skip("this file system gives setuid programs nothing anyway")
		}
		w := start(t, Spec{})
		c := probeCommand(t, "uids")
		c.Argv[0] = program
		for _, recorded := range []bool{true, false} {
			c.Recorded = recorded
			p, err := w.Run(c)
			if err != nil {
				t.Fatal(err)
			}
			if got := finish(t, p); got != want {
				t.Errorf("ids %q, want %q", got, want)
			}
			_, _ = p.Stdin.Close(), p.Stdout.Close()
		}
	})
}

// Sockets of the machine.

// nobody accepts on a socket of the machine and tells who came.
type nobody struct {
	net.Listener
	came chan net.Conn
}

func listenAs(t *testing.T, network, address string) *nobody {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	n := &nobody{l, make(chan net.Conn, 16)}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		defer close(n.came)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			n.came <- conn
		}
	}()
	return n
}

// saw reports whether anybody came before the test itself did.
func (n *nobody) saw(t *testing.T, network string) bool {
	t.Helper()
	mine, err := net.Dial(network, n.Addr().String())
	if err != nil {
		t.Fatalf("the listener does not listen, so the test can't tell: %v", err)
	}
	defer func() { _ = mine.Close() }()
	if _, err := mine.Write([]byte("me")); err != nil {
		t.Fatal(err)
	}
	first := <-n.came
	defer func() { _ = first.Close() }()
	text := make([]byte, 2)
	_, _ = first.Read(text)
	return string(text) != "me"
}

func TestHostUnixSocketsAreOutOfReach(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		for name, dir := range map[string]string{"temporary folder": testenv.PublicDir(t), "home": realHome(t)} {
			t.Run(name, func(t *testing.T) { unixSocketIsOutOfReach(t, dir) })
		}
		t.Run("abstract", func(t *testing.T) {
			name := fmt.Sprintf("@ax-check-test-%d", os.Getpid())
			l := listenAs(t, "unix", name)
			if got := try(t, start(t, Spec{}), "dial", "unix", name); got != "ECONNREFUSED" {
				t.Errorf("dialling inside: %s, want ECONNREFUSED", got)
			}
			if l.saw(t, "unix") {
				t.Error("the listener saw somebody")
			}
		})
	})
}

func unixSocketIsOutOfReach(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, "socket")
	l := listenAs(t, "unix", path)
	if err := errors.Join(os.Chmod(path, 0o777), os.Symlink("socket", filepath.Join(dir, "link")), os.Symlink(path, filepath.Join(dir, "far"))); err != nil {
		t.Fatal(err)
	}
	w := start(t, Spec{})
	for _, c := range [][]string{
		{"dial", "unix", path},
		{"dial", "unix", filepath.Join(dir, "link")},
		{"dial", "unix", filepath.Join(dir, "far")},
		{"dial", "unix", "/proc/self/root" + path},
		{"dial", "unix", "/proc/self/cwd/../.." + path},
		{"nested", "dial", "unix", path},
		{"several", "symlink", path, Workspace + "/s", ";", "dial", "unix", Workspace + "/s"},
		{"several", "link", path, Workspace + "/hard", ";", "dial", "unix", Workspace + "/hard"},
	} {
		got := try(t, w, c[0], c[1:]...)
		if last := got[strings.LastIndex(got, "\n")+1:]; last != "ECONNREFUSED" && last != "ENOENT" {
			t.Errorf("%s: %q, want ECONNREFUSED", strings.Join(c, " "), got)
		}
	}
	if l.saw(t, "unix") {
		t.Error("the listener saw somebody")
	}
}

func TestHostLoopbackIsOutOfReach(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		l := listenAs(t, "tcp", "127.0.0.1:0")
		udp, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = udp.Close() })
		w := start(t, Spec{})
		for _, how := range [][]string{{"dial"}, {"nested", "dial"}} {
			if got := try(t, w, how[0], append(how[1:], "tcp", l.Addr().String())...); got != "ECONNREFUSED" {
				t.Errorf("%v to TCP of the machine: %s, want ECONNREFUSED", how, got)
			}
		}
		_ = try(t, w, "packet", "udp4", udp.LocalAddr().String())
		_ = try(t, w, "message", "sendmsg", udp.LocalAddr().String())
		if l.saw(t, "tcp") {
			t.Error("the TCP listener saw somebody")
		}
		mine, err := net.Dial("udp", udp.LocalAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = mine.Close() }()
		if _, err := mine.Write([]byte("me")); err != nil {
			t.Fatal(err)
		}
		text := make([]byte, 16)
		n, _, err := udp.ReadFrom(text)
		if err != nil || string(text[:n]) != "me" {
			t.Errorf("the first datagram is %q (%v), want the test's own", text[:n], err)
		}
	})
}
