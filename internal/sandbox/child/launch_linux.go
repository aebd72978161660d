package child

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ax-check/ax-check/internal/sandbox/control"
	"github.com/ax-check/ax-check/internal/sandbox/seccomp"
)

// launch turns this process into a program of the world: no capabilities, no
// new privileges, no descriptors but stdio, and every contact recorded.
func launch() {
	runtime.LockOSThread() // the filter and the exec are this thread's
	err := becomeProgram()
	_ = control.Send(control.FD, control.Message{Kind: control.Failed, Error: err.Error()})
	os.Exit(127)
}

func becomeProgram() error {
	m, _, err := control.Receive(control.FD)
	if err != nil || m.Launch == nil {
		return fmt.Errorf("expected a program to launch: %v", err)
	}
	order := *m.Launch
	unix.Umask(0o022)
	if err := unix.Chdir(order.Dir); err != nil {
		return fmt.Errorf("working folder %s: %w", order.Dir, err)
	}
	path, err := lookPath(order.Argv[0], order.Env)
	if err != nil {
		return err
	}
	pathp, err := syscall.BytePtrFromString(path)
	if err != nil {
		return err
	}
	argv, err := syscall.SlicePtrFromStrings(order.Argv)
	if err != nil {
		return err
	}
	envv, err := syscall.SlicePtrFromStrings(order.Env)
	if err != nil {
		return err
	}
	if err := dropPrivileges(); err != nil {
		return err
	}
	if err := preventCores(); err != nil {
		return err
	}
	filter := seccomp.Refuse
	if order.Recorded {
		filter = record
	}
	if err := filter(); err != nil {
		return err
	}
	// What ax-check's own parent left open would leak into the server. The socket
	// goes too, which tells the other side that the program took over.
	if err := unix.CloseRange(control.FD, 1<<32-1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("closing descriptors: %w", err)
	}
	resetSignals()
	_, _, errno := syscall.RawSyscall(syscall.SYS_EXECVE, uintptr(unsafe.Pointer(pathp)), uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&envv[0])))
	return fmt.Errorf("running %s: %w", path, errno)
}

func dropPrivileges() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("dropping capabilities: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return fmt.Errorf("dropping capabilities: %w", err)
	}
	data[0].Inheritable, data[1].Inheritable = 0, 0
	if err := unix.Capset(&header, &data[0]); err != nil {
		return fmt.Errorf("dropping capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbidding new privileges: %w", err)
	}
	return nil
}

// preventCores sets the limit to 1 byte. Unlike 0, that also keeps the kernel
// from running the machine's crash handler, outside of the world (core(5)).
func preventCores() error {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: 1, Max: 1}); err != nil {
		return fmt.Errorf("forbidding core dumps: %w", err)
	}
	return nil
}

// resetSignals gives every signal its default action. What this process or one
// above it ignores (as nohup does) would stay ignored in the program.
func resetSignals() {
	const last = 64
	var action [4]uint64 // struct sigaction of the kernel: handler, flags, restorer, mask
	for s := uintptr(1); s <= last; s++ {
		_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, s, uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
	}
}

// record installs the filter and waits until its listener is served. Another
// thread, which has no filter, hands the listener over.
func record() error {
	listener := make(chan int)
	served := make(chan error)
	go func() {
		runtime.LockOSThread()
		fd := <-listener
		if err := control.Send(control.FD, control.Message{Kind: control.Listener}, fd); err != nil {
			served <- err
			return
		}
		_ = unix.Close(fd)
		_, _, err := control.Receive(control.FD)
		served <- err
	}()
	fd, err := seccomp.Install()
	if err != nil {
		return err
	}
	listener <- fd
	return <-served
}

// lookPath finds a program as execvp would, with the PATH that it will run with.
func lookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		if _, err := os.Stat(name); err != nil {
			return "", fmt.Errorf("%s: %w", name, unix.ENOENT)
		}
		return name, nil
	}
	for _, entry := range env {
		list, ok := strings.CutPrefix(entry, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range strings.Split(list, ":") {
			candidate := dir + "/" + name
			if info, err := os.Stat(candidate); err == nil && info.Mode().IsRegular() && unix.Access(candidate, unix.X_OK) == nil {
				return candidate, nil
			}
		}
	}
	return "", fmt.Errorf("%s: command not found in the PATH of the sandbox", name)
}
