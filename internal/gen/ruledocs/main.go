// Ruledocs writes the rules' pages and their index into the folder that is its
// argument. go generate ./internal/rules runs it.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ax-check/ax-check/internal/rule"
	"github.com/ax-check/ax-check/internal/rules"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: ruledocs FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "ruledocs:", err)
		os.Exit(1)
	}
}

func write(folder string) error {
	pages, err := render(rules.All())
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, p := range pages {
		if err := os.WriteFile(filepath.Join(folder, p.name), []byte(p.text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

type page struct{ name, text string }

// render gives the files of docs/rules, the index last.
func render(all []rule.Rule) ([]page, error) {
	var pages []page
	for _, r := range all {
		text, err := r.Markdown()
		if err != nil {
			return nil, err
		}
		pages = append(pages, page{r.ID + ".md", text})
	}
	return append(pages, page{"README.md", rule.Index(all)}), nil
}
