package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The probe is this test binary inside a world. It does one act and prints how
// that ended, so that the tests depend on no tools of the machine.
const probeName = "ax-check-probe"

func probe(args []string) {
	act, known := acts[args[0]]
	if !known {
		fmt.Println("no such act:", args[0])
		os.Exit(2)
	}
	text, err := act(args[1:])
	switch {
	case err != nil:
		fmt.Println(errorName(err))
	case text == "":
		fmt.Println("ok")
	default:
		fmt.Println(text)
	}
	os.Exit(0)
}

func errorName(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return unix.ErrnoName(errno)
	}
	return err.Error()
}

var acts map[string]func(args []string) (string, error)

func init() { // an initialiser would refer to itself through nested and several
	acts = map[string]func(args []string) (string, error){
		"nested": nested, "several": several,

		"write":    func(a []string) (string, error) { return "", os.WriteFile(a[0], []byte(a[1]), 0o644) },
		"append":   func(a []string) (string, error) { return "", appendText(a[0], a[1]) },
		"remove":   func(a []string) (string, error) { return "", os.Remove(a[0]) },
		"rename":   func(a []string) (string, error) { return "", os.Rename(a[0], a[1]) },
		"link":     func(a []string) (string, error) { return "", os.Link(a[0], a[1]) },
		"symlink":  func(a []string) (string, error) { return "", os.Symlink(a[0], a[1]) },
		"chmod":    func(a []string) (string, error) { return "", os.Chmod(a[0], octal(a[1])) },
		"truncate": func(a []string) (string, error) { return "", os.Truncate(a[0], 0) },
		"mkdir":    func(a []string) (string, error) { return "", os.MkdirAll(a[0], 0o755) },
		"touch":    func(a []string) (string, error) { return "", os.Chtimes(a[0], time.Unix(1, 0), time.Unix(1, 0)) },
		"read":     readText,
		"list":     list,

		"dial":        dial,
		"dial-mapped": dialMapped,
		"packet":      packet,
		"message":     message,
		"lookup":      lookup,
		"answer":      answerHere,
		"listen-unix": listenUnix,
		"full-queue":  fullQueue,

		"kill":        func(a []string) (string, error) { return "", unix.Kill(number(a[0]), unix.Signal(number(a[1]))) },
		"ptrace":      func(a []string) (string, error) { return "", ptrace(number(a[0])) },
		"vm-read":     func(a []string) (string, error) { return "", vmRead(number(a[0])) },
		"take-fd":     func(a []string) (string, error) { return "", takeDescriptor(number(a[0]), number(a[1])) },
		"setns":       func(a []string) (string, error) { return "", setns(a[0]) },
		"chroot":      chroot,
		"umount":      func(a []string) (string, error) { return "", unix.Unmount(a[0], number(a[1])) },
		"mount":       mount,
		"mknod":       func(a []string) (string, error) { return "", unix.Mknod(a[0], unix.S_IFBLK|0o666, number(a[1])) },
		"call":        func(a []string) (string, error) { return "", rawCall(a[0]) },
		"socket":      func(a []string) (string, error) { return "", socket(number(a[0])) },
		"open-handle": openHandle,

		"descriptors": descriptors,
		"environment": func([]string) (string, error) { return strings.Join(os.Environ(), "\n"), nil },
		"limits":      limits,
		"uids": func([]string) (string, error) {
			return fmt.Sprint(os.Getuid(), os.Geteuid(), os.Getgid(), os.Getegid()), nil
		},
		"exit":      func(a []string) (string, error) { os.Exit(number(a[0])); return "", nil },
		"kill-self": func(a []string) (string, error) { return "", unix.Kill(os.Getpid(), unix.Signal(number(a[0]))) },
		"complain": func(a []string) (string, error) {
			fmt.Fprintln(os.Stderr, a[0])
			os.Exit(3)
			return "", nil
		},
		"exec": func(a []string) (string, error) { return "", exec.Command(a[0], a[1:]...).Run() },

		"serve":    serve,
		"daemon":   daemon,
		"stubborn": stubborn,
		"tree":     tree,
		"sleep":    func([]string) (string, error) { time.Sleep(time.Hour); return "", nil },
		"late":     late,
	}
}

func number(text string) int {
	n, err := strconv.ParseInt(text, 0, 64)
	if err != nil {
		panic(err)
	}
	return int(n)
}

