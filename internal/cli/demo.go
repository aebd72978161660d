package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ax-check/ax-check/internal/demo"
	"github.com/ax-check/ax-check/internal/sandbox"
	"github.com/ax-check/ax-check/internal/verify"
)

// demoServer is the hidden command that runs the bundled server.
const demoServer = "demo-server"

func newDemoCommand(a *app) *cobra.Command {
	var o reportOptions
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Verify a small bundled server, some of whose tools lie",
		Long: `Verify a small bundled server, a booking account, some of whose tools lie about
what they do. It needs no network and no set-up, and shows what verify finds.

The exit code is 1: the lies are found.`,
		Example: `  ax-check demo
  ax-check demo --format json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			own, err := os.Executable()
			if err != nil {
				return failed(fmt.Errorf("finding this program: %w", err), "")
			}
			progress := a.progress()
			defer progress.Close()
			return a.run(cmd.Context(), verify.Options{
				Command: []string{own, demoServer, sandbox.Workspace}, Shown: []string{"ax-check", demoServer, "{workspace}"},
				Dir: sandbox.Workspace, Env: verify.Environment(a.getenv), Workspace: demo.Seed(), CallTimeout: 10 * time.Second,
			}, o, progress)
		},
	}
	o.flags(cmd)
	return cmd
}

func newDemoServerCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    demoServer + " FOLDER",
		Short:  "Run the bundled server of the demo over stdin and stdout",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := demo.Serve(cmd.Context(), a.In, a.Out, args[0])
			if err != nil && !errors.Is(err, context.Canceled) {
				return failed(err, "")
			}
			return nil
		},
	}
}
