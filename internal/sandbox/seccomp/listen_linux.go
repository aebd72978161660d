package seccomp

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"path"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// EventKind says what a program did.
type EventKind string

// Contact went outside and was refused; Loopback stayed inside the sandbox;
// Exec ran a program; Refused is a write that the sandbox made fail although
// the machine would have allowed it.
const (
	Contact  EventKind = "contact"
	Loopback EventKind = "loopback"
	Exec     EventKind = "exec"
	Refused  EventKind = "refused"
)

// Event is one recorded act.
type Event struct {
	Kind EventKind
	// Target is protocol://host:port, a command line, or a path.
	Target string
}

// Listener answers the notifications of one program and its children.
type Listener struct {
	FD int
	// Emit takes what was recorded; it is called from one goroutine.
	Emit func(Event)
	// Refuses tells whether a write to a path would fail only because of the
	// sandbox. The path is as the program sees it.
	Refuses func(path string) bool
	// Ours tells whether a socket file belongs to the world.
	Ours func(st *unix.Stat_t) bool
}

type notification struct {
	ID         uint64
	Pid, Flags uint32
	Number     int32
	Arch       uint32
	IP         uint64
	Args       [6]uint64
}

type response struct {
	ID    uint64
	Value int64
	Errno int32 // negative
	Flags uint32
}

// goOn lets the kernel carry the call out.
const goOn = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE

// Serve answers until every program that has the filter is gone.
func (l *Listener) Serve() {
	for {
		ready := []unix.PollFd{{Fd: int32(l.FD), Events: unix.POLLIN}}
		if _, err := unix.Poll(ready, -1); err != nil {
			if err == unix.EINTR {
				continue
			}
			return
		}
		if ready[0].Revents&unix.POLLIN == 0 {
			return
		}
		var n notification
		if err := ioctl(l.FD, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); err != nil {
			if err == unix.EINTR || err == unix.ENOENT {
				continue
			}
			return
		}
		l.handle(n)
	}
}

func ioctl(fd int, request uintptr, p unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(p)); errno != 0 {
		return errno
	}
	return nil
}

func (l *Listener) handle(n notification) {
	events, errno, proceed := l.decide(n)
	// The memory that was read belonged to this call only if the call is still there.
	if ioctl(l.FD, unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&n.ID)) != nil {
		return
	}
	for _, e := range events {
		l.Emit(e)
	}
	r := response{ID: n.ID}
	if proceed {
		r.Flags = goOn
	} else {
		r.Errno = -int32(errno)
	}
	_ = ioctl(l.FD, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r))
}

// decide says what to record, and whether the kernel is to carry the call out;
// when not, it fails with errno (0: succeeds with 0).
func (l *Listener) decide(n notification) (events []Event, errno unix.Errno, proceed bool) {
	mem := memory{pid: int(n.Pid)}
	switch n.Number {
	case unix.SYS_CONNECT:
		return l.connect(n, mem.address(n.Args[1], n.Args[2]))
	case unix.SYS_SENDTO:
		return l.send(mem.address(n.Args[4], n.Args[5]), "udp")
	case unix.SYS_SENDMSG, unix.SYS_SENDMMSG:
		header := mem.read(n.Args[1], 12)
		if len(header) < 12 || binary.NativeEndian.Uint64(header) == 0 {
			return nil, 0, true
		}
		return l.send(mem.address(binary.NativeEndian.Uint64(header), uint64(binary.NativeEndian.Uint32(header[8:]))), "udp")
	case unix.SYS_EXECVE:
		return mem.exec(mem.resolve(unix.AT_FDCWD, mem.text(n.Args[0])), n.Args[1]), 0, true
	case unix.SYS_EXECVEAT:
		return mem.exec(mem.resolve(int32(n.Args[0]), mem.text(n.Args[1])), n.Args[2]), 0, true
	}
	if call, ok := writeCall(n.Number); ok {
		return l.write(mem, n, call), 0, true
	}
	return nil, 0, true
}

func (l *Listener) write(mem memory, n notification, call pathCall) []Event {
	if call.how != 0 {
		how := mem.read(n.Args[call.how], 8)
		if len(how) == 8 && binary.NativeEndian.Uint64(how)&mayWrite == 0 {
			return nil
		}
	}
	arguments := []int{call.path}
	if call.second != 0 {
		arguments = append(arguments, call.second)
	}
	var events []Event
	for _, argument := range arguments {
		dir := int32(unix.AT_FDCWD)
		if call.at {
			dir = int32(n.Args[argument-1])
		}
		if p := mem.resolve(dir, mem.text(n.Args[argument])); l.Refuses(p) {
			events = append(events, Event{Refused, p})
		}
	}
	return events
}

func (l *Listener) connect(n notification, to address) ([]Event, unix.Errno, bool) {
	if to.unix != "" && !strings.HasPrefix(to.unix, "@") {
		return nil, l.connectUnix(n, to.unix), false
	}
	return l.send(to, protocol(int(n.Pid), int(int32(n.Args[0]))))
}

// send judges an address; a network contact outside is refused here already, so
// that the server need not wait for a time-out.
func (l *Listener) send(to address, protocol string) ([]Event, unix.Errno, bool) {
	if !to.ip.IsValid() {
		if to.unix != "" && !strings.HasPrefix(to.unix, "@") {
			return nil, unix.ECONNREFUSED, false
		}
		return nil, 0, true
	}
	target := protocol + "://" + netip.AddrPortFrom(to.ip, to.port).String()
	switch {
	case to.ip.IsLoopback() && to.port == 53:
		return nil, 0, true // the sandbox's own DNS, which records the name
	case to.ip.IsLoopback() || to.ip.IsUnspecified():
		return []Event{{Loopback, target}}, 0, true
	}
	return []Event{{Contact, target}}, unix.ENETUNREACH, false
}

