// Package child is the side of the sandbox that runs inside it: the first
// process of the namespaces, which builds the root and then waits for orders,
// and the launcher of each program.
//
// It is the same binary, started again. It must start fast and must not read
// the machine's configuration, so it imports little.
package child

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ax-check/ax-check/internal/sandbox/control"
)

// The process names under which the binary takes these roles.
const (
	InitName   = "ax-check-init"
	launchName = "ax-check-launch"
)

// init takes the process over when it was started as a part of a sandbox, and does
// not return then. It is not left to main: a package that imports little is
// initialised before those that import much, so that a sandbox does not pay for
// what only the rest of the program needs (about 10 ms of each start).
func init() {
	switch os.Args[0] {
	case InitName:
		runInit()
	case launchName:
		launch()
	}
}

// initProcess is PID 1 of the sandbox. When it ends, the kernel ends everything
// inside; it ends when the control socket does, so nothing outlives ax-check.
type initProcess struct {
	config  control.Config
	scratch string
	staging *os.Root // the machine's folder that holds the staging folder; nil when there is none

	mu      sync.Mutex  // guards what follows
	changed *sync.Cond  // signalled when forks or idle change
	running map[int]int // pid to the ID of its Run
	forks   int         // how many children were started
	idle    bool        // no child is left to be reaped
}

func runInit() {
	runtime.LockOSThread() // mounts and namespaces belong to this thread
	ignoreSignals()
	p := &initProcess{running: map[int]int{}, idle: true}
	p.changed = sync.NewCond(&p.mu)
	if err := p.serve(); err != nil {
		_ = control.Send(control.FD, control.Message{Kind: control.Failed, Error: err.Error()})
	}
	p.abandon()
	os.Exit(1)
}

// ignoreSignals keeps programs inside, which have the same user, from ending PID 1.
// The kernel drops signals that the first process of a namespace has no handler
// for, but Go's runtime handles nearly all. Real faults still panic.
func ignoreSignals() {
	const last = syscall.Signal(64)
	for s := syscall.Signal(1); s <= last; s++ {
		switch s {
		case unix.SIGCHLD: // ignored, children could not be waited for
		case unix.SIGURG: // the runtime's own
		default:
			signal.Ignore(s)
		}
	}
}

// serve builds the world and then obeys until the control socket ends.
func (p *initProcess) serve() error {
	m, _, err := control.Receive(control.FD)
	if err != nil || m.Kind != control.Build || m.Config == nil {
		return fmt.Errorf("expected an order to build the sandbox: %v", err)
	}
	p.config = *m.Config
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("closing this process to others: %w", err)
	}
	if p.config.Staging != "" { // out of reach once the world is built
		if p.staging, err = os.OpenRoot(filepath.Dir(p.config.Staging)); err != nil {
			return err
		}
	}
	built, scratch, err := build(p.config)
	if err != nil {
		return err
	}
	p.scratch = built.scratch
	if !p.config.Network {
		if err := loopbackUp(); err != nil {
			return fmt.Errorf("bringing up loopback: %w", err)
		}
		if err := answerNames(); err != nil {
			return fmt.Errorf("answering DNS: %w", err)
		}
	}
	if err := control.Send(control.FD, control.Message{Kind: control.Built, Layers: built.layers}, scratch); err != nil {
		return err
	}
	_ = unix.Close(scratch)
	go p.reap()
	for {
		m, fds, err := control.Receive(control.FD)
		if err != nil {
			return nil // ax-check is gone
		}
		p.obey(m, fds)
	}
}

