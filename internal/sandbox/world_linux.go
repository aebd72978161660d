package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ax-check/ax-check/internal/sandbox/child"
	"github.com/ax-check/ax-check/internal/sandbox/control"
	"github.com/ax-check/ax-check/internal/sandbox/overlay"
	"github.com/ax-check/ax-check/internal/sandbox/seccomp"
)

// World is one sandbox.
type World struct {
	init    *exec.Cmd
	socket  int
	scratch *os.File
	root    *os.File // as the programs see it
	layers  []Layer
	fences  fences

	// One request at a time, so that an answer needs no bookkeeping.
	requests sync.Mutex
	nextID   int
	answers  chan answer

	mu        sync.Mutex // guards what follows
	events    []Event
	questions int              // turned to DNS, and not heard of from it yet
	processes map[int]chan int // ID of a Run to where its status goes

	gone    chan struct{} // closed when the control socket has ended
	serving sync.WaitGroup
	closing sync.Once
}

type answer struct {
	message control.Message
	fds     []int
}

// Start makes a world. The context bounds the making, not the life.
func Start(ctx context.Context, spec Spec) (*World, error) {
	mode := machineMode()
	parent, theirs, err := control.Pair()
	if err != nil {
		return nil, err
	}
	w := &World{socket: parent, answers: make(chan answer), processes: map[int]chan int{}, gone: make(chan struct{})}
	if err := w.startInit(theirs, mode, spec); err != nil {
		_ = unix.Close(parent)
		return nil, refused(err)
	}
	w.serving.Add(1)
	go w.listen()
	stop := context.AfterFunc(ctx, func() { _ = w.init.Process.Kill() })
	defer stop()
	config := &control.Config{
		UserNamespace: mode == userNamespace, Network: spec.Network, Masked: secrets(spec.Readable),
		Writable: spec.Writable, Staging: spec.Staging, ScratchBytes: scratchBytes,
		Folders: []string{Workspace, Home}, Own: ownFolders(),
	}
	built, err := w.request(control.Message{Kind: control.Build, Config: config}, control.Built)
	if err != nil {
		w.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, refused(err)
	}
	if err := w.adopt(built); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// ownFolders lists the home and the working folder, as real paths, where they lie
// in a folder of another user: /home/group/name, /var/lib/service.
func ownFolders() []string {
	var dirs []string
	home, _ := os.UserHomeDir()
	here, _ := os.Getwd()
	for _, dir := range []string{home, here} {
		if real, err := filepath.EvalSymlinks(dir); err == nil && amongOthers(real) && unix.Access(real, unix.W_OK) == nil {
			dirs = append(dirs, real)
		}
	}
	slices.Sort(dirs)
	// One in the other needs no layer of its own, which files could not be moved into.
	if len(dirs) == 2 && overlay.Under(dirs[1], dirs[0]) {
		return dirs[:1]
	}
	return dirs
}

// amongOthers reports whether a folder on the way to dir, below the root's own
// children, belongs to another user.
func amongOthers(dir string) bool {
	for parent := filepath.Dir(dir); filepath.Dir(parent) != "/"; parent = filepath.Dir(parent) {
		var st unix.Stat_t
		if unix.Lstat(parent, &st) == nil && (int(st.Uid) != os.Getuid() || int(st.Gid) != os.Getgid()) {
			return true
		}
	}
	return false
}

// startInit starts the first process and lets go of its end of the socket.
func (w *World) startInit(theirs int, mode mode, spec Spec) error {
	// No parent-death signal: it fires when the creating thread ends, and Go ends
	// threads. The first process watches the socket instead.
	w.init = exec.Command("/proc/self/exe")
	w.init.Args = []string{child.InitName}
	w.init.Env = []string{"GOMAXPROCS=2", "GOGC=off", "GOMEMLIMIT=64MiB"}
	w.init.Stderr = os.Stderr
	socket := os.NewFile(uintptr(theirs), "control")
	defer func() { _ = socket.Close() }()
	w.init.ExtraFiles = []*os.File{socket}
	flags := uintptr(unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS)
	if !spec.Network {
		flags |= unix.CLONE_NEWNET
	}
	w.init.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags, Setpgid: true}
	if mode == userNamespace {
		uid, gid := os.Getuid(), os.Getgid()
		w.init.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		w.init.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		w.init.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		w.init.SysProcAttr.AmbientCaps = []uintptr{
			unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE, unix.CAP_DAC_OVERRIDE,
			unix.CAP_CHOWN, unix.CAP_FOWNER, unix.CAP_SETUID, unix.CAP_SETGID, unix.CAP_KILL, unix.CAP_SETPCAP,
			unix.CAP_SYS_CHROOT, unix.CAP_SYS_PTRACE, unix.CAP_MKNOD,
		}
	}
	return w.init.Start()
}

