package seccomp

import (
	"encoding/binary"
	"net/netip"
	"os"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// run interprets a filter as the kernel does (seccomp(2), classic BPF).
func run(t *testing.T, p program, data [64]byte) uint32 {
	t.Helper()
	var accumulator uint32
	for pc := 0; pc < len(p); pc++ {
		in := p[pc]
		var taken bool
		switch in.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			accumulator = binary.NativeEndian.Uint32(data[in.K:])
			continue
		case unix.BPF_RET | unix.BPF_K:
			return in.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			taken = accumulator == in.K
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			taken = accumulator >= in.K
		case unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K:
			taken = accumulator&in.K != 0
		default:
			t.Fatalf("instruction %d has the unknown code %#x", pc, in.Code)
		}
		if taken {
			pc += int(in.Jt)
		} else {
			pc += int(in.Jf)
		}
	}
	t.Fatal("the filter has no end")
	return 0
}

// call is a struct seccomp_data.
func call(arch uint32, number int64, args ...uint64) (data [64]byte) {
	binary.NativeEndian.PutUint32(data[offNumber:], uint32(number))
	binary.NativeEndian.PutUint32(data[offArch:], arch)
	for i, arg := range args {
		binary.NativeEndian.PutUint64(data[offArgs+8*i:], arg)
	}
	return data
}

func TestFilters(t *testing.T) {
	const pointer = 0x7fff_0000_1000
	refuserOnly := append(refuser(), unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: allow})
	for _, c := range []struct {
		name              string
		data              [64]byte
		recorded, refused uint32
	}{
		{"a read", call(auditArch, unix.SYS_READ, 0, pointer, 1), allow, allow},
		{"another architecture", call(unix.AUDIT_ARCH_I386, unix.SYS_READ), kill, kill},
		{"io_uring", call(auditArch, unix.SYS_IO_URING_SETUP), noSys, noSys},
		{"the keyring", call(auditArch, unix.SYS_KEYCTL), noSys, noSys},
		{"connect", call(auditArch, unix.SYS_CONNECT, 3, pointer, 16), notify, allow},
		{"execve", call(auditArch, unix.SYS_EXECVE, pointer), notify, allow},
		{"sendto a peer", call(auditArch, unix.SYS_SENDTO, 3, pointer, 1, 0, 0, 0), allow, allow},
		{"sendto an address", call(auditArch, unix.SYS_SENDTO, 3, pointer, 1, 0, pointer, 16), notify, allow},
		{"sendto an address in the lower half", call(auditArch, unix.SYS_SENDTO, 3, pointer, 1, 0, 0x1000, 16), notify, allow},
		{"sendto an address in the upper half", call(auditArch, unix.SYS_SENDTO, 3, pointer, 1, 0, 0x7f00_0000_0000, 16), notify, allow},
		{"openat to read", call(auditArch, unix.SYS_OPENAT, 0, pointer, unix.O_RDONLY|unix.O_CLOEXEC), allow, allow},
		{"openat to write", call(auditArch, unix.SYS_OPENAT, 0, pointer, unix.O_WRONLY), notify, allow},
		{"openat to both", call(auditArch, unix.SYS_OPENAT, 0, pointer, unix.O_RDWR), notify, allow},
		{"openat to make", call(auditArch, unix.SYS_OPENAT, 0, pointer, unix.O_CREAT), notify, allow},
		{"openat to truncate", call(auditArch, unix.SYS_OPENAT, 0, pointer, unix.O_TRUNC), notify, allow},
		{"openat2", call(auditArch, unix.SYS_OPENAT2, 0, pointer, pointer), notify, allow},
		{"unlinkat", call(auditArch, unix.SYS_UNLINKAT, 0, pointer), notify, allow},
		{"renameat2", call(auditArch, unix.SYS_RENAMEAT2, 0, pointer, 0, pointer), notify, allow},
		{"a socket of IPv6", call(auditArch, unix.SYS_SOCKET, unix.AF_INET6), allow, allow},
		{"a socket of files", call(auditArch, unix.SYS_SOCKET, unix.AF_UNIX), allow, allow},
		{"a socket of the kernel", call(auditArch, unix.SYS_SOCKET, unix.AF_NETLINK), allow, allow},
		{"a socket to the host of a virtual machine", call(auditArch, unix.SYS_SOCKET, unix.AF_VSOCK), noKind, noKind},
		{"a family with rubbish above", call(auditArch, unix.SYS_SOCKET, 1<<32|unix.AF_VSOCK), noKind, noKind},
		{"close", call(auditArch, unix.SYS_CLOSE, 3), allow, allow},
		{"the last known call", call(auditArch, 462), allow, allow},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := run(t, recorder(), c.data); got != c.recorded {
				t.Errorf("recorded: %#x, want %#x", got, c.recorded)
			}
			if got := run(t, refuserOnly, c.data); got != c.refused {
				t.Errorf("not recorded: %#x, want %#x", got, c.refused)
			}
		})
	}
	if foreignBit != 0 {
		for _, number := range []int64{foreignBit | unix.SYS_READ, foreignBit | unix.SYS_IO_URING_SETUP, -1} {
			if got := run(t, recorder(), call(auditArch, number)); got != noSys {
				t.Errorf("call %#x: %#x, want ENOSYS", number, got)
			}
		}
	}
}

