package acceptance

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ax-check/ax-check/internal/testenv"
)

// noNamespaces is the name under which this test binary runs a program with
// user namespaces switched off, as many machines have it.
const noNamespaces = "no-namespaces"

// forbidNamespaces switches them off in the user namespace that it was started
// in, gives up the power to switch them on, and becomes the program. It returns
// only when that failed.
func forbidNamespaces(argv []string) error {
	if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
		return fmt.Errorf("switching user namespaces off: %w", err)
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up capabilities: %w", err)
	}
	return fmt.Errorf("becoming %s: %w", argv[0], unix.Exec(argv[0], argv, os.Environ()))
}

// runWithoutNamespaces runs ax-check as a plain user who may make no namespaces.
func (s *scene) runWithoutNamespaces(t *testing.T, args ...string) result {
	t.Helper()
	var stdout, stderr strings.Builder
	c := exec.CommandContext(t.Context(), "/proc/self/exe")
	c.Args = append([]string{noNamespaces, s.program}, args...)
	c.Dir, c.Env = s.path("here"), s.env
	c.Stdout, c.Stderr = &stdout, &stderr
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: testenv.Stranger, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: testenv.Stranger, HostID: os.Getgid(), Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_SYS_RESOURCE},
	}
	if err := c.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Skipf("this machine makes no user namespace to switch them off in: %v", err)
	}
	return result{c.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// Where user namespaces are missing, verify says so and what to do, and runs
// nothing; doctor says the same, and lint goes on working.
func TestWithoutUserNamespaces(t *testing.T) {
	const (
		problem = "user namespaces are switched off"
		remedy  = "sudo sysctl -w user.max_user_namespaces="
	)
	asRootAndUser(t, func(t *testing.T) {
		s := newScene(t)
		torture := s.copyOf(t, "torture")
		for _, args := range [][]string{
			{"verify", "--format", "json", "--", torture, "ok"},
			{"demo"},
			{"verify", "--", "npx", "-y", "some-server@1.0.0"},
		} {
			r := s.runWithoutNamespaces(t, args...)
			r.wantCode(t, 3)
			if r.stdout != "" || !strings.Contains(r.stderr, problem) || !strings.Contains(r.stderr, remedy) {
				t.Errorf("%v: want the problem and its remedy, got %v", args, r)
			}
		}
		r := s.runWithoutNamespaces(t, "doctor")
		r.wantCode(t, 3)
		if !strings.Contains(r.stdout, problem) || !strings.Contains(r.stdout, remedy) {
			t.Errorf("doctor: want the problem and its remedy, got %v", r)
		}
		r = s.runWithoutNamespaces(t, "lint", "--", torture, "ok")
		r.wantCode(t, 0)
		if !strings.Contains(r.stdout, "2 tools checked") {
			t.Errorf("lint: %v", r)
		}
		s.wantNothingLeft(t)
	})
}
