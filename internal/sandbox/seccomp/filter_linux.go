// Package seccomp records what a program contacts, runs and writes, by the
// kernel's user notification (seccomp_unotify(2)): the kernel stops a listed
// call, asks, and goes on when answered.
//
// It records, and it refuses contacts. It is not the fence: the fence is the
// network namespace without a route and the layers over every folder.
package seccomp

import (
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pathCall says where a call that may write finds its paths: argument numbers.
type pathCall struct {
	name   string
	at     bool // the path's folder descriptor is the argument before it
	path   int
	second int // a second path that is written too; 0 when there is none
	flags  int // open flags; 0 when every such call writes
	how    int // pointer to a struct open_how; 0 when there is none
}

var atWrites = map[int32]pathCall{
	unix.SYS_OPENAT:    {name: "openat", at: true, path: 1, flags: 2},
	unix.SYS_OPENAT2:   {name: "openat2", at: true, path: 1, how: 2},
	unix.SYS_UNLINKAT:  {name: "unlinkat", at: true, path: 1},
	unix.SYS_MKDIRAT:   {name: "mkdirat", at: true, path: 1},
	unix.SYS_MKNODAT:   {name: "mknodat", at: true, path: 1},
	unix.SYS_RENAMEAT:  {name: "renameat", at: true, path: 1, second: 3},
	unix.SYS_RENAMEAT2: {name: "renameat2", at: true, path: 1, second: 3},
	unix.SYS_LINKAT:    {name: "linkat", at: true, path: 3},
	unix.SYS_SYMLINKAT: {name: "symlinkat", at: true, path: 2},
	unix.SYS_FCHMODAT:  {name: "fchmodat", at: true, path: 1},
	unix.SYS_FCHOWNAT:  {name: "fchownat", at: true, path: 1},
	unix.SYS_UTIMENSAT: {name: "utimensat", at: true, path: 1},
}

func writeCall(nr int32) (pathCall, bool) {
	if c, ok := legacyWrites[nr]; ok {
		return c, true
	}
	c, ok := atWrites[nr]
	return c, ok
}

// mayWrite are the open(2) flags with which an open can change something.
const mayWrite = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC

// denied are calls that no server needs and that reach past the namespaces
// (the kernel's keyrings, tracing, BPF) or past this filter (io_uring). They
// answer as on a kernel that does not have them.
var denied = []int32{
	unix.SYS_IO_URING_SETUP, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
}

// families are the kinds of sockets that the namespaces hold. Others, such as
// the one between a virtual machine and its host, would reach past them.
var families = []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK, unix.AF_PACKET}

// Offsets in struct seccomp_data.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16
)

// program assembles the filter.
type program []unix.SockFilter

func (p *program) load(offset uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset})
}

// jump skips yes instructions when the comparison holds, else no instructions.
func (p *program) jump(op uint16, k uint32, yes, no uint8) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, Jt: yes, Jf: no, K: k})
}

func (p *program) end(action uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action})
}

const (
	allow  = unix.SECCOMP_RET_ALLOW
	notify = unix.SECCOMP_RET_USER_NOTIF
	kill   = unix.SECCOMP_RET_KILL_PROCESS
	noSys  = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	noKind = unix.SECCOMP_RET_ERRNO | uint32(unix.EAFNOSUPPORT)
)

// refuser refuses what is denied, and leaves the number of any other call loaded
// for what follows.
func refuser() program {
	var p program
	p.load(offArch)
	p.jump(unix.BPF_JEQ, auditArch, 1, 0)
	p.end(kill)
	p.load(offNumber)
	if foreignBit != 0 {
		p.jump(unix.BPF_JGE, foreignBit, 0, 1)
		p.end(noSys)
	}
	for _, nr := range denied {
		p.jump(unix.BPF_JEQ, uint32(nr), 0, 1)
		p.end(noSys)
	}
	// The family is an int, in the lower half of argument 0.
	p.jump(unix.BPF_JEQ, unix.SYS_SOCKET, 0, uint8(len(families))+3)
	p.load(offArgs)
	for i, family := range families {
		p.jump(unix.BPF_JEQ, family, uint8(len(families)-i), 0)
	}
	p.end(noKind)
	p.end(allow)
	return p
}

// recorder is the filter of a program that is recorded.
func recorder() program {
	p := refuser()
	for _, nr := range []int32{unix.SYS_CONNECT, unix.SYS_SENDMSG, unix.SYS_SENDMMSG, unix.SYS_EXECVE, unix.SYS_EXECVEAT} {
		p.jump(unix.BPF_JEQ, uint32(nr), 0, 1)
		p.end(notify)
	}
	// sendto counts only with an address, a 64-bit pointer in argument 4.
	p.jump(unix.BPF_JEQ, unix.SYS_SENDTO, 0, 6)
	p.load(offArgs + 8*4)
	p.jump(unix.BPF_JEQ, 0, 0, 2)
	p.load(offArgs + 8*4 + 4)
	p.jump(unix.BPF_JEQ, 0, 1, 0)
	p.end(notify)
	p.end(allow)
	for _, nr := range writeNumbers() {
		call, _ := writeCall(nr)
		if call.flags == 0 {
			p.jump(unix.BPF_JEQ, uint32(nr), 0, 1)
			p.end(notify)
			continue
		}
		p.jump(unix.BPF_JEQ, uint32(nr), 0, 4)
		p.load(uint32(offArgs + 8*call.flags))
		p.jump(unix.BPF_JSET, mayWrite, 0, 1)
		p.end(notify)
		p.end(allow)
	}
	p.end(allow)
	return p
}

func writeNumbers() []int32 {
	var numbers []int32
	for nr := range legacyWrites {
		numbers = append(numbers, nr)
	}
	for nr := range atWrites {
		numbers = append(numbers, nr)
	}
	slices.Sort(numbers)
	return numbers
}

// waitKillable (Linux 5.19) keeps signals from restarting a call whose
// notification was already received.
const waitKillable = 1 << 5

// Install puts the recorder on the calling thread and returns its listener.
// Preconditions: the thread is locked and has no_new_privs set.
func Install() (int, error) {
	fd, errno := install(recorder(), unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|waitKillable)
	if errno == unix.EINVAL {
		fd, errno = install(recorder(), unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
	}
	if errno != 0 {
		return -1, fmt.Errorf("installing the recorder: %w", errno)
	}
	return fd, nil
}

// Refuse puts a filter on the calling thread that only refuses what no program
// of a world may do. Preconditions as for Install.
func Refuse() error {
	p := refuser()
	p.end(allow)
	if _, errno := install(p, 0); errno != 0 {
		return fmt.Errorf("installing the filter: %w", errno)
	}
	return nil
}

func install(p program, flags uintptr) (int, unix.Errno) {
	fprog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	fd, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&fprog)))
	runtime.KeepAlive(p)
	return int(fd), errno
}