func octal(text string) os.FileMode {
	n, err := strconv.ParseUint(text, 8, 32)
	if err != nil {
		panic(err)
	}
	return os.FileMode(n)
}

// several does acts that are separated by ";", and prints a line for each.
func several(args []string) (string, error) {
	var lines []string
	for len(args) > 0 {
		end := slices.Index(args, ";")
		if end < 0 {
			end = len(args)
		}
		text, err := acts[args[0]](args[1:end])
		switch {
		case err != nil:
			text = errorName(err)
		case text == "":
			text = "ok"
		}
		lines = append(lines, text)
		args = args[min(end+1, len(args)):]
	}
	return strings.Join(lines, "\n"), nil
}

// nested does an act as the almighty root of new user and mount namespaces.
func nested(args []string) (string, error) {
	c := exec.Command("/proc/self/exe", append([]string{probeName}, args...)...)
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := c.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// Files.

func appendText(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func readText(a []string) (string, error) {
	text, err := os.ReadFile(a[0])
	if err == nil && len(text) == 0 {
		return "empty", nil
	}
	return string(text), err
}

func list(a []string) (string, error) {
	entries, err := os.ReadDir(a[0])
	if err == nil && len(entries) == 0 {
		return "empty", nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, "\n"), err
}

// Network.

func dial(a []string) (string, error) {
	conn, err := net.DialTimeout(a[0], a[1], 10*time.Second)
	if err != nil {
		return "", err
	}
	return "", conn.Close()
}

// dialMapped connects to an IPv4 address in the clothes of IPv6, from a thread
// that is not the process's first.
func dialMapped(a []string) (string, error) {
	to, err := net.ResolveTCPAddr("tcp4", a[0])
	if err != nil {
		return "", err
	}
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM, 0)
	if err != nil {
		return "", err
	}
	ended := make(chan error)
	runtime.LockOSThread()
	go func() {
		runtime.LockOSThread()
		ended <- unix.Connect(fd, &unix.SockaddrInet6{Port: to.Port, Addr: [16]byte(to.IP.To16())})
	}()
	return "", <-ended
}

// packet sends one datagram without connecting.
func packet(a []string) (string, error) {
	conn, err := net.ListenPacket(a[0], "")
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	to, err := net.ResolveUDPAddr(a[0], a[1])
	if err != nil {
		return "", err
	}
	_, err = conn.WriteTo([]byte("hello"), to)
	return "", err
}

// message sends one datagram with sendmsg; the second of two with sendmmsg.
func message(a []string) (string, error) {
	to, err := net.ResolveUDPAddr("udp4", a[1])
	if err != nil {
		return "", err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return "", err
	}
	outside := &unix.SockaddrInet4{Port: to.Port, Addr: [4]byte(to.IP.To4())}
	if a[0] == "sendmsg" {
		return "", unix.Sendmsg(fd, []byte("hello"), []byte{}, outside, 0)
	}
	return "", sendTwo(fd, rawAddress("127.0.0.1", 9), rawAddress(to.IP.String(), to.Port))
}

func rawAddress(ip string, port int) *unix.RawSockaddrInet4 {
	raw := &unix.RawSockaddrInet4{Family: unix.AF_INET, Addr: [4]byte(net.ParseIP(ip).To4())}
	raw.Port = uint16(port)<<8 | uint16(port)>>8
	return raw
}

func sendTwo(fd int, addresses ...*unix.RawSockaddrInet4) error {
	type mmsghdr struct {
		header unix.Msghdr
		length uint32
		_      [4]byte
	}
	var messages []mmsghdr
	text := []byte("x")
	part := &unix.Iovec{Base: &text[0]}
	part.SetLen(1)
	for _, address := range addresses {
		m := mmsghdr{header: unix.Msghdr{Name: (*byte)(unsafe.Pointer(address)), Namelen: unix.SizeofSockaddrInet4, Iov: part}}
		m.header.SetIovlen(1)
		messages = append(messages, m)
	}
	_, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, uintptr(fd), uintptr(unsafe.Pointer(&messages[0])), uintptr(len(messages)), 0, 0, 0)
	runtime.KeepAlive(messages)
	if errno != 0 {
		return errno
	}
	return nil
}

func lookup(a []string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err := (&net.Resolver{PreferGo: true}).LookupHost(ctx, a[0])
	var missing *net.DNSError
	if errors.As(err, &missing) && missing.IsNotFound {
		return "not found", nil
	}
	return "", err
}

