package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ax-check/ax-check/internal/testenv"
)

// readLine waits for the next line that a program prints.
func readLine(t testing.TB, r *bufio.Reader) string {
	t.Helper()
	line := make(chan string, 1)
	go func() {
		text, err := r.ReadString('\n')
		if err != nil {
			text += err.Error()
		}
		line <- strings.TrimSpace(text)
	}()
	select {
	case text := <-line:
		return text
	case <-time.After(20 * time.Second):
		t.Fatal("the program prints nothing")
		return ""
	}
}

// population starts programs that are hard to end: a daemon, one that ignores
// signals, and a tree of 31.
func population(t testing.TB, w *World) []*Process {
	t.Helper()
	if got := try(t, w, "daemon", "sleep"); got != "ok" {
		t.Fatal(got)
	}
	stubborn, tree := launch(t, w, "stubborn"), launch(t, w, "tree", "4")
	for _, p := range []*Process{stubborn, tree} {
		if got := readLine(t, bufio.NewReader(p.Stdout)); got != "ready" {
			t.Fatal(got)
		}
	}
	eventually(t, "all 33 processes run", 10*time.Second, func() bool { return len(descendants(w.init.Process.Pid)) == 33 })
	return []*Process{stubborn, tree}
}

func TestKillAllEndsEverything(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		w := start(t, Spec{})
		for range 2 {
			processes := population(t, w)
			if err := w.KillAll(); err != nil {
				t.Fatal(err)
			}
			if left := descendants(w.init.Process.Pid); len(left) > 0 {
				t.Errorf("%d processes are left", len(left))
			}
			for _, p := range processes {
				waitFor(t, "the killed program to be reported", p.Done)
				if p.Status() != 137 {
					t.Errorf("status %d, want 137", p.Status())
				}
			}
			if got := try(t, w, "uids"); !strings.HasPrefix(got, strconv.Itoa(os.Getuid())) {
				t.Errorf("a program after it: %q", got)
			}
		}
	})
}

func TestCloseEndsEverything(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		mounts := mountinfo(t)
		w := start(t, Spec{})
		processes := population(t, w)
		pids := append(descendants(w.init.Process.Pid), w.init.Process.Pid)
		w.Close()
		for _, pid := range pids {
			if unix.Kill(pid, 0) == nil {
				t.Errorf("process %d is left", pid)
			}
		}
		for _, p := range processes {
			waitFor(t, "the killed program to be reported", p.Done)
		}
		if w.Alive() {
			t.Error("a closed world says that it is alive")
		}
		if _, err := w.Run(probeCommand(t, "uids")); !errors.Is(err, ErrGone) {
			t.Errorf("running in a closed world: %v, want ErrGone", err)
		}
		if err := w.KillAll(); !errors.Is(err, ErrGone) {
			t.Errorf("killing in a closed world: %v, want ErrGone", err)
		}
		if s := w.Settle(context.Background(), SettleOptions{Max: time.Second, Horizon: time.Second}); s.OK {
			t.Error("a closed world is said to have settled")
		}
		w.Close()
		if after := mountinfo(t); after != mounts {
			t.Errorf("mounts before:\n%s\nafter:\n%s", mounts, after)
		}
	})
}

func mountinfo(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The end of a program is reported however soon the next one starts.
func TestEveryEndIsReported(t *testing.T) {
	w := start(t, Spec{})
	for range 50 {
		p := launch(t, w, "exit", "7")
		waitFor(t, "the program to end", p.Done)
		if p.Status() != 7 {
			t.Fatalf("status %d, want 7", p.Status())
		}
	}
}

func TestALongCommandLineIsRefusedWithItsReason(t *testing.T) {
	w := start(t, Spec{})
	if _, err := w.Run(probeCommand(t, "complain", strings.Repeat("x", 1<<20))); err == nil || errors.Is(err, ErrGone) {
		t.Errorf("error %v, want one about the length", err)
	}
	if got := try(t, w, "exit", "0"); got != "" {
		t.Errorf("a program after it printed %q", got)
	}
}

func TestStartHeedsItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if w, err := Start(ctx, Spec{}); !errors.Is(err, context.Canceled) {
		if err == nil {
			w.Close()
		}
		t.Errorf("error %v, want that of the context", err)
	}
}

