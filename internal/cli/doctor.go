package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ax-check/ax-check/internal/exit"
	"github.com/ax-check/ax-check/internal/sandbox"
)

func newDoctorCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Say which isolation this machine gives, and how to get a better one",
		Long: `Say which isolation this machine gives to verify, and how to get a better one. It
makes a world and throws it away to find out.

The exit code is 0 when verify works here, else 3.`,
		Example: "  ax-check doctor",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.doctor(cmd.Context())
		},
	}
}

func (a *app) doctor(ctx context.Context) error {
	s := sandbox.Check(ctx)
	var b strings.Builder
	if s.OK {
		fmt.Fprintf(&b, "verify works here, in the best tier.\n\n  tier       namespaces (made as %s)\n", s.Mode)
	} else {
		fmt.Fprintf(&b, "verify does not work here; lint, rules and explain do.\n\n  problem    %s\n", s.Problem)
	}
	for _, note := range s.Notes {
		fmt.Fprintf(&b, "  machine    %s\n", note)
	}
	if s.OK {
		b.WriteString("  sees       files, processes, contacts and names asked of DNS\n")
		b.WriteString("  sees not   state that only memory holds, rows inside databases, what an upstream would answer\n")
	}
	for i, remedy := range s.Remedies {
		if i == 0 {
			b.WriteString("\nTo make it work:\n")
		}
		fmt.Fprintf(&b, "  - %s\n", remedy)
	}
	if _, err := a.Out.Write([]byte(b.String())); err != nil {
		return a.written(err)
	}
	if !s.OK {
		return &exit.Error{Code: exit.Failed}
	}
	return nil
}
