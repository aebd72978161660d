package sandbox

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/ax-check/ax-check/internal/testenv"
)

// script is a command for an interpreter of the machine, or a skip.
func script(t *testing.T, interpreter, flag, text string) Command {
	t.Helper()
	path := "/usr/bin:/bin:/usr/local/bin"
	for _, dir := range strings.Split(path, ":") {
		if exec.Command(dir+"/"+interpreter, flag, "").Run() == nil {
			return Command{Argv: []string{dir + "/" + interpreter, flag, text}, Dir: Workspace, Env: []string{"PATH=" + path, "HOME=" + Home}, Recorded: true}
		}
	}
	t.Skipf("%s is not there", interpreter)
	return Command{}
}

// replied runs a program until it has printed "reply".
func replied(t *testing.T, w *World, c Command) {
	t.Helper()
	p, err := w.Run(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = p.Stdin.Close(), p.Stdout.Close() })
	if got := readLine(t, bufio.NewReader(p.Stdout)); got != "reply" {
		t.Fatalf("printed %q: %s", got, p.StderrTail())
	}
}

func settle(w *World, limit, ticking time.Duration) Settled {
	return w.Settle(context.Background(), SettleOptions{Max: limit, Horizon: 5 * time.Second, Ticking: ticking})
}

// Programs that write some time after their reply: a wait for quiet ends only
// when they have written.
func TestSettleWaitsForLateWrites(t *testing.T) {
	const file = Workspace + "/late"
	nodeTimer := `setTimeout(() => require('fs').writeFileSync('late', 'late'), %d); process.stdin.on('data', () => 0); console.log('reply')`
	nodeChild := `require('child_process').spawn('/bin/sh', ['-c', 'sleep %[2]g; echo late >late'], {detached: true, stdio: 'ignore'}).unref(); process.stdin.on('data', () => 0); console.log('reply')`
	nodeWorker := `const {Worker} = require('worker_threads'); new Worker("setTimeout(() => require('fs').writeFileSync('late', 'late'), %d)", {eval: true}); process.stdin.on('data', () => 0); console.log('reply')`
	pythonTimer := `import threading, sys
threading.Timer(%[2]g, lambda: open('late', 'w').write('late')).start()
print('reply', flush=True); sys.stdin.read()`
	pythonLoop := `import asyncio, sys
async def main():
  loop = asyncio.get_running_loop(); loop.call_later(%[2]g, lambda: open('late', 'w').write('late'))
  print('reply', flush=True); await asyncio.sleep(0); await loop.run_in_executor(None, sys.stdin.read)
asyncio.run(main())`
	testenv.AsRootAndUser(t, func(t *testing.T) {
		start(t, Spec{}).Close() // or skip
		for _, after := range []time.Duration{10 * time.Millisecond, 150 * time.Millisecond, time.Second} {
			commands := map[string]func(t *testing.T) Command{}
			for _, way := range []string{"timer", "thread", "child", "daemon", "busy"} {
				commands[way] = func(t *testing.T) Command { return probeCommand(t, "late", way, after.String(), file) }
			}
			for name, text := range map[string]string{"node timer": nodeTimer, "node child": nodeChild, "node worker": nodeWorker} {
				commands[name] = func(t *testing.T) Command {
					return script(t, "node", "-e", formatDelay(text, after))
				}
			}
			for name, text := range map[string]string{"python timer": pythonTimer, "python loop": pythonLoop} {
				commands[name] = func(t *testing.T) Command {
					return script(t, "python3", "-c", formatDelay(text, after))
				}
			}
			for name, command := range commands {
				t.Run(fmt.Sprintf("%s after %s", name, after), func(t *testing.T) {
					t.Parallel()
					c := command(t)
					w := start(t, Spec{})
					replied(t, w, c)
					if s := settle(w, 6*time.Second, 0); !s.OK {
						t.Errorf("did not settle: %s", s.Why)
					}
					if text, found := inLayer(t, w, file); !found || strings.TrimSpace(text) != "late" {
						t.Errorf("settled before the write: %q (%v)", text, found)
					}
				})
			}
		}
	})
}

// formatDelay fills in milliseconds for the first verb and seconds for the second.
func formatDelay(text string, after time.Duration) string {
	if strings.Contains(text, "%[2]") {
		return fmt.Sprintf(text+"%[1]s", "", after.Seconds())
	}
	return fmt.Sprintf(text, after.Milliseconds())
}

