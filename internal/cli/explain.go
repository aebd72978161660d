package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ax-check/ax-check/internal/rule"
	"github.com/ax-check/ax-check/internal/rules"
)

func newExplainCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:       "explain RULE",
		Short:     "Print what a rule checks, why, and how to fix what it finds",
		Example:   "  ax-check explain AXC-D010",
		ValidArgs: ruleIDs(),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage(fmt.Errorf("explain needs one rule, got %d", len(args)), "ax-check rules lists them")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := rule.Find(rules.All(), args[0])
			if err != nil {
				return unknownRule(err)
			}
			text, err := r.Text()
			if err != nil {
				return failed(err, "")
			}
			_, err = io.WriteString(a.Out, text)
			return a.written(err)
		},
	}
}

func ruleIDs() []string {
	var ids []string
	for _, r := range rules.All() {
		ids = append(ids, r.ID)
	}
	return ids
}

// unknownRule makes a usage error of a *rule.UnknownError.
func unknownRule(err error) error {
	var unknown *rule.UnknownError
	if errors.As(err, &unknown) && len(unknown.Near) > 0 {
		return usage(err, "did you mean "+strings.Join(unknown.Near, " or ")+"?")
	}
	return usage(err, "ax-check rules lists them")
}