// adopt takes over the scratch folder, the root and the layers.
func (w *World) adopt(built answer) error {
	if len(built.fds) != 1 {
		return errors.New("the sandbox did not hand over its scratch folder")
	}
	w.scratch = os.NewFile(uintptr(built.fds[0]), "scratch")
	for _, l := range built.message.Layers {
		fd, err := unix.Openat(built.fds[0], l.Upper, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("opening the layer of %s: %w", l.Mount, err)
		}
		upper := l.Upper
		w.layers = append(w.layers, Layer{
			Mount: l.Mount, Lower: l.Lower, Upper: os.NewFile(uintptr(fd), l.Mount),
			Open: func(rel string) (*os.File, error) { return w.open(upper + "/" + rel) },
		})
	}
	root, err := unix.Open(fmt.Sprintf("/proc/%d/root", w.init.Process.Pid), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("opening the root of the sandbox: %w", err)
	}
	w.root = os.NewFile(uintptr(root), "root")
	w.fences = newFences(w.layers, w.init.SysProcAttr.Cloneflags&unix.CLONE_NEWUSER != 0, w.root)
	return nil
}

// listen takes every message of the sandbox until it ends.
func (w *World) listen() {
	defer w.serving.Done()
	defer close(w.gone)
	for {
		m, fds, err := control.Receive(w.socket)
		if err != nil {
			return
		}
		switch m.Kind {
		case control.Lookup:
			w.answered(m.Name)
		case control.Exited:
			w.mu.Lock()
			done := w.processes[m.ID]
			delete(w.processes, m.ID)
			w.mu.Unlock()
			if done != nil {
				done <- m.Status
			}
		default:
			w.answers <- answer{m, fds}
		}
	}
}

// request sends one order and waits for the answer of the kind wanted.
func (w *World) request(m control.Message, want control.Kind, fds ...int) (answer, error) {
	w.requests.Lock()
	defer w.requests.Unlock()
	return w.exchange(m, want, fds...)
}

func (w *World) exchange(m control.Message, want control.Kind, fds ...int) (answer, error) {
	switch err := control.Send(w.socket, m, fds...); {
	case err != nil && w.Alive() && !errors.Is(err, unix.EPIPE):
		return answer{}, fmt.Errorf("sending an order into the sandbox: %w", err)
	case err != nil:
		return answer{}, ErrGone
	}
	return w.await(want)
}

func (w *World) await(want control.Kind) (answer, error) {
	select {
	case a := <-w.answers:
		switch a.message.Kind {
		case want:
			return a, nil
		case control.Failed:
			return answer{}, errors.New(a.message.Error)
		default:
			return a, nil
		}
	case <-w.gone:
		return answer{}, ErrGone
	}
}

func (w *World) emit(e Event) {
	e.At = time.Now()
	w.mu.Lock()
	w.events = append(w.events, e)
	w.mu.Unlock()
}

// heard takes what the recorder tells.
func (w *World) heard(e seccomp.Event) {
	if e.Kind == seccomp.Asked {
		w.mu.Lock()
		w.questions++
		w.mu.Unlock()
		return
	}
	w.emit(Event{Kind: EventKind(e.Kind), Target: e.Target})
}

// answered takes a name that DNS was asked for; "" is one of the sandbox's own.
func (w *World) answered(name string) {
	w.mu.Lock()
	w.questions = max(0, w.questions-1)
	w.mu.Unlock()
	if name != "" {
		w.emit(Event{Kind: Lookup, Target: name})
	}
}

// AwaitNames waits, at most for limit, until DNS has told the names that programs
// turned to it for: it tells them by another way than the recorder, and a
// program may have given up waiting for its answer.
func (w *World) AwaitNames(limit time.Duration) {
	for end := time.Now().Add(limit); time.Now().Before(end) && w.Alive(); time.Sleep(betweenLooks) {
		w.mu.Lock()
		open := w.questions
		w.mu.Unlock()
		if open == 0 {
			return
		}
	}
	w.mu.Lock()
	w.questions = 0 // never sent
	w.mu.Unlock()
}

// TakeEvents returns what was recorded since the last call.
func (w *World) TakeEvents() []Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	events := w.events
	w.events = nil
	return events
}

