//go:build unix && !linux

package process

import (
	"os"
	"syscall"
)

func executable() (string, error) { return os.Executable() }

// adopt has no counterpart here: a descendant that leaves the server's process
// group is out of sight.
func adopt() error { return nil }

func grouped() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func (f *family) kill() { _ = syscall.Kill(-f.server, syscall.SIGKILL) }
