// Package scripts runs the command line's specification: each .txtar beside
// this file is a small world with the commands that are run in it.
package scripts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ax-check/ax-check/internal/cli"
	"github.com/ax-check/ax-check/internal/process"
	"github.com/ax-check/ax-check/internal/sandbox"
)

func TestMain(m *testing.M) {
	process.MaybeGuard()
	testscript.Main(m, map[string]func(){"ax-check": run, "server": serve})
}

// run is the program, in a process of its own.
func run() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := cli.Main(ctx, os.Args[1:], cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Environ())
	stop()
	os.Exit(code)
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 ".",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Condition:           condition,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

var worlds = sync.OnceValue(func() bool { return sandbox.Check(context.Background()).OK })

// condition is [worlds]: this machine can make a sandbox.
func condition(name string) (bool, error) {
	if name != "worlds" {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	return worlds(), nil
}

// exits CODE COMMAND... runs a command that must end with that exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARGUMENT...]")
	}
	code := 0
	var ended *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &ended) {
		code = ended.ExitCode()
	} else {
		ts.Check(err)
	}
	if got := strconv.Itoa(code); got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}
