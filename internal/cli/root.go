// Package cli is the command line: flags to options, options to work, results
// to reports and exit codes. One file holds one command.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ax-check/ax-check/internal/exit"
)

// Stdio is the three standard streams.
type Stdio struct {
	In       io.Reader
	Out, Err io.Writer
}

// app is what every command works with.
type app struct {
	Stdio
	environ []string // NAME=VALUE, as os.Environ gives it
}

// Main runs the program with its arguments (without the program's name) and
// returns the exit code. Reports go to Out, everything else to Err.
func Main(ctx context.Context, args []string, stdio Stdio, environ []string) int {
	a := &app{Stdio: stdio, environ: environ}
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	return int(a.end(ctx, root.ExecuteContext(ctx)))
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "ax-check",
		Short: "Check that the tools of an MCP server do what their annotations say",
		Long: `ax-check tells whether the tools of an MCP server do what their annotations say.

Exit codes: 0 nothing to report, 1 findings, 2 wrong usage or unreadable input,
3 the work could not be done, 4 incomplete under --strict, 130 interrupted.`,
		Example: `  ax-check lint tools.json
  ax-check verify -- npx -y @modelcontextprotocol/server-filesystem {workspace}
  ax-check demo
  ax-check explain AXC-D010`,
		Version:                    version(),
		SilenceUsage:               true,
		SilenceErrors:              true,
		SuggestionsMinimumDistance: 2,
		Args:                       cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
	}
	root.SetVersionTemplate("ax-check {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage(err, "see "+cmd.CommandPath()+" --help")
	})
	root.AddCommand(newVerifyCommand(a), newLintCommand(a), newDemoCommand(a), newRulesCommand(a), newExplainCommand(a),
		newDoctorCommand(a), newDemoServerCommand(a))
	return root
}

func unknownCommand(root *cobra.Command, name string) error {
	hint := "see ax-check --help"
	if near := root.SuggestionsFor(name); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return usage(fmt.Errorf("unknown command %q", name), hint)
}

// end prints what went wrong and decides the exit code, once for all commands.
func (a *app) end(ctx context.Context, err error) exit.Code {
	if ctx.Err() != nil {
		fmt.Fprintln(a.Err, "ax-check: interrupted")
		return exit.Interrupted
	}
	if err == nil {
		return exit.OK
	}
	var e *exit.Error
	if !errors.As(err, &e) {
		// The commands classify their errors; what is left comes from cobra.
		e = &exit.Error{Code: exit.Usage, Err: err, Hint: "see ax-check --help"}
	}
	if e.Err != nil {
		fmt.Fprintln(a.Err, "ax-check: error:", err)
	}
	if e.Hint != "" {
		fmt.Fprintln(a.Err, "ax-check: hint:", e.Hint)
	}
	return e.Code
}

// usage is an error in the flags, the arguments or the input.
func usage(err error, hint string) error {
	return &exit.Error{Code: exit.Usage, Err: err, Hint: hint}
}

// failed is an error in the work itself.
func failed(err error, hint string) error {
	return &exit.Error{Code: exit.Failed, Err: err, Hint: hint}
}

// color reports whether the report may be coloured: only on a terminal, and
// not where NO_COLOR is set (https://no-color.org).
func (a *app) color() bool {
	file, ok := a.Out.(*os.File)
	return ok && a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd()))
}

func (a *app) getenv(name string) string {
	for _, entry := range a.environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}
