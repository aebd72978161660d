// Command claims stands between an MCP client and a server over stdio, and
// changes what the server's tools claim about themselves. Nothing else changes,
// so a verification behind it has every hint to judge against known behaviour.
//
//	claims [-claim safest|cautious|none|as-is] -- CMD ARGS...
//
// The server inherits stdin and stderr; only its stdout passes through here,
// line by line. claims ends when the server does, with its exit code.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// drain is how long a server's own children may go on writing after it ended.
const drain = 500 * time.Millisecond

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, stdin, stdout, stderr *os.File) int {
	flags := flag.NewFlagSet("claims", flag.ContinueOnError)
	flags.SetOutput(stderr)
	name := flags.String("claim", "safest", "what every tool shall claim: safest, cautious, none or as-is")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	change, err := claimNamed(*name)
	if err != nil {
		fmt.Fprintln(stderr, "claims:", err)
		return 2
	}
	if flags.NArg() == 0 {
		fmt.Fprintln(stderr, "claims: no server given: claims [-claim NAME] -- CMD ARGS...")
		return 2
	}
	code, err := serve(flags.Args(), change, stdin, stdout, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "claims:", err)
	}
	return code
}

// serve runs the server until it ends and gives its exit code. Signals that
// ask to end go on to the server; both are in one process group, so that
// whoever ends the group ends both.
func serve(command []string, change claim, stdin, stdout, stderr *os.File) (code int, err error) {
	// The death signal of the server is tied to the thread that starts it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	relay := &relay{out: stdout, change: change}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, relay, stderr
	cmd.SysProcAttr = dieWithParent()
	cmd.WaitDelay = drain

	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return 1, fmt.Errorf("starting the server: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-signals:
				_ = cmd.Process.Signal(s) // a server that is gone needs none
			case <-ended:
				return
			}
		}
	}()
	err = cmd.Wait()
	close(ended)
	if flushed := relay.flush(); flushed != nil {
		return 1, flushed
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return 1, err
	}
	return exitCode(cmd.ProcessState), nil
}

// exitCode follows the shells for a process that a signal ended.
func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// relay rewrites each complete line and writes it on at once.
type relay struct {
	out    io.Writer
	change claim
	line   []byte // the beginning of a line whose end has not come yet
}

func (r *relay) Write(p []byte) (int, error) {
	rest := p
	for {
		piece, after, found := bytes.Cut(rest, []byte("\n"))
		r.line = append(r.line, piece...)
		if !found {
			return len(p), nil
		}
		if _, err := r.out.Write(rewrite(append(r.line, '\n'), r.change)); err != nil {
			return 0, err
		}
		r.line, rest = r.line[:0], after
	}
}

// flush writes what came without a line's end, as it is.
func (r *relay) flush() error {
	_, err := r.out.Write(r.line)
	r.line = nil
	return err
}