// answerHere serves and asks itself, over any network of the world.
func answerHere(a []string) (string, error) {
	l, err := net.Listen(a[0], a[1])
	if err != nil {
		return "", err
	}
	go func() {
		if conn, err := l.Accept(); err == nil {
			_, _ = conn.Write([]byte("welcome"))
			_ = conn.Close()
		}
	}()
	conn, err := net.DialTimeout(a[0], l.Addr().String(), 5*time.Second)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(conn)
	return string(text), err
}

// listenUnix is a service in the world that lives until it is killed.
func listenUnix(a []string) (string, error) {
	l, err := net.Listen("unix", a[0])
	if err != nil {
		return "", err
	}
	fmt.Println("listening")
	for {
		conn, err := l.Accept()
		if err != nil {
			return "", err
		}
		_ = conn.Close()
	}
}

// fullQueue connects to a service that accepts nobody, until its queue is full
// and connect blocks, and then runs on in another thread.
func fullQueue(a []string) (string, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return "", err
	}
	address := &unix.SockaddrUnix{Name: a[0]}
	if err := errors.Join(unix.Bind(fd, address), unix.Listen(fd, 0)); err != nil {
		return "", err
	}
	go func() {
		for {
			if client, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); err != nil || unix.Connect(client, address) != nil {
				return
			}
		}
	}()
	time.Sleep(100 * time.Millisecond) // the queue is full long before
	return "", os.WriteFile(a[0]+".alive", nil, 0o644)
}

// Attacks on processes and mounts.

func ptrace(pid int) error {
	runtime.LockOSThread()
	return unix.PtraceAttach(pid)
}

func vmRead(pid int) error {
	var b [8]byte
	local := []unix.Iovec{{Base: &b[0], Len: 8}}
	_, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: 0x400000, Len: 8}}, 0)
	return err
}

func takeDescriptor(pid, fd int) error {
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err
	}
	_, err = unix.PidfdGetfd(pidfd, fd, 0)
	return err
}

func setns(path string) error {
	runtime.LockOSThread()
	fd, err := unix.Open(path, unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	return unix.Setns(fd, 0)
}

// chroot climbs out of a chroot by a folder that stays open, and reads a file
// that only the machine has.
func chroot(a []string) (string, error) {
	top, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return "", err
	}
	if err := errors.Join(os.MkdirAll("/tmp/jail", 0o755), unix.Chroot("/tmp/jail"), unix.Fchdir(top)); err != nil {
		return "", err
	}
	for range 40 {
		if err := unix.Chdir(".."); err != nil {
			return "", err
		}
	}
	if err := unix.Chroot("."); err != nil {
		return "", err
	}
	return readText(a)
}

// mount takes source, target, type, flags and data.
func mount(a []string) (string, error) {
	return "", unix.Mount(a[0], a[1], a[2], uintptr(number(a[3])), a[4])
}

var rawCalls = map[string]uintptr{
	"io_uring_setup": unix.SYS_IO_URING_SETUP, "keyctl": unix.SYS_KEYCTL, "add_key": unix.SYS_ADD_KEY, "request_key": unix.SYS_REQUEST_KEY,
	"bpf": unix.SYS_BPF, "perf_event_open": unix.SYS_PERF_EVENT_OPEN, "userfaultfd": unix.SYS_USERFAULTFD,
	"reboot": unix.SYS_REBOOT, "init_module": unix.SYS_INIT_MODULE, "swapon": unix.SYS_SWAPON, "syslog": unix.SYS_SYSLOG,
	"settimeofday": unix.SYS_SETTIMEOFDAY, "acct": unix.SYS_ACCT, "kexec_load": unix.SYS_KEXEC_LOAD,
}

