package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ax-check/ax-check/internal/exit"
	"github.com/ax-check/ax-check/internal/finding"
	"github.com/ax-check/ax-check/internal/report/lint"
	"github.com/ax-check/ax-check/internal/rule"
	"github.com/ax-check/ax-check/internal/rules"
)

type lintOptions struct {
	disable []string
	failOn  string
	format  string
	timeout time.Duration
}

func newLintCommand(a *app) *cobra.Command {
	var o lintOptions
	cmd := &cobra.Command{
		Use:   "lint FILE... | - | URL | -- COMMAND [ARGUMENT...]",
		Short: "Check the annotations of a tool list by looking at it",
		Long: `Check the annotations of a tool list by looking at it, without calling a tool.

The list comes from files, from stdin (-), from a server over Streamable HTTP (a
URL), or from a server that is started as a command (after --).`,
		Example: `  ax-check lint tools.json
  curl -s https://example.com/tools.json | ax-check lint -
  ax-check lint https://example.com/mcp
  ax-check lint -- npx -y @modelcontextprotocol/server-filesystem /tmp
  ax-check lint --disable AXC-D010 --fail-on warn --format json tools.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			sources, err := a.sources(args, cmd.ArgsLenAtDash(), o.timeout)
			if err != nil {
				return err
			}
			return a.lint(cmd.Context(), sources, o)
		},
	}
	cmd.Flags().StringSliceVar(&o.disable, "disable", nil, "`rule` that is not to be applied; repeat it or separate by commas")
	cmd.Flags().StringVar(&o.failOn, "fail-on", "error", "lowest `severity` that makes the exit code 1: error, warn, info or never")
	cmd.Flags().DurationVar(&o.timeout, "timeout", time.Minute, "how long a server may take to start, and to give an answer")
	addFormat(cmd, &o.format)
	completeWith(cmd, "disable", ruleIDs()...)
	completeWith(cmd, "fail-on", "error", "warn", "info", "never")
	return cmd
}

// lint loads every source first, so that an unreadable one ends the run before
// anything is reported.
func (a *app) lint(ctx context.Context, sources []source, o lintOptions) error {
	enabled, err := rule.Without(rules.All(), o.disable)
	if err != nil {
		return unknownRule(err)
	}
	bar, err := parseFailOn(o.failOn)
	if err != nil {
		return err
	}
	if o.format != "text" && o.format != "json" {
		return unknownFormat(o.format)
	}
	var report lint.Report
	for _, s := range sources {
		list, err := check(ctx, s, enabled)
		if err != nil {
			return err
		}
		report.Lists = append(report.Lists, list)
	}
	if err := a.written(a.writeLint(report, o.format)); err != nil {
		return err
	}
	return bar.judge(report)
}

// check loads one tool list and applies the rules to it.
func check(ctx context.Context, s source, enabled []rule.Rule) (lint.List, error) {
	set, found, err := s.load(ctx)
	if err != nil {
		return lint.List{}, err
	}
	found = slices.DeleteFunc(found, func(f finding.Finding) bool {
		_, err := rule.Find(enabled, f.Rule)
		return err != nil
	})
	found = append(found, rule.Run(enabled, set)...)
	return lint.List{Source: s.String(), Tools: len(set.Tools), Findings: found}, nil
}

func (a *app) writeLint(report lint.Report, format string) error {
	if format == "json" {
		return lint.JSON(a.Out, report)
	}
	return lint.Text(a.Out, report, lint.Style{Color: a.color(), Title: ruleTitle})
}

func ruleTitle(id string) string {
	r, err := rule.Find(rules.All(), id)
	if err != nil {
		return id
	}
	return r.Title
}

// failBar is the lowest severity that counts; above finding.Error none does.
type failBar finding.Severity

func parseFailOn(word string) (failBar, error) {
	if word == "never" {
		return failBar(finding.Error + 1), nil
	}
	severity, ok := finding.ParseSeverity(word)
	if !ok {
		return 0, usage(fmt.Errorf("unknown severity %q for --fail-on", word), "it is error, warn, info or never")
	}
	return failBar(severity), nil
}

// judge ends the run with exit.Findings when a finding is at or above the bar.
func (b failBar) judge(report lint.Report) error {
	for _, list := range report.Lists {
		for _, f := range list.Findings {
			if failBar(f.Severity) >= b {
				return &exit.Error{Code: exit.Findings}
			}
		}
	}
	return nil
}

// sources makes sense of the arguments of lint; dash is how many of them stand
// before "--", or -1 when there is none.
func (a *app) sources(args []string, dash int, timeout time.Duration) ([]source, error) {
	switch {
	case timeout <= 0:
		return nil, usage(errors.New("--timeout must be longer than nothing"), "it is written as 90s or 2m")
	case len(args) == 0:
		return nil, usage(errors.New("lint needs a tool list"), "give a file, - for stdin, a URL, or -- and the command that starts a server")
	case dash > 0:
		return nil, usage(errors.New("lint takes files or a command, not both"), "put everything that belongs to the command after --")
	case dash == 0:
		return []source{commandSource(args, a.environ, timeout)}, nil
	}
	var sources []source
	for i, arg := range args {
		switch {
		case arg == "-" && slices.Contains(args[:i], "-"):
			return nil, usage(errors.New("stdin (-) can be read only once"), "")
		case arg == "-":
			sources = append(sources, stdinSource{a.In})
		case isURL(arg):
			sources = append(sources, urlSource(arg, timeout))
		default:
			sources = append(sources, fileSource{arg})
		}
	}
	return sources, nil
}

func isURL(arg string) bool {
	lower := strings.ToLower(arg)
	return strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://")
}