// A holder is this binary again: it makes a world with programs in it, says so,
// and waits to be killed.
const holderName = "ax-check-holder"

func hold(args []string) {
	spec := Spec{}
	if len(args) > 0 {
		spec = Spec{Network: true, Writable: args, Staging: args[0]}
	}
	w, err := Start(context.Background(), spec)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	acts := [][]string{{"daemon", "sleep"}, {"stubborn"}, {"tree", "3"}}
	for i, dir := range args {
		acts = append(acts, []string{"several", "mkdir", dir + "/closed/deep", ";", "write", dir + "/closed/deep/" + strconv.Itoa(i), "x", ";", "chmod", dir + "/closed", "0"})
	}
	for _, act := range acts {
		p, err := w.Run(Command{Argv: append([]string{os.Args[0], probeName}, act...), Dir: "/"})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		_, _ = bufio.NewReader(p.Stdout).ReadString('\n')
	}
	fmt.Println("ready")
	time.Sleep(time.Hour)
}

// holder copies the test binary to a name of its own, by which its processes are found.
func holder(t *testing.T) (program string) {
	t.Helper()
	program = filepath.Join(testenv.PublicDir(t), fmt.Sprintf("holder-%d-%d", os.Getpid(), time.Now().UnixNano()))
	text, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, text, 0o755); err != nil {
		t.Fatal(err)
	}
	return program
}

// runningOf lists the processes of a program, in whatever namespaces they are.
func runningOf(program string) []int {
	var found []int
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		target, err := os.Readlink(link)
		if err != nil || filepath.Base(strings.TrimSuffix(target, " (deleted)")) != filepath.Base(program) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link))); err == nil {
			found = append(found, pid)
		}
	}
	return found
}

func TestDeathOfTheParentLeavesNothing(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		start(t, Spec{}).Close() // or skip
		mounts, program := mountinfo(t), holder(t)
		temporary := names(t, os.TempDir())
		parent := exec.Command(program, holderName)
		out, err := parent.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := parent.Start(); err != nil {
			t.Fatal(err)
		}
		if got := readLine(t, bufio.NewReader(out)); got != "ready" {
			t.Fatal(got)
		}
		// The holder, its first process, the daemon, the stubborn one, and a tree of 15.
		eventually(t, "all run", 10*time.Second, func() bool { return len(runningOf(program)) == 19 })
		_ = parent.Process.Kill()
		_ = parent.Wait()
		eventually(t, "none runs", time.Second, func() bool { return len(runningOf(program)) == 0 })
		if after := mountinfo(t); after != mounts {
			t.Errorf("mounts before:\n%s\nafter:\n%s", mounts, after)
		}
		for name := range names(t, os.TempDir()) {
			if !temporary[name] && strings.Contains(name, "ax-check") && !strings.HasPrefix(name, "ax-check-test-") {
				t.Errorf("%s is left", name)
			}
		}
	})
}

func names(t *testing.T, dir string) map[string]bool {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, e := range entries {
		found[e.Name()] = true
	}
	return found
}

// The parent is killed at every point of a start.
func TestDeathWhileStartingLeavesNothing(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		start(t, Spec{}).Close() // or skip
		program := holder(t)
		for delay := time.Duration(0); delay < 60*time.Millisecond; delay += 3 * time.Millisecond {
			parent := exec.Command(program, holderName)
			if err := parent.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(delay) // not waiting for a condition: any point will do
			_ = parent.Process.Kill()
			_ = parent.Wait()
			eventually(t, fmt.Sprintf("none runs after a death at %s", delay), 2*time.Second, func() bool { return len(runningOf(program)) == 0 })
		}
	})
}