func rawCall(name string) error {
	nr, known := rawCalls[name]
	if !known {
		nr = uintptr(number(name))
	}
	if _, _, errno := unix.RawSyscall6(nr, 0, 0, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

func socket(family int) error {
	fd, err := unix.Socket(family, unix.SOCK_STREAM, 0)
	if err == nil {
		_ = unix.Close(fd)
	}
	return err
}

// openHandle opens a file by its handle (type and bytes in hexadecimal), which
// needs no path, through a mount of the same file system.
func openHandle(a []string) (string, error) {
	var bytes []byte
	for i := 0; i+2 <= len(a[2]); i += 2 {
		b, err := strconv.ParseUint(a[2][i:i+2], 16, 8)
		if err != nil {
			return "", err
		}
		bytes = append(bytes, byte(b))
	}
	dir, err := unix.Open(a[0], unix.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	fd, err := unix.OpenByHandleAt(dir, unix.NewFileHandle(int32(number(a[1])), bytes), unix.O_RDONLY)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(os.NewFile(uintptr(fd), "handle"))
	return string(text), err
}

// descriptors lists what is open besides stdio and what the Go runtime opened.
func descriptors([]string) (string, error) {
	var found []string
	for fd := 3; fd < 2048; fd++ {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil {
			continue
		}
		target, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
		if err != nil || strings.HasPrefix(target, "anon_inode:[event") || strings.HasPrefix(target, "/sys/fs/cgroup/") {
			continue
		}
		found = append(found, fmt.Sprintf("%d %s", fd, target))
	}
	return strings.Join(found, "\n"), nil
}

// limits prints what the kernel says about the power of this process.
func limits([]string) (string, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "", err
	}
	var core unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &core); err != nil {
		return "", err
	}
	lines := []string{fmt.Sprintf("Core:\t%d %d", core.Cur, core.Max)}
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, "Cap") || strings.HasPrefix(line, "NoNewPrivs") || strings.HasPrefix(line, "Seccomp:") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n"), nil
}

// Long lives.

// serve answers each line that it reads with "reply", as a server does, and
// then ends when stdin does.
func serve([]string) (string, error) {
	fmt.Println("ready")
	buffer := make([]byte, 4096)
	for {
		if _, err := os.Stdin.Read(buffer); err != nil {
			return "bye", nil
		}
		fmt.Println("reply")
	}
}

// again starts this binary with another act, in a session of its own if wanted.
func again(session bool, args ...string) (*exec.Cmd, error) {
	c := exec.Command("/proc/self/exe", append([]string{probeName}, args...)...)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	return c, c.Start()
}

// daemon leaves a grandchild behind that has no parent but the first process.
func daemon(a []string) (string, error) {
	if len(a) > 0 && a[0] == "parent" {
		_, err := again(true, a[1:]...)
		return "", err
	}
	c, err := again(true, append([]string{"daemon", "parent"}, a...)...)
	if err != nil {
		return "", err
	}
	return "", c.Wait()
}

// stubborn ignores whatever can be ignored.
func stubborn([]string) (string, error) {
	signal.Ignore()
	fmt.Println("ready")
	time.Sleep(time.Hour)
	return "", nil
}

// tree forks two children that fork two each, down to the depth given.
func tree(a []string) (string, error) {
	if depth := number(a[0]); depth > 0 {
		for range 2 {
			if _, err := again(false, "tree", strconv.Itoa(depth-1)); err != nil {
				return "", err
			}
		}
	}
	fmt.Println("ready")
	time.Sleep(time.Hour)
	return "", nil
}

// late prints "reply" and writes a file some time after, by the way given; the
// process stays as a server does, except where a detached daemon writes.
func late(a []string) (string, error) {
	way, after, file := a[0], a[1], a[2]
	delay, err := time.ParseDuration(after)
	if err != nil {
		return "", err
	}
	write := func() {
		time.Sleep(delay)
		_ = os.WriteFile(file, []byte("late"), 0o644)
	}
	switch way {
	case "timer":
		time.AfterFunc(delay, func() { _ = os.WriteFile(file, []byte("late"), 0o644) })
	case "thread":
		go func() {
			runtime.LockOSThread()
			left := unix.NsecToTimespec(delay.Nanoseconds())
			_ = unix.Nanosleep(&left, nil)
			_ = os.WriteFile(file, []byte("late"), 0o644)
		}()
	case "child":
		if _, err := again(false, "late", "now", after, file); err != nil {
			return "", err
		}
	case "daemon":
		if _, err := daemon([]string{"late", "now", after, file}); err != nil {
			return "", err
		}
	case "now":
		write()
		return "", nil
	case "tick":
		go func() {
			for range time.Tick(delay) {
				_ = filepath.Clean(file)
			}
		}()
	case "busy":
		go func() {
			for begin := time.Now(); time.Since(begin) < delay; {
			}
			_ = os.WriteFile(file, []byte("late"), 0o644)
		}()
	}
	fmt.Println("reply")
	_, err = io.Copy(io.Discard, os.Stdin)
	return "", err
}
