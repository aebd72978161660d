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
	if order.Recorded {
		if err := record(); err != nil {
			return err
		}
	}
	// What ax-check's own parent left open would leak into the server. The socket
	// goes too, which tells the other side that the program took over.
	if err := unix.CloseRange(control.FD, 1<<32-1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("closing descriptors: %w", err)
	}
	_, _, errno := syscall.RawSyscall(syscall.SYS_EXECVE, uintptr(unsafe.Pointer(pathp)), uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&envv[0])))
	return fmt.Errorf("running %s: %w", path, errno)
}

func dropPrivileges() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("dropping capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbidding new privileges: %w", err)
	}
	return unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
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