func TestDeathOfTheParentRemovesStaging(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		start(t, Spec{}).Close() // or skip
		staging := filepath.Join(t.TempDir(), "staging")
		beside := staging + "-beside"
		for _, dir := range []string{staging, beside} {
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		program := holder(t)
		parent := exec.Command(program, holderName, staging)
		out, err := parent.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := parent.Start(); err != nil {
			t.Fatal(err)
		}
		if got := readLine(t, bufio.NewReader(out)); got != "ready" {
			t.Fatal(got)
		}
		if _, err := os.Stat(staging + "/closed"); err != nil {
			t.Errorf("the world did not write for real: %v", err)
		}
		_ = parent.Process.Kill()
		_ = parent.Wait()
		eventually(t, "the staging folder is removed", time.Second, func() bool {
			_, err := os.Lstat(staging)
			return errors.Is(err, os.ErrNotExist)
		})
		eventually(t, "none runs", time.Second, func() bool { return len(runningOf(program)) == 0 })
		if _, err := os.Stat(beside); err != nil {
			t.Errorf("what lay beside is gone: %v", err)
		}
	})
}

// A preparation writes for real where it may, and nowhere else, and has no power either.
func TestPreparationIsConfined(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		dir := t.TempDir()
		writable, other := dir+"/writable", dir+"/other"
		if err := errors.Join(os.Mkdir(writable, 0o755), os.Mkdir(other, 0o755)); err != nil {
			t.Fatal(err)
		}
		l := listenAs(t, "tcp", "127.0.0.1:0")
		w := start(t, Spec{Network: true, Writable: []string{writable}})
		for _, c := range []struct {
			act  []string
			want string
		}{
			{[]string{"write", writable + "/file", "real"}, "ok"},
			{[]string{"write", other + "/file", "not real"}, "ok"},
			{[]string{"write", "/proc/sys/kernel/core_pattern", "core"}, "EROFS"},
			{[]string{"mount", "none", "/mnt", "tmpfs", "0", ""}, "EPERM"},
			{[]string{"umount", "/run", "2"}, "EPERM"},
			{[]string{"mknod", Workspace + "/disk", "0xfe00"}, "EPERM"},
			{[]string{"ptrace", "1"}, "EPERM"},
			{[]string{"call", "keyctl"}, "ENOSYS"},
			{[]string{"dial", "tcp", l.Addr().String()}, "ok"},
		} {
			if got := tryUnrecorded(t, w, c.act[0], c.act[1:]...); got != c.want {
				t.Errorf("%s: %s, want %s", strings.Join(c.act, " "), got, c.want)
			}
		}
		w.Close()
		if text, err := os.ReadFile(writable + "/file"); err != nil || string(text) != "real" {
			t.Errorf("the writable folder has %q (%v)", text, err)
		}
		if len(names(t, other)) > 0 {
			t.Error("another folder was written")
		}
	})
}

func TestManyWorldsLeakNothing(t *testing.T) {
	start(t, Spec{}).Close() // or skip; and what is opened once is open now
	settled := func() (descriptors, goroutines int) {
		runtime.GC() // runs the finalisers of files
		return len(names(t, "/proc/self/fd")), runtime.NumGoroutine()
	}
	descriptorsBefore, goroutinesBefore := settled()
	for range 5 {
		var worlds sync.WaitGroup
		for range 8 {
			worlds.Go(func() {
				if err := oneLife(probeCommand(t, "uids")); err != nil {
					t.Error(err)
				}
				runtime.GC()
			})
		}
		worlds.Wait()
	}
	eventually(t, "as many descriptors and goroutines as before", 5*time.Second, func() bool {
		descriptors, goroutines := settled()
		return descriptors <= descriptorsBefore && goroutines <= goroutinesBefore
	})
}

// oneLife makes a world, runs programs in it, and closes it.
func oneLife(c Command) error {
	w, err := Start(context.Background(), Spec{})
	if err != nil {
		return err
	}
	defer w.Close()
	for range 2 {
		p, err := w.Run(c)
		if err != nil {
			return err
		}
		out, err := io.ReadAll(p.Stdout)
		if err != nil || !strings.HasPrefix(string(out), strconv.Itoa(os.Getuid())) {
			return fmt.Errorf("the program printed %q (%w)", out, err)
		}
		<-p.Done
		if err := errors.Join(p.Stdin.Close(), p.Stdout.Close(), w.KillAll()); err != nil {
			return err
		}
	}
	return nil
}
