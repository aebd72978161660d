//go:build unix

package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The guard is this executable under another name. It starts the server in a
// process group of its own and then only waits: for the server to end, or for
// the word that it shall. That word is the end of a pipe whose other end ax-check
// holds, so it comes even when ax-check can say nothing any more.
const guardName = "ax-check: guard"

// Descriptors that the guard gets beside stdio.
const (
	// leashFD ends when the server shall end; a byte on it means at once.
	leashFD = 3
	// reportFD ends when the server has started; text on it says why it did not.
	reportFD = 4
)

// MaybeGuard turns this process into a guard if it was started as one, and then
// does not return. Call it first thing in main, and in TestMain of packages that
// call Start.
func MaybeGuard() {
	answersAsGuard.Store(true)
	if len(os.Args) < 3 || os.Args[0] != guardName {
		return
	}
	// The server's death signal, where there is one, is tied to this thread.
	runtime.LockOSThread()
	os.Exit(guard(os.Args[1], os.Args[2:]))
}

// answersAsGuard is set when this executable would behave as a guard. Without
// that, starting it as one would run whatever it does instead, without end.
var answersAsGuard atomic.Bool

// hold is ax-check's end of the leash.
type hold struct {
	leash *os.File
	once  sync.Once
}

// start runs the command under a guard.
func start(cmd *exec.Cmd) (*hold, error) {
	if !answersAsGuard.Load() {
		return nil, errors.New("this program does not call process.MaybeGuard first")
	}
	self, err := executable()
	if err != nil {
		return nil, err
	}
	held, leash, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = held.Close() }()
	heard, report, err := os.Pipe()
	if err != nil {
		_ = leash.Close()
		return nil, err
	}
	defer func() { _ = heard.Close() }()

	cmd.Args = append([]string{guardName, cmd.Path}, cmd.Args...)
	cmd.Path = self
	cmd.ExtraFiles = []*os.File{held, report}
	// A session of its own keeps the keyboard's signals away: ax-check gets them,
	// and ends the server in its own time.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	_ = report.Close()
	if err != nil {
		_ = leash.Close()
		return nil, err
	}
	h := &hold{leash: leash}
	problem, err := io.ReadAll(heard)
	if err == nil && len(problem) > 0 {
		err = errors.New(string(problem))
	}
	if err != nil {
		h.kill()
		_ = cmd.Wait()
		return nil, err
	}
	return h, nil
}

func (h *hold) stop() { h.once.Do(func() { _ = h.leash.Close() }) }

// kill does not wait for a stop that is under way: that one ends soon by itself.
func (h *hold) kill() {
	h.once.Do(func() {
		_, _ = h.leash.Write([]byte{0}) // a guard that is gone needs no word
		_ = h.leash.Close()
	})
}

func (h *hold) ended() { h.stop() }

// status follows the shells for a process that a signal ended.
func status(state *os.ProcessState) int {
	if state == nil {
		return -1
	}
	return shellStatus(state.Sys().(syscall.WaitStatus))
}

func shellStatus(status syscall.WaitStatus) int {
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// guard runs the server and gives its status.
func guard(path string, argv []string) int {
	unix.CloseOnExec(leashFD)
	unix.CloseOnExec(reportFD)
	report := os.NewFile(reportFD, "report")
	fail := func(err error) int {
		fmt.Fprint(report, err)
		return 127
	}
	if err := adopt(); err != nil {
		return fail(err)
	}
	// Who asks the guard to end means the server.
	told := make(chan os.Signal, 1)
	signal.Notify(told, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)

	cmd := &exec.Cmd{Path: path, Args: argv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, SysProcAttr: grouped()}
	if err := cmd.Start(); err != nil {
		return fail(plain(err))
	}
	letGoOfStdio()
	_ = report.Close()
	f := reap(cmd.Process.Pid)
	select {
	case <-f.ended:
	case <-told:
		f.askToEnd(0)
	case now := <-leash():
		if !now {
			f.askToEnd(afterEOF)
		}
	}
	f.end()
	return f.status()
}

// plain takes the name of the system call out of an error.
func plain(err error) error {
	var path *os.PathError
	if errors.As(err, &path) && path.Op == "fork/exec" {
		return path.Err
	}
	return err
}

// leash gives the word to end the server: true for at once.
func leash() <-chan bool {
	word := make(chan bool, 1)
	go func() {
		n, _ := os.NewFile(leashFD, "leash").Read(make([]byte, 1))
		word <- n > 0
	}()
	return word
}

// letGoOfStdio leaves the pipes to the server alone, so that they end with it.
func letGoOfStdio() {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return // the guard's end closes them too
	}
	for fd := range 3 {
		_ = unix.Dup2(int(null.Fd()), fd)
	}
	_ = null.Close()
}

// family is the server and its descendants.
type family struct {
	server int
	ended  chan struct{} // closed when the server has ended
	gone   chan struct{} // closed when no child of the guard is left
	last   syscall.WaitStatus
}

// reap waits for every child, until there is none.
func reap(server int) *family {
	f := &family{server: server, ended: make(chan struct{}), gone: make(chan struct{})}
	go func() {
		defer close(f.gone)
		for {
			var status syscall.WaitStatus
			switch pid, err := syscall.Wait4(-1, &status, 0, nil); {
			case errors.Is(err, syscall.EINTR):
			case err != nil:
				return
			case pid == server:
				f.last = status
				close(f.ended)
			}
		}
	}()
	return f
}

func (f *family) hasEnded(within time.Duration) bool {
	select {
	case <-f.ended:
		return true
	case <-time.After(within):
		return false
	}
}

// askToEnd gives the server time to end by itself, and then asks for it.
func (f *family) askToEnd(patience time.Duration) {
	if f.hasEnded(patience) {
		return
	}
	_ = syscall.Kill(-f.server, syscall.SIGTERM)
	f.hasEnded(afterTerm)
}

// end kills whatever is left, again and again: what is being killed may start
// more.
func (f *family) end() {
	deadline := time.After(afterKill)
	for {
		f.kill()
		select {
		case <-f.gone:
			return
		case <-deadline:
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// status is the server's, or as if it had been killed if it does not end at all.
func (f *family) status() int {
	select {
	case <-f.ended:
		return shellStatus(f.last)
	default:
		return 128 + int(syscall.SIGKILL)
	}
}
