package sandbox

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// mode is how namespaces are made.
type mode string

const (
	root          mode = "root"
	userNamespace mode = "user namespace"
)

// machineMode prefers root's way, which covers every path, where the process has
// the power for it.
func machineMode() mode {
	if os.Geteuid() == 0 && hasAdmin() {
		return root
	}
	return userNamespace
}

// hasAdmin reports whether the process may mount: root in a container may not.
func hasAdmin() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if unix.Capget(&header, &data[0]) != nil {
		return false
	}
	return data[0].Effective&(1<<unix.CAP_SYS_ADMIN) != 0
}

// Check finds out whether worlds can be made here, by making one.
func Check(ctx context.Context) Support {
	w, err := Start(ctx, Spec{})
	if err == nil {
		w.Close()
		return Support{OK: true, Mode: string(machineMode()), Notes: notes()}
	}
	var unsupported *UnsupportedError
	if errors.As(err, &unsupported) {
		unsupported.Support.Notes = notes()
		return unsupported.Support
	}
	return Support{Problem: err.Error(), Notes: notes()}
}

func notes() []string {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return nil
	}
	return []string{"kernel " + unix.ByteSliceToString(name.Release[:])}
}

// refused turns a failure to make a world into one that says what to do.
func refused(err error) error {
	s := Support{Mode: string(machineMode()), Problem: err.Error()}
	switch {
	case setting("/proc/sys/user/max_user_namespaces") == "0" && s.Mode != string(root):
		s.Problem = "user namespaces are switched off (user.max_user_namespaces is 0)"
		s.Remedies = []string{"sudo sysctl -w user.max_user_namespaces=15000", "or run ax-check as root"}
	case setting("/proc/sys/kernel/unprivileged_userns_clone") == "0" && s.Mode != string(root):
		s.Problem = "this kernel lets only root make user namespaces (kernel.unprivileged_userns_clone is 0)"
		s.Remedies = []string{"sudo sysctl -w kernel.unprivileged_userns_clone=1", "or run ax-check as root"}
	case setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1" && s.Mode != string(root):
		s.Problem = "AppArmor restricts user namespaces (kernel.apparmor_restrict_unprivileged_userns is 1): " + err.Error()
		s.Remedies = []string{
			"sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 (in CI: as a step before this one)",
			"or run ax-check with sudo",
			"or give the installed binary an AppArmor profile with the rule \"userns,\"",
		}
	case inContainer():
		s.Problem = "this container does not allow namespaces: " + err.Error()
		s.Remedies = []string{
			"run the container with --security-opt seccomp=unconfined --security-opt systempaths=unconfined (Docker, Podman)",
			"or run ax-check on the machine itself",
		}
	case errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, exec.ErrNotFound):
		s.Remedies = []string{"allow unprivileged user namespaces on this machine", "or run ax-check as root"}
	default:
		s.Remedies = []string{"a Linux kernel of version 6.6 or later is needed, with user namespaces and overlayfs"}
	}
	return &UnsupportedError{s}
}

func setting(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

func inContainer() bool {
	for _, mark := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(mark); err == nil {
			return true
		}
	}
	return false
}