func TestIdleServersSettle(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		start(t, Spec{}).Close() // or skip
		for name, command := range map[string]func(t *testing.T) Command{
			"go": func(t *testing.T) Command { return probeCommand(t, "late", "never", "0s", "") },
			"node": func(t *testing.T) Command {
				return script(t, "node", "-e", `process.stdin.on('data', () => 0); console.log('reply')`)
			},
			"python": func(t *testing.T) Command {
				return script(t, "python3", "-c", "import sys\nprint('reply', flush=True)\nfor line in sys.stdin: pass")
			},
			"shell": func(t *testing.T) Command { return script(t, "sh", "-c", "echo reply; read line") },
		} {
			t.Run(name, func(t *testing.T) {
				c := command(t)
				w := start(t, Spec{})
				replied(t, w, c)
				if s := settle(w, 5*time.Second, 0); !s.OK {
					t.Errorf("did not settle: %s", s.Why)
				}
				begin := time.Now()
				if s := settle(w, 5*time.Second, 0); !s.OK {
					t.Errorf("did not settle again: %s", s.Why)
				}
				t.Logf("settled again within %s", time.Since(begin))
			})
		}
	})
}

// A timer that never stops keeps a server from settling, until its period is known.
func TestTickingServers(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		start(t, Spec{}).Close() // or skip
		for name, command := range map[string]func(t *testing.T) Command{
			"go": func(t *testing.T) Command { return probeCommand(t, "late", "tick", "100ms", "") },
			"node": func(t *testing.T) Command {
				return script(t, "node", "-e", `setInterval(() => 0, 100); process.stdin.on('data', () => 0); console.log('reply')`)
			},
			"python": func(t *testing.T) Command {
				return script(t, "python3", "-c", "import time\nprint('reply', flush=True)\nwhile True: time.sleep(0.1)")
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				c := command(t)
				w := start(t, Spec{})
				replied(t, w, c)
				s := settle(w, 2*time.Second, 0)
				if s.OK || s.Ticking <= 0 || s.Ticking > 150*time.Millisecond {
					t.Fatalf("a ticking server: %+v, want it not settled, with its period", s)
				}
				if again := settle(w, 6*time.Second, s.Ticking); !again.OK {
					t.Errorf("with the period known: %+v, want it settled", again)
				}
			})
		}
	})
}

func TestATimerBeyondTheHorizonIsTold(t *testing.T) {
	w := start(t, Spec{})
	replied(t, w, probeCommand(t, "late", "thread", "10m", Workspace+"/late"))
	s := settle(w, 5*time.Second, 0)
	if !s.OK || s.Pending <= 5*time.Second {
		t.Errorf("%+v, want it settled, with the timer pending", s)
	}
}