func TestDecode(t *testing.T) {
	in4 := unix.RawSockaddrInet4{Family: unix.AF_INET, Port: 0x5000, Addr: [4]byte{192, 0, 2, 1}}
	in6 := unix.RawSockaddrInet6{Family: unix.AF_INET6, Port: 0xbb01, Addr: netip.MustParseAddr("2001:db8::1").As16()}
	mapped := unix.RawSockaddrInet6{Family: unix.AF_INET6, Port: 0x5000, Addr: netip.MustParseAddr("::ffff:192.0.2.1").As16()}
	local := func(name string) []byte { return append([]byte{unix.AF_UNIX, 0}, name...) }
	for _, c := range []struct {
		name string
		raw  []byte
		want address
	}{
		{"IPv4", unsafe.Slice((*byte)(unsafe.Pointer(&in4)), unix.SizeofSockaddrInet4), address{ip: netip.MustParseAddr("192.0.2.1"), port: 80}},
		{"IPv6", unsafe.Slice((*byte)(unsafe.Pointer(&in6)), unix.SizeofSockaddrInet6), address{ip: netip.MustParseAddr("2001:db8::1"), port: 443}},
		{"IPv4 in IPv6", unsafe.Slice((*byte)(unsafe.Pointer(&mapped)), unix.SizeofSockaddrInet6), address{ip: netip.MustParseAddr("192.0.2.1"), port: 80}},
		{"a path, not cut", local("/tmp/s"), address{unix: "/tmp/s"}},
		{"a path and what lies after it", local("/tmp/s\x00rubbish"), address{unix: "/tmp/s"}},
		{"an abstract name", local("\x00name"), address{unix: "@name"}},
		{"no name", local(""), address{}},
		{"a short IPv4", []byte{unix.AF_INET, 0, 0}, address{}},
		{"a short IPv6", []byte{unix.AF_INET6, 0, 0, 80, 0}, address{}},
		{"one byte", []byte{2}, address{}},
		{"nothing", nil, address{}},
	} {
		if diff := cmp.Diff(c.want, decode(c.raw), cmp.AllowUnexported(address{}), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte{2, 0, 0, 80, 127, 0, 0, 1})
	f.Add([]byte{1, 0, 0, 'x'})
	f.Fuzz(func(t *testing.T, raw []byte) {
		if a := decode(raw); a.unix != "" && a.ip.IsValid() {
			t.Errorf("both a file and an address: %+v", a)
		}
	})
}

func TestJudge(t *testing.T) {
	at := func(text string) address {
		a := netip.MustParseAddrPort(text)
		return address{ip: a.Addr(), port: a.Port()}
	}
	for _, c := range []struct {
		name string
		to   []address
		want verdict
	}{
		{"outside", []address{at("192.0.2.1:80")}, verdict{events: []Event{{Contact, "tcp://192.0.2.1:80"}}, errno: unix.ENETUNREACH}},
		{"loopback", []address{at("[::1]:80")}, verdict{events: []Event{{Loopback, "tcp://[::1]:80"}}, proceed: true}},
		{"any address, which is loopback", []address{at("0.0.0.0:80")}, verdict{events: []Event{{Loopback, "tcp://0.0.0.0:80"}}, proceed: true}},
		{"the sandbox's own DNS", []address{at("127.0.0.1:53")}, verdict{events: []Event{{Kind: Asked}}, proceed: true}},
		{"DNS outside", []address{at("192.0.2.1:53")}, verdict{events: []Event{{Contact, "tcp://192.0.2.1:53"}}, errno: unix.ENETUNREACH}},
		{"a socket file", []address{{unix: "/s"}}, verdict{errno: unix.ECONNREFUSED}},
		{"an abstract socket", []address{{unix: "@s"}}, verdict{proceed: true}},
		{"no address", []address{{}}, verdict{proceed: true}},
		{"none", nil, verdict{proceed: true}},
		{"the second of two", []address{at("127.0.0.1:9"), at("192.0.2.1:9")}, verdict{events: []Event{{Loopback, "tcp://127.0.0.1:9"}, {Contact, "tcp://192.0.2.1:9"}}, errno: unix.ENETUNREACH}},
	} {
		if diff := cmp.Diff(c.want, judge("tcp", c.to...), cmp.AllowUnexported(verdict{})); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// The memory that is read here is this test's own.
func TestMemory(t *testing.T) {
	m := memory{pid: os.Getpid()}
	text := append(make([]byte, 5000), "end\x00after"...)
	for i := range text[:5000] {
		text[i] = 'x'
	}
	at := func(i int) uint64 { return uint64(uintptr(unsafe.Pointer(&text[i]))) }
	for _, c := range []struct {
		name string
		at   uint64
		want int // length
	}{
		{"short", at(5000), 3},
		{"across a page", at(2000), 3003},
		{"null", 0, 0},
		{"not mapped", 8, 0},
	} {
		if got := m.text(c.at); len(got) != c.want {
			t.Errorf("%s: %d bytes, want %d", c.name, len(got), c.want)
		}
	}
	if got, want := m.resolve(unix.AT_FDCWD, "/a/../b//c"), "/b/c"; got != want {
		t.Errorf("resolve = %q, want %q", got, want)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.resolve(unix.AT_FDCWD, "x"), here+"/x"; got != want {
		t.Errorf("resolve = %q, want %q", got, want)
	}
}