func (p *initProcess) obey(m control.Message, fds []int) {
	defer func() {
		for _, fd := range fds {
			_ = unix.Close(fd)
		}
	}()
	switch m.Kind {
	case control.Run:
		if err := p.run(m, fds); err != nil {
			p.answer(control.Message{Kind: control.Failed, ID: m.ID, Error: err.Error()})
		}
	case control.KillAll:
		p.killAll()
		p.answer(control.Message{Kind: control.Killed, ID: m.ID})
	case control.Open:
		// Files that the server closed to its own user (mode 000) are still
		// open to this process.
		fd, err := unix.Open(p.scratch+"/"+m.Path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != nil {
			p.answer(control.Message{Kind: control.Failed, ID: m.ID, Error: err.Error()})
			return
		}
		_ = control.Send(control.FD, control.Message{Kind: control.Opened, ID: m.ID}, fd)
		_ = unix.Close(fd)
	}
}

func (p *initProcess) answer(m control.Message) { _ = control.Send(control.FD, m) }

// run starts the launcher of one program and, when it is to be recorded, passes
// its seccomp listener on.
func (p *initProcess) run(m control.Message, stdio []int) error {
	if m.Launch == nil || len(stdio) != 3 {
		return fmt.Errorf("an order to run needs a program and three descriptors")
	}
	mine, theirs, err := control.Pair()
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(mine) }()
	pid, err := p.fork(m.ID, stdio, theirs)
	_ = unix.Close(theirs)
	if err != nil {
		return fmt.Errorf("starting the launcher: %w", err)
	}

	if err := control.Send(mine, control.Message{Kind: control.Run, Launch: m.Launch}); err != nil {
		return err
	}
	for {
		reply, fds, err := control.Receive(mine)
		if err != nil {
			// The socket closes when the launcher becomes the program.
			p.answer(control.Message{Kind: control.Started, ID: m.ID, Pid: pid})
			return nil
		}
		switch reply.Kind {
		case control.Failed:
			return fmt.Errorf("%s", reply.Error)
		case control.Listener:
			err := control.Send(control.FD, control.Message{Kind: control.Listener, ID: m.ID}, fds...)
			for _, fd := range fds {
				_ = unix.Close(fd)
			}
			if err != nil {
				return err
			}
			next, _, err := control.Receive(control.FD)
			if err != nil || next.Kind != control.Resume {
				return fmt.Errorf("the recorder did not start")
			}
			if err := control.Send(mine, control.Message{Kind: control.Resume}); err != nil {
				return err
			}
		}
	}
}

func (p *initProcess) fork(id int, stdio []int, socket int) (int, error) {
	attr := &syscall.ProcAttr{
		Env:   []string{},
		Files: []uintptr{uintptr(stdio[0]), uintptr(stdio[1]), uintptr(stdio[2]), uintptr(socket)},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	}
	// User id 0 would get every capability of this user namespace back on exec,
	// and could undo the mounts. In a namespace of its own it keeps the id and
	// the ownership of files, and holds no power over the sandbox.
	if os.Getuid() == 0 {
		attr.Sys.Cloneflags = unix.CLONE_NEWUSER
		attr.Sys.UidMappings = sameIDs(p.config.UserNamespace)
		attr.Sys.GidMappings = sameIDs(p.config.UserNamespace)
		attr.Sys.GidMappingsEnableSetgroups = !p.config.UserNamespace
	}
	p.mu.Lock() // so that the child can't be reaped before it is known
	defer p.mu.Unlock()
	pid, err := syscall.ForkExec("/proc/self/exe", []string{launchName}, attr)
	if err != nil {
		return 0, err
	}
	p.running[pid] = id
	p.forks++
	p.idle = false
	p.changed.Broadcast()
	return pid, nil
}

func sameIDs(single bool) []syscall.SysProcIDMap {
	size := 4294967295
	if single {
		size = 1
	}
	return []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: size}}
}

// reap collects every child, orphans of the programs included, and reports the
// end of those that were started by an order.
func (p *initProcess) reap() {
	for {
		p.mu.Lock()
		forks := p.forks
		p.mu.Unlock()
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.ECHILD:
			p.rest(forks)
			continue
		case err != nil:
			return
		}
		p.mu.Lock()
		id, ours := p.running[pid]
		delete(p.running, pid)
		p.mu.Unlock()
		if ours {
			p.answer(control.Message{Kind: control.Exited, ID: id, Status: exitStatus(status)})
		}
	}
}

// rest waits for another child than those that had been started when none was
// left: one may have been started between the kernel's answer and now.
func (p *initProcess) rest(forks int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.forks == forks {
		if !p.idle {
			p.idle = true
			p.changed.Broadcast()
		}
		p.changed.Wait()
	}
}

// killAll ends every other process of the world, and waits until they are reaped.
func (p *initProcess) killAll() {
	_ = unix.Kill(-1, unix.SIGKILL)
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.idle {
		p.changed.Wait()
	}
}

func exitStatus(s unix.WaitStatus) int {
	if s.Signaled() {
		return 128 + int(s.Signal())
	}
	return s.ExitStatus()
}

// abandon leaves nothing on the machine's disk when ax-check went away in the
// middle of a preparation.
func (p *initProcess) abandon() {
	if p.staging == nil {
		return
	}
	p.killAll()
	_ = unix.Unmount(p.config.Staging, unix.MNT_DETACH)
	_ = p.staging.RemoveAll(filepath.Base(p.config.Staging))
}