func TestABusyServerDoesNotSettle(t *testing.T) {
	w := start(t, Spec{})
	replied(t, w, probeCommand(t, "late", "busy", "1h", ""))
	s := settle(w, 500*time.Millisecond, 0)
	if s.OK || !strings.Contains(s.Why, "was running") || s.Ticking != 0 {
		t.Errorf("%+v, want it running", s)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if s := w.Settle(ctx, SettleOptions{Max: time.Hour, Horizon: time.Second}); s.OK {
		t.Errorf("%+v after the context has ended", s)
	}
}

func TestMappedFilesAreListed(t *testing.T) {
	w := start(t, Spec{})
	c := script(t, "python3", "-c", `import mmap, sys
f = open('mapped', 'w+b'); f.write(b'x' * 4096); f.flush(); m = mmap.mmap(f.fileno(), 0)
r = open('/etc/passwd', 'rb'); p = mmap.mmap(r.fileno(), 0, prot=mmap.PROT_READ)
print('reply', flush=True); sys.stdin.read()`)
	replied(t, w, c)
	if diff := cmp.Diff(map[string]bool{Workspace + "/mapped": true}, w.MappedFiles()); diff != "" {
		t.Error(diff)
	}
}

func TestParseStat(t *testing.T) {
	for _, c := range []struct{ stat, name, state string }{
		{"42 (node) S 1 42 42 0 -1 4194304", "node", "S"},
		{"42 (a (b) c) R) R 1 42", "a (b) c) R", "R"},
		{"42 (x) Z", "x", "Z"},
		{"42 ()", "", ""},
		{"42 (x", "", ""},
		{") 42 (", "", ""},
		{"", "", ""},
	} {
		if name, state := parseStat(c.stat); name != c.name || state != c.state {
			t.Errorf("parseStat(%q) = %q, %q, want %q, %q", c.stat, name, state, c.name, c.state)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("42 (a (b) c) R 1 42")
	f.Add("x) y (z")
	f.Fuzz(func(t *testing.T, stat string) {
		if name, state := parseStat(stat); len(state) > 1 || len(name)+len(state) > len(stat) {
			t.Errorf("parseStat(%q) = %q, %q", stat, name, state)
		}
	})
}

// testTimes are of struct timespec: a span, a time that is over, and ages.
var testTimes = [3][2]int64{{3, 500_000_000}, {1, 0}, {1 << 40, 0}}

func pointer(i int) uintptr { return uintptr(unsafe.Pointer(&testTimes[i])) }

func TestPendingTimer(t *testing.T) {
	here := os.Getpid()
	relative, past, far := pointer(0), pointer(1), pointer(2)
	call := func(number int, arguments ...any) []string {
		fields := []string{fmt.Sprint(number)}
		for i := range 6 {
			text := "0x0"
			if i < len(arguments) {
				text = fmt.Sprintf("0x%x", arguments[i])
			}
			fields = append(fields, text)
		}
		return append(fields, "0x7ffd0", "0x7f000")
	}
	const (
		private, clockReal     = 128, 256
		waitOp, waitBitset, pi = 0, 9, 6
	)
	for _, c := range []struct {
		name  string
		call  []string
		timer time.Duration
		ok    bool
	}{
		{"running", []string{"running"}, 0, false},
		{"stopped outside of a call", []string{"-1", "0x7ffd0", "0x7f000"}, 0, false},
		{"no wait at all", call(unix.SYS_FSYNC, 3), 0, false},
		{"read", call(unix.SYS_READ, 0), 0, true},
		{"epoll for ever", call(unix.SYS_EPOLL_PWAIT, 5, 0x7000, 64, uint64(0xffffffffffffffff)), 0, true},
		{"epoll with a 32-bit -1", call(unix.SYS_EPOLL_PWAIT, 5, 0x7000, 64, uint32(0xffffffff)), 0, true},
		{"epoll", call(unix.SYS_EPOLL_PWAIT, 5, 0x7000, 64, 250), 250 * time.Millisecond, true},
		{"epoll that looks only", call(unix.SYS_EPOLL_PWAIT, 5, 0x7000, 64, 0), 1, true},
		{"ppoll for ever", call(unix.SYS_PPOLL, 0x7000, 1, 0), 0, true},
		{"ppoll", call(unix.SYS_PPOLL, 0x7000, 1, relative), 3500 * time.Millisecond, true},
		{"futex for ever", call(unix.SYS_FUTEX, 0x7000, waitOp|private, 0, 0), 0, true},
		{"futex", call(unix.SYS_FUTEX, 0x7000, waitOp|private, 0, relative), 3500 * time.Millisecond, true},
		{"futex until a time that is over", call(unix.SYS_FUTEX, 0x7000, waitBitset|private, 0, past), 1, true},
		{"futex until a date that is over", call(unix.SYS_FUTEX, 0x7000, waitBitset|clockReal, 0, past), 1, true},
		{"lock until a date that is over", call(unix.SYS_FUTEX, 0x7000, pi, 0, past), 1, true},
		{"a time-out of ages", call(unix.SYS_FUTEX, 0x7000, waitOp, 0, far), 0, true},
		{"nanosleep", call(unix.SYS_NANOSLEEP, relative), 3500 * time.Millisecond, true},
		{"clock_nanosleep", call(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, 0, relative), 3500 * time.Millisecond, true},
		{"clock_nanosleep until a time that is over", call(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, 1, past), 1, true},
		{"a time that can't be read", call(unix.SYS_PPOLL, 0x7000, 1, 8), time.Millisecond, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if timer, ok := pendingTimer(here, c.call); timer != c.timer || ok != c.ok {
				t.Errorf("%s, %v; want %s, %v", timer, ok, c.timer, c.ok)
			}
		})
	}
}
