//go:build !unix

package process

import (
	"os"
	"os/exec"
	"sync"
	"time"
)

// MaybeGuard does nothing here: there is no guard.
func MaybeGuard() {}

// hold is the server itself. What it started in turn is out of reach.
type hold struct {
	process *os.Process
	over    chan struct{}
	once    sync.Once
}

func start(cmd *exec.Cmd) (*hold, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &hold{process: cmd.Process, over: make(chan struct{})}, nil
}

// stop gives the server a moment to end with its stdin.
func (h *hold) stop() {
	select {
	case <-h.over:
	case <-time.After(afterEOF):
		h.kill()
	}
}

func (h *hold) kill() { _ = h.process.Kill() }

func (h *hold) ended() { h.once.Do(func() { close(h.over) }) }

func status(state *os.ProcessState) int {
	if state == nil {
		return -1
	}
	return state.ExitCode()
}
