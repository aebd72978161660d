package control

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func pair(t *testing.T) (parent, child int) {
	t.Helper()
	parent, child, err := Pair()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(parent) })
	return parent, child
}

func TestMessagesArriveWithTheirDescriptors(t *testing.T) {
	parent, child := pair(t)
	defer func() { _ = unix.Close(child) }()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	sent := Message{Kind: Run, ID: 3, Launch: &Launch{Argv: []string{"a", "b\x00c"}, Dir: "/", Env: []string{"X=" + strings.Repeat("é", 50_000)}, Recorded: true}}
	if err := Send(parent, sent, int(w.Fd()), int(r.Fd())); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	got, fds, err := Receive(child)
	if err != nil || len(fds) != 2 {
		t.Fatalf("%d descriptors: %v", len(fds), err)
	}
	if diff := cmp.Diff(sent, got); diff != "" {
		t.Error(diff)
	}
	for _, fd := range fds {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("descriptor %d would leak into programs: %v", fd, err)
		}
	}
	if _, err := unix.Write(fds[0], []byte("x")); err != nil {
		t.Error(err)
	}
	b := make([]byte, 1)
	if _, err := r.Read(b); err != nil || b[0] != 'x' {
		t.Errorf("read %q: %v", b, err)
	}
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
}

func TestTheEndIsEOF(t *testing.T) {
	parent, child := pair(t)
	_ = unix.Close(child)
	if _, _, err := Receive(parent); !errors.Is(err, io.EOF) {
		t.Errorf("error %v, want EOF", err)
	}
	if err := Send(parent, Message{Kind: KillAll}); !errors.Is(err, unix.EPIPE) {
		t.Errorf("error %v, want EPIPE", err)
	}
}

func TestRubbishIsAnError(t *testing.T) {
	parent, child := pair(t)
	defer func() { _ = unix.Close(child) }()
	if _, err := unix.Write(parent, []byte("{")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Receive(child); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("error %v, want one about the message", err)
	}
}