// connectUnix makes the connection for the program, to a socket that was checked
// first: a bind mount would let it reach a service of the machine, and the
// program could change the path between a check and its own call.
func (l *Listener) connectUnix(n notification, name string) unix.Errno {
	mem := memory{pid: int(n.Pid)}
	target := fmt.Sprintf("/proc/%d/root%s", n.Pid, mem.resolve(unix.AT_FDCWD, name))
	file, err := unix.Open(target, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return unix.ENOENT
	}
	defer func() { _ = unix.Close(file) }()
	var st unix.Stat_t
	if err := unix.Fstat(file, &st); err != nil || !l.Ours(&st) {
		return unix.ECONNREFUSED
	}
	pidfd, err := unix.PidfdOpen(int(n.Pid), 0)
	if err != nil {
		return unix.ECONNREFUSED
	}
	defer func() { _ = unix.Close(pidfd) }()
	socket, err := unix.PidfdGetfd(pidfd, int(int32(n.Args[0])), 0)
	if err != nil {
		return unix.ECONNREFUSED
	}
	defer func() { _ = unix.Close(socket) }()
	err = unix.Connect(socket, &unix.SockaddrUnix{Name: fmt.Sprintf("/proc/self/fd/%d", file)})
	if errno, ok := err.(unix.Errno); ok {
		return errno
	}
	return 0
}

// protocol names the kind of a socket: its type is asked of a copy of the
// descriptor.
func protocol(pid, fd int) string {
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return "ip"
	}
	defer func() { _ = unix.Close(pidfd) }()
	socket, err := unix.PidfdGetfd(pidfd, fd, 0)
	if err != nil {
		return "ip"
	}
	defer func() { _ = unix.Close(socket) }()
	kind, err := unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_TYPE)
	switch {
	case err != nil:
		return "ip"
	case kind == unix.SOCK_STREAM:
		return "tcp"
	case kind == unix.SOCK_DGRAM:
		return "udp"
	}
	return "ip"
}

// address is a decoded struct sockaddr; the zero value is one that does not matter.
type address struct {
	ip   netip.Addr
	port uint16
	unix string // a path, or @name of the abstract namespace
}

// memory reads the stopped program's memory.
type memory struct{ pid int }

func (m memory) read(at uint64, n int) []byte {
	if at == 0 || n == 0 {
		return nil
	}
	buffer := make([]byte, n)
	local := []unix.Iovec{{Base: &buffer[0]}}
	local[0].SetLen(n)
	got, err := unix.ProcessVMReadv(m.pid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: n}}, 0)
	if err != nil || got < 0 {
		return nil
	}
	return buffer[:got]
}

// text reads a NUL-terminated string, page by page: what follows it may not be mapped.
func (m memory) text(at uint64) string {
	const page = 4096
	var out []byte
	for len(out) < page {
		chunk := m.read(at, int(page-at%page))
		if len(chunk) == 0 {
			break
		}
		if end := strings.IndexByte(string(chunk), 0); end >= 0 {
			return string(append(out, chunk[:end]...))
		}
		out = append(out, chunk...)
		at += uint64(len(chunk))
	}
	return string(out)
}

func (m memory) address(at, length uint64) address {
	raw := m.read(at, int(min(length, 128)))
	if len(raw) < 2 {
		return address{}
	}
	switch binary.NativeEndian.Uint16(raw) {
	case unix.AF_INET:
		if len(raw) >= 8 {
			return address{ip: netip.AddrFrom4([4]byte(raw[4:8])), port: binary.BigEndian.Uint16(raw[2:])}
		}
	case unix.AF_INET6:
		if len(raw) >= 24 {
			return address{ip: netip.AddrFrom16([16]byte(raw[8:24])).Unmap(), port: binary.BigEndian.Uint16(raw[2:])}
		}
	case unix.AF_UNIX:
		name := string(raw[2:])
		if strings.HasPrefix(name, "\x00") {
			return address{unix: "@" + name[1:]}
		}
		name, _, _ = strings.Cut(name, "\x00")
		return address{unix: name}
	}
	return address{}
}

// resolve makes a path absolute as the program sees it.
func (m memory) resolve(dir int32, name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	link := fmt.Sprintf("/proc/%d/cwd", m.pid)
	if dir != unix.AT_FDCWD {
		link = fmt.Sprintf("/proc/%d/fd/%d", m.pid, dir)
	}
	base, err := os.Readlink(link)
	if err != nil {
		return name
	}
	return path.Join(base, name)
}

// exec records a program that exists; a search through PATH tries many that do not.
func (m memory) exec(program string, argv uint64) []Event {
	if _, err := os.Stat(fmt.Sprintf("/proc/%d/root%s", m.pid, program)); err != nil {
		return nil
	}
	line := program
	for i := uint64(1); i < 8; i++ {
		pointer := m.read(argv+8*i, 8)
		if len(pointer) < 8 || binary.NativeEndian.Uint64(pointer) == 0 {
			break
		}
		line += " " + m.text(binary.NativeEndian.Uint64(pointer))
	}
	return []Event{{Exec, line}}
}