// Layers lists the parts of the root; the caller must not close them.
func (w *World) Layers() []Layer { return w.layers }

// Folder opens a folder below Base for seeding, confined to it.
func (w *World) Folder(path string) (*os.Root, error) {
	scratch, err := os.OpenRoot(fmt.Sprintf("/proc/self/fd/%d/root", w.scratch.Fd()))
	if err != nil {
		return nil, err
	}
	defer func() { _ = scratch.Close() }()
	// A program may have put a link to the machine's files in its place.
	return scratch.OpenRoot(strings.TrimPrefix(path, "/"))
}

func (w *World) open(rel string) (*os.File, error) {
	a, err := w.request(control.Message{Kind: control.Open, Path: rel}, control.Opened)
	if err != nil {
		return nil, err
	}
	if len(a.fds) != 1 {
		return nil, errors.New("the sandbox did not hand over the file")
	}
	return os.NewFile(uintptr(a.fds[0]), rel), nil
}

// Run starts a program. Its stderr is kept as a tail.
func (w *World) Run(c Command) (*Process, error) {
	stdinR, stdinW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stdoutR, stdoutW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stderrR, stderrW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = errors.Join(stdinR.Close(), stdoutW.Close(), stderrW.Close()) }()

	w.requests.Lock()
	defer w.requests.Unlock()
	w.nextID++
	id := w.nextID
	exited := make(chan int, 1)
	w.mu.Lock()
	w.processes[id] = exited
	w.mu.Unlock()
	err = w.launch(id, c, int(stdinR.Fd()), int(stdoutW.Fd()), int(stderrW.Fd()))
	if err != nil {
		w.mu.Lock()
		delete(w.processes, id)
		w.mu.Unlock()
		_ = errors.Join(stdinW.Close(), stdoutR.Close(), stderrR.Close())
		return nil, err
	}
	done, status := make(chan struct{}), new(int)
	p := &Process{Stdin: stdinW, Stdout: stdoutR, Done: done, status: status, stderr: keepTail(stderrR)}
	go func() {
		defer close(done)
		select {
		case *status = <-exited:
		case <-w.gone:
			select {
			case *status = <-exited: // both were there
			default:
				*status = 128 + int(unix.SIGKILL)
			}
		}
	}()
	return p, nil
}

func (w *World) launch(id int, c Command, stdio ...int) error {
	order := control.Message{Kind: control.Run, ID: id, Launch: &control.Launch{Argv: c.Argv, Dir: c.Dir, Env: c.Env, Recorded: c.Recorded}}
	a, err := w.exchange(order, control.Started, stdio...)
	if err != nil || a.message.Kind == control.Started {
		return err
	}
	if a.message.Kind != control.Listener || len(a.fds) != 1 {
		return fmt.Errorf("unexpected answer %q from the sandbox", a.message.Kind)
	}
	w.record(a.fds[0])
	_, err = w.exchange(control.Message{Kind: control.Resume}, control.Started)
	return err
}

func (w *World) record(fd int) {
	l := &seccomp.Listener{
		FD:      fd,
		Emit:    w.heard,
		Refuses: w.fences.refuses,
		Ours:    w.fences.ours,
	}
	w.serving.Add(1)
	go func() {
		defer w.serving.Done()
		defer func() { _ = unix.Close(fd) }()
		l.Serve()
	}()
}

// KillAll ends every program of the world; the world itself stays.
func (w *World) KillAll() error {
	_, err := w.request(control.Message{Kind: control.KillAll}, control.Killed)
	return err
}

// Alive reports whether the world is still there.
func (w *World) Alive() bool {
	select {
	case <-w.gone:
		return false
	default:
		return true
	}
}

// Close ends the world with everything in it, and waits for that.
func (w *World) Close() {
	w.closing.Do(func() {
		_ = w.init.Process.Kill()
		_ = w.init.Wait()
		_ = unix.Shutdown(w.socket, unix.SHUT_RDWR)
		for stop := false; !stop; { // nobody waits for these any more
			select {
			case a := <-w.answers:
				for _, fd := range a.fds {
					_ = unix.Close(fd)
				}
			case <-w.gone:
				stop = true
			}
		}
		w.serving.Wait()
		w.requests.Lock() // nobody sends on a number that is soon another's
		_ = unix.Close(w.socket)
		w.socket = -1
		w.requests.Unlock()
		for _, l := range w.layers {
			_ = l.Upper.Close()
		}
		for _, f := range []*os.File{w.scratch, w.root} {
			if f != nil {
				_ = f.Close()
			}
		}
	})
}
