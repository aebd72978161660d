package cli

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ax-check/ax-check/internal/finding"
	"github.com/ax-check/ax-check/internal/rule"
	"github.com/ax-check/ax-check/internal/rules"
)

func newRulesCommand(a *app) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "List the rules",
		Example: `  ax-check rules
  ax-check rules --format json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			switch format {
			case "text":
				return a.written(a.rulesText(rules.All()))
			case "json":
				return a.written(a.rulesJSON(rules.All()))
			}
			return unknownFormat(format)
		},
	}
	addFormat(cmd, &format)
	return cmd
}

func (a *app) rulesText(all []rule.Rule) error {
	table := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "RULE\tSEVERITY\tKIND\tMODE\tTITLE")
	for _, r := range all {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", r.ID, r.Severity, r.Kind, r.Mode, r.Title)
	}
	return table.Flush()
}

// rulesJSON writes the ax-check.rules/v1 document.
func (a *app) rulesJSON(all []rule.Rule) error {
	type entry struct {
		ID        string           `json:"id"`
		Title     string           `json:"title"`
		Severity  finding.Severity `json:"severity"`
		Kind      finding.Kind     `json:"kind"`
		Mode      rule.Mode        `json:"mode"`
		AppliesTo string           `json:"applies_to"`
		Tags      []string         `json:"tags"`
		Fix       string           `json:"fix"`
		Docs      string           `json:"docs"`
	}
	entries := make([]entry, len(all))
	for i, r := range all {
		entries[i] = entry{r.ID, r.Title, r.Severity, r.Kind, r.Mode, r.AppliesTo, r.Tags, r.Fix, r.DocsURL()}
	}
	encoder := json.NewEncoder(a.Out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(struct {
		Schema string  `json:"schema"`
		Rules  []entry `json:"rules"`
	}{"ax-check.rules/v1", entries})
}

// written classifies an error in writing to stdout.
func (a *app) written(err error) error {
	if err != nil {
		return failed(fmt.Errorf("writing the report: %w", err), "")
	}
	return nil
}

func addFormat(cmd *cobra.Command, format *string) {
	cmd.Flags().StringVar(format, "format", "text", "`form` of the output: text or json")
	completeWith(cmd, "format", "text", "json")
}

func completeWith(cmd *cobra.Command, flag string, values ...string) {
	complete := cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // the flag is added a line above
	}
}

func unknownFormat(format string) error {
	return usage(fmt.Errorf("unknown format %q", format), "formats are text and json")
}
