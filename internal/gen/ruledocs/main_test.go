package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ax-check/ax-check/internal/rules"
	"github.com/google/go-cmp/cmp"
)

// The published pages are those that the rules carry, and no others.
func TestDocsAreFresh(t *testing.T) {
	const folder = "../../../docs/rules"
	pages, err := render(rules.All())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		got, err := os.ReadFile(filepath.Join(folder, p.name))
		if err != nil {
			t.Fatalf("%v; run go generate ./internal/rules", err)
		}
		if diff := cmp.Diff(p.text, string(got)); diff != "" {
			t.Errorf("docs/rules/%s is stale; run go generate ./internal/rules\n%s", p.name, diff)
		}
	}
	files, _ := filepath.Glob(filepath.Join(folder, "*"))
	if len(files) != len(pages) {
		t.Errorf("docs/rules has %d files, want %d", len(files), len(pages))
	}
}
