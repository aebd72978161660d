package seccomp

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// EventKind says what a program did.
type EventKind string

// Asked turned to the sandbox's own DNS, which tells the name a little later.
// Contact went outside and was refused; Loopback stayed inside the sandbox;
// Exec ran a program; Refused is a write that the sandbox made fail although
// the machine would have allowed it.
const (
	Asked    EventKind = "asked"
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
	// Ours tells whether an open socket file belongs to the world. It is called
	// from many goroutines.
	Ours func(fd int) bool

	connecting sync.WaitGroup
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
	defer l.connecting.Wait()
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
	mem := memory{pid: int(n.Pid)}
	if n.Number == unix.SYS_CONNECT {
		raw := mem.read(n.Args[1], int(min(n.Args[2], maxAddress)))
		v := judge(protocol(int(n.Pid), int(int32(n.Args[0]))), decode(raw))
		if l.record(n, v) {
			// A full queue makes this one wait, and nobody else.
			l.connecting.Go(func() { l.answer(n, l.connect(n, raw, v)) })
		}
		return
	}
	v := l.decide(n, mem)
	if l.record(n, v) {
		l.answer(n, v)
	}
}

// record emits the events of a call that is still there.
func (l *Listener) record(n notification, v verdict) bool {
	if !l.valid(n) {
		return false
	}
	for _, e := range v.events {
		l.Emit(e)
	}
	return true
}

// valid reports whether the call is still there: only then did the memory that
// was read belong to it.
func (l *Listener) valid(n notification) bool {
	return ioctl(l.FD, unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&n.ID)) == nil
}

func (l *Listener) answer(n notification, v verdict) {
	r := response{ID: n.ID}
	if v.proceed {
		r.Flags = goOn
	} else {
		r.Errno = -int32(v.errno)
	}
	_ = ioctl(l.FD, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r))
}

// verdict is what to record of a call, and whether the kernel is to carry it
// out; when not, it fails with errno (0: succeeds with 0).
type verdict struct {
	events  []Event
	errno   unix.Errno
	proceed bool
}

func (l *Listener) decide(n notification, mem memory) verdict {
	switch n.Number {
	case unix.SYS_SENDTO:
		return judge("udp", mem.address(n.Args[4], n.Args[5]))
	case unix.SYS_SENDMSG:
		return judge("udp", mem.header(n.Args[1]))
	case unix.SYS_SENDMMSG:
		return judge("udp", mem.headers(n.Args[1], n.Args[2])...)
	case unix.SYS_EXECVE:
		return verdict{events: mem.exec(mem.resolve(unix.AT_FDCWD, mem.text(n.Args[0])), n.Args[1]), proceed: true}
	case unix.SYS_EXECVEAT:
		return verdict{events: mem.exec(mem.resolve(int32(n.Args[0]), mem.text(n.Args[1])), n.Args[2]), proceed: true}
	}
	if call, ok := writeCall(n.Number); ok {
		return verdict{events: l.write(mem, n, call), proceed: true}
	}
	return verdict{proceed: true}
}

