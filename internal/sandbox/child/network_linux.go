package child

import (
	"net"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"

	"github.com/ax-check/ax-check/internal/sandbox/control"
)

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, request); err != nil {
		return err
	}
	request.SetUint16(request.Uint16() | unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}

// answerNames serves DNS on loopback: every question is reported and answered
// with "no such name" (RFC 1035), so that nothing outside is found.
func answerNames() error {
	udp, err := net.ListenPacket("udp4", "127.0.0.1:53")
	if err != nil {
		return err
	}
	go func() {
		packet := make([]byte, 4096)
		for {
			n, from, err := udp.ReadFrom(packet)
			if err != nil {
				return
			}
			if reply := answer(packet[:n]); reply != nil {
				_, _ = udp.WriteTo(reply, from)
			}
		}
	}()
	tcp, err := net.Listen("tcp4", "127.0.0.1:53")
	if err != nil {
		return err
	}
	go func() {
		for {
			conn, err := tcp.Accept()
			if err != nil {
				return
			}
			go answerStream(conn)
		}
	}()
	return nil
}

// answerStream serves DNS over TCP: each message has a two-byte length before it.
func answerStream(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	buffer := make([]byte, 2+65535)
	for {
		if _, err := readFull(conn, buffer[:2]); err != nil {
			return
		}
		n := int(buffer[0])<<8 | int(buffer[1])
		if _, err := readFull(conn, buffer[2:2+n]); err != nil {
			return
		}
		reply := answer(buffer[2 : 2+n])
		if reply == nil {
			return
		}
		if _, err := conn.Write(append([]byte{byte(len(reply) >> 8), byte(len(reply))}, reply...)); err != nil {
			return
		}
	}
}

func readFull(conn net.Conn, b []byte) (int, error) {
	read := 0
	for read < len(b) {
		n, err := conn.Read(b[read:])
		read += n
		if err != nil {
			return read, err
		}
	}
	return read, nil
}

func answer(packet []byte) []byte {
	var parser dnsmessage.Parser
	header, err := parser.Start(packet)
	if err != nil || header.Response {
		return nil
	}
	questions, err := parser.AllQuestions()
	if err != nil {
		return nil
	}
	for _, q := range questions {
		name := strings.TrimSuffix(q.Name.String(), ".")
		if ownName(name) {
			name = "" // it counts as an answer, and is nothing to report
		}
		kind := strings.TrimPrefix(q.Type.String(), "Type")
		_ = control.Send(control.FD, control.Message{Kind: control.Lookup, Name: name, Path: kind})
	}
	reply := dnsmessage.Message{
		Header: dnsmessage.Header{
			ID: header.ID, Response: true, RecursionDesired: header.RecursionDesired,
			RecursionAvailable: true, RCode: dnsmessage.RCodeNameError,
		},
		Questions: questions,
	}
	out, err := reply.Pack()
	if err != nil {
		return nil
	}
	return out
}

// ownName reports whether a name is that of the sandbox itself.
func ownName(name string) bool {
	lower := strings.ToLower(name)
	return lower == "" || lower == "localhost" || lower == "sandbox" ||
		strings.HasSuffix(lower, ".localhost") || strings.HasSuffix(lower, ".127.in-addr.arpa")
}
