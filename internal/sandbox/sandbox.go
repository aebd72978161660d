// Package sandbox gives a server a world of its own: its writes land in layers
// that are thrown away, nothing outside can be reached, and every attempt is
// recorded. See docs/guide/sandbox.md for what it holds and what it does not.
//
// One World is one state S0 to be: a fresh root, in which programs are run one
// after the other (set-up commands, the server, the server again). Everything
// in it lives in memory of namespaces that end with the World, and with ax-check.
package sandbox

import (
	"errors"
	"io"
	"os"
	"time"
)

// Places of the world as the server sees them. They exist on no machine, so they
// hide nothing of it.
const (
	Base      = "/ax-check"
	Workspace = Base + "/workspace"
	Home      = Base + "/home"
)

// Spec says what a world needs; the zero value is a world for verdicts.
type Spec struct {
	// Network keeps the machine's network: for preparations, never for verdicts.
	Network bool
	// Writable folders of the machine are written for real.
	Writable []string
	// Staging is a folder of the machine that is removed if ax-check is killed.
	Staging string
	// Readable paths are left out of the masks (registry settings of a preparation).
	Readable []string
}

// scratchBytes caps everything that one world can write.
const scratchBytes = 2 << 30

// Command is a program to run in a World.
type Command struct {
	Argv []string
	Dir  string
	Env  []string
	// Recorded reports contacts, programs and refused writes through TakeEvents,
	// and refuses contacts.
	Recorded bool
}

// Layer is one part of the root that the server sees.
type Layer struct {
	// Mount is its path as the server sees it.
	Mount string
	// Upper is the open folder that holds what was written.
	Upper *os.File
	// Lower is the machine's folder below it; "" when there is none.
	Lower string
	// Open opens a path below Upper that this user may not read.
	Open func(rel string) (*os.File, error)
}

// EventKind says what was recorded.
type EventKind string

// See the seccomp package; Lookup is a name asked of DNS.
const (
	Contact  EventKind = "contact"
	Lookup   EventKind = "lookup"
	Loopback EventKind = "loopback"
	Exec     EventKind = "exec"
	Refused  EventKind = "refused"
)

// Event is one act of a program in the world.
type Event struct {
	Kind EventKind
	// Target is protocol://host:port, a name, a command line or a path.
	Target string
	At     time.Time
}

// Process is a program that runs in a World.
type Process struct {
	Stdin  io.WriteCloser
	Stdout io.ReadCloser
	// Done is closed when the program has ended; Status is valid from then on.
	Done   <-chan struct{}
	status *int
	stderr *tail
}

// Status is the exit status, or 128 plus the signal. Preconditions: Done is closed.
func (p *Process) Status() int { return *p.status }

// StderrTail is the last part of what the program printed to stderr. After its
// end that is all that it printed itself.
func (p *Process) StderrTail() string {
	select {
	case <-p.Done:
		p.stderr.finish()
	default:
	}
	return p.stderr.String()
}

// SettleOptions bound a wait for quiet.
type SettleOptions struct {
	// Max is when to give up.
	Max time.Duration
	// Horizon is how far ahead a pending timer is waited for.
	Horizon time.Duration
	// Ticking is for a server that keeps timers running anyway, as an earlier
	// Settled found out: after so long, timers are no longer waited for. 0 waits
	// for every timer inside the horizon.
	Ticking time.Duration
}

// Settled says how a wait for quiet ended.
type Settled struct {
	OK bool
	// Why says what was still going on when OK is false.
	Why string
	// Pending is the nearest timer beyond the horizon; 0 when there was none.
	Pending time.Duration
	// Ticking is the longest timer inside the horizon that was waited for, 0 when
	// there was none. When OK is false, timers alone kept the server from
	// settling: they are periodic then.
	Ticking time.Duration
}

// Support says which isolation this machine gives.
type Support struct {
	// OK is true when worlds can be made.
	OK bool
	// Mode is "root" or "user namespace".
	Mode string
	// Problem and Remedies say what is missing and how to get it, one step each.
	Problem  string
	Remedies []string
	// Notes are facts about the machine for the curious.
	Notes []string
}

// UnsupportedError says that this machine gives no isolation.
type UnsupportedError struct{ Support Support }

func (e *UnsupportedError) Error() string {
	return "no isolation on this machine: " + e.Support.Problem
}

// ErrGone is returned for requests to a world whose first process has ended.
var ErrGone = errors.New("the sandbox has ended")
