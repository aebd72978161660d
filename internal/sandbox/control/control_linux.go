// Package control is the wire between ax-check and the first process of a
// sandbox: JSON messages over a Unix socket, with descriptors beside them.
package control

import (
	"encoding/json"
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// FD is where the sandbox's first process, and the launcher of each program,
// find their end of the socket.
const FD = 3

// Kind says what a message asks for or reports.
type Kind string

// From ax-check to the sandbox: Build, Run, Resume, KillAll, Open.
// From the sandbox: Built, Listener, Started, Exited, Killed, Opened, Lookup, Failed.
const (
	Build    Kind = "build"
	Built    Kind = "built"    // with the descriptor of the scratch folder
	Run      Kind = "run"      // with stdin, stdout, stderr
	Listener Kind = "listener" // with the seccomp listener of the program to come
	Resume   Kind = "resume"   // the listener is served: go on to exec
	Started  Kind = "started"
	Exited   Kind = "exited"
	KillAll  Kind = "kill-all"
	Killed   Kind = "killed"
	Open     Kind = "open"
	Opened   Kind = "opened" // with the descriptor
	Lookup   Kind = "lookup" // a name was asked of DNS
	Failed   Kind = "failed"
)

// Message is one datagram. Only the fields that its Kind needs are set.
type Message struct {
	Kind Kind `json:"kind"`
	// ID pairs an answer with its request, and names a program.
	ID     int     `json:"id,omitempty"`
	Config *Config `json:"config,omitempty"`
	Layers []Layer `json:"layers,omitempty"`
	Launch *Launch `json:"launch,omitempty"`
	Path   string  `json:"path,omitempty"`
	Pid    int     `json:"pid,omitempty"`
	Status int     `json:"status,omitempty"` // exit status, or 128 + signal
	Name   string  `json:"name,omitempty"`
	Error  string  `json:"error,omitempty"`
}

// Config says how the world is to be built.
type Config struct {
	// UserNamespace is true when the sandbox lives in a user namespace of its
	// own because the caller is not root of the machine.
	UserNamespace bool `json:"user_namespace"`
	// Network leaves the machine's own network in place (preparation only).
	Network bool `json:"network"`
	// Own folders are the caller's although they lie in folders of others.
	Own []string `json:"own"`
	// Masked paths read as empty.
	Masked []string `json:"masked"`
	// Writable folders of the machine are writable for real (preparation only).
	Writable []string `json:"writable"`
	// Staging is removed when ax-check goes away before it has taken it over.
	Staging string `json:"staging"`
	// ScratchBytes caps everything the world can write.
	ScratchBytes int64 `json:"scratch_bytes"`
	// Folders are made at the start, owned by the caller.
	Folders []string `json:"folders"`
}

// Layer is one part of the root that the server sees.
type Layer struct {
	Mount string `json:"mount"` // path as the server sees it
	Upper string `json:"upper"` // below the scratch folder
	Lower string `json:"lower"` // host path that it covers; "" when plain
}

// Launch is a program to run inside the world.
type Launch struct {
	Argv []string `json:"argv"`
	Dir  string   `json:"dir"`
	Env  []string `json:"env"`
	// Recorded installs the seccomp filter and hands over its listener.
	Recorded bool `json:"recorded"`
}

// Send writes one message with the descriptors beside it.
func Send(fd int, m Message, fds ...int) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	for {
		err = unix.Sendmsg(fd, text, rights, nil, unix.MSG_NOSIGNAL)
		if err != unix.EINTR {
			return err
		}
	}
}

// Receive reads one message; io.EOF means that the other side is gone.
func Receive(fd int) (Message, []int, error) {
	text := make([]byte, 256<<10)
	rights := make([]byte, unix.CmsgSpace(4*4))
	var n, rn, flags int
	var err error
	for {
		n, rn, flags, _, err = unix.Recvmsg(fd, text, rights, unix.MSG_CMSG_CLOEXEC)
		if err != unix.EINTR {
			break
		}
	}
	switch {
	case err != nil:
		return Message{}, nil, err
	case n == 0:
		return Message{}, nil, io.EOF
	case flags&unix.MSG_TRUNC != 0:
		return Message{}, nil, fmt.Errorf("control message longer than %d bytes", len(text))
	}
	var m Message
	if err := json.Unmarshal(text[:n], &m); err != nil {
		return m, nil, fmt.Errorf("control message: %w", err)
	}
	fds, err := descriptors(rights[:rn])
	return m, fds, err
}

func descriptors(rights []byte) ([]int, error) {
	if len(rights) == 0 {
		return nil, nil
	}
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil {
		return nil, err
	}
	var fds []int
	for i := range messages {
		got, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			return nil, err
		}
		fds = append(fds, got...)
	}
	return fds, nil
}

// Pair makes the two ends of the socket.
func Pair() (parent, child int, err error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, -1, fmt.Errorf("making the control socket: %w", err)
	}
	// A long command line or environment must fit into one datagram.
	for _, end := range ends {
		_ = unix.SetsockoptInt(end, unix.SOL_SOCKET, unix.SO_SNDBUF, 512<<10)
	}
	return ends[0], ends[1], nil
}