// judge judges the addresses of one call; a network contact outside is refused
// here already, so that the server need not wait for a time-out. A socket file
// is refused too: only connect has a way to one.
func judge(protocol string, addresses ...address) verdict {
	v := verdict{proceed: true}
	for _, to := range addresses {
		target := protocol + "://" + netip.AddrPortFrom(to.ip, to.port).String()
		switch {
		case to.isFile():
			v.errno, v.proceed = unix.ECONNREFUSED, false
		case !to.ip.IsValid():
		case to.ip.IsLoopback() && to.port == 53: // the sandbox's own DNS, which records the name
			v.events = append(v.events, Event{Kind: Asked})
		case to.ip.IsLoopback() || to.ip.IsUnspecified():
			v.events = append(v.events, Event{Loopback, target})
		default:
			v.events = append(v.events, Event{Contact, target})
			v.errno, v.proceed = unix.ENETUNREACH, false
		}
	}
	return v
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

// connect makes the connection for the program, with a copy of the socket and of
// the address: the program could change its own after a look at them, and reach
// a service of the machine whose socket file is shown.
func (l *Listener) connect(n notification, raw []byte, v verdict) verdict {
	to := decode(raw)
	if !v.proceed && !to.isFile() {
		return v
	}
	socket, err := descriptorOf(int(n.Pid), int(int32(n.Args[0])))
	if err != nil {
		return verdict{errno: unix.EBADF}
	}
	defer func() { _ = unix.Close(socket) }()
	if to.isFile() {
		return verdict{errno: l.connectFile(socket, memory{pid: int(n.Pid)}, to.unix)}
	}
	if len(raw) == 0 {
		return verdict{errno: unix.EINVAL}
	}
	_, _, errno := unix.Syscall(unix.SYS_CONNECT, uintptr(socket), uintptr(unsafe.Pointer(&raw[0])), uintptr(len(raw)))
	return verdict{errno: errno}
}

// connectFile connects to a socket file of the world.
func (l *Listener) connectFile(socket int, mem memory, name string) unix.Errno {
	file, err := mem.open(mem.resolve(unix.AT_FDCWD, name))
	if err != nil {
		return errno(err)
	}
	defer func() { _ = unix.Close(file) }()
	if !l.Ours(file) {
		return unix.ECONNREFUSED
	}
	return errno(unix.Connect(socket, &unix.SockaddrUnix{Name: fmt.Sprintf("/proc/self/fd/%d", file)}))
}

// errno is the number of an error of the kernel; 0 for nil.
func errno(err error) unix.Errno {
	number, ok := err.(unix.Errno)
	if err != nil && !ok {
		return unix.ECONNREFUSED
	}
	return number
}

// descriptorOf copies a descriptor of a thread.
func descriptorOf(tid, fd int) (int, error) {
	pidfd, err := unix.PidfdOpen(processOf(tid), 0)
	if err != nil {
		return -1, err
	}
	defer func() { _ = unix.Close(pidfd) }()
	return unix.PidfdGetfd(pidfd, fd, 0)
}

// processOf is the process of a thread: pidfd_open(2) takes no other.
func processOf(tid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", tid))
	if err != nil {
		return tid
	}
	for line := range strings.Lines(string(status)) {
		if text, found := strings.CutPrefix(line, "Tgid:"); found {
			if pid, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
				return pid
			}
		}
	}
	return tid
}

// protocol names the kind of a socket: its type is asked of a copy of the
// descriptor.
func protocol(tid, fd int) string {
	socket, err := descriptorOf(tid, fd)
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

// isFile reports whether the address is a socket file.
func (a address) isFile() bool { return a.unix != "" && !strings.HasPrefix(a.unix, "@") }

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

// maxAddress is the size of a struct sockaddr_storage.
const maxAddress = 128

func (m memory) address(at, length uint64) address {
	return decode(m.read(at, int(min(length, maxAddress))))
}

func decode(raw []byte) address {
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

// header reads the address out of a struct msghdr.
func (m memory) header(at uint64) address {
	raw := m.read(at, 12)
	if len(raw) < 12 {
		return address{}
	}
	return m.address(binary.NativeEndian.Uint64(raw), uint64(binary.NativeEndian.Uint32(raw[8:])))
}

// headers reads the addresses out of an array of struct mmsghdr.
func (m memory) headers(at, n uint64) []address {
	const size, most = 64, 1024 // the kernel takes no more: UIO_MAXIOV
	var found []address
	for i := range min(n, most) {
		found = append(found, m.header(at+i*size))
	}
	return found
}

// open opens a path of the program as a place only; links lead where they lead
// the program.
func (m memory) open(name string) (int, error) {
	root, err := unix.Open(fmt.Sprintf("/proc/%d/root", m.pid), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer func() { _ = unix.Close(root) }()
	return unix.Openat2(root, name, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT})
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
	file, err := m.open(program)
	if err != nil {
		return nil
	}
	_ = unix.Close(file)
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
