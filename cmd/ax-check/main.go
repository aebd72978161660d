// Ax-check tells whether the tools of an MCP server do what their annotations say.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/ax-check/ax-check/internal/cli"
	"github.com/ax-check/ax-check/internal/process"
)

func main() {
	process.MaybeGuard()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, os.Args[1:], cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Environ())
	stop()
	os.Exit(code)
}
