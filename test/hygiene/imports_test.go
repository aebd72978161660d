// Package hygiene holds the source to the shape that ARCHITECTURE.md describes:
// which package may import which, and what none may do.
package hygiene

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/ax-check/ax-check/"

// layer is a group of packages, named by their paths below internal.
type layer struct {
	name     string
	packages []string
	// below names the layers whose packages may be imported.
	below []string
	// within lists what may be imported inside of the layer: "from to".
	within []string
}

// layers is the import graph, from what everything rests on upwards.
var layers = []layer{
	{
		name:     "data",
		packages: []string{"effect", "exit", "finding", "hint", "jsondoc", "reply", "verbs", "verdict"},
		within:   []string{"reply effect", "verdict hint"},
	},
	{
		name:     "input",
		packages: []string{"config", "toolset"},
		below:    []string{"data"},
	},
	{
		name:     "work",
		packages: []string{"argument", "judge", "report", "rule", "rules"},
		below:    []string{"data", "input"},
		within:   []string{"rules rule"},
	},
	{
		name: "world",
		packages: []string{
			"mcp", "observe/document", "observe/files", "prepare", "process",
			"sandbox", "sandbox/child", "sandbox/control", "sandbox/overlay", "sandbox/seccomp",
		},
		below: []string{"data"},
		within: []string{
			"observe/files observe/document", "prepare sandbox",
			"sandbox sandbox/child", "sandbox sandbox/control", "sandbox sandbox/overlay", "sandbox sandbox/seccomp",
			"sandbox/child sandbox/control", "sandbox/child sandbox/overlay", "sandbox/child sandbox/seccomp",
		},
	},
	{
		name:     "run",
		packages: []string{"demo", "verify"},
		below:    []string{"data", "input", "work", "world"},
	},
	{
		name:     "formats",
		packages: []string{"report/jsonreport", "report/lint", "report/terminal"},
		below:    []string{"data", "work"},
	},
	{
		name:     "front",
		packages: []string{"cli", "gen/ruledocs"},
		below:    []string{"data", "input", "work", "world", "run", "formats"},
	},
	{
		name:     "main",
		packages: []string{"cmd/ax-check"},
		below:    []string{"front", "world"},
	},
	{
		name:     "tests", // nothing but tests imports it
		packages: []string{"testenv"},
	},
}

// modules says who may import what is not of this project; the path of a module,
// or of a package in it.
var modules = map[string][]string{
	"charm.land/lipgloss/v2":                   {"report/terminal"},
	"github.com/go-json-experiment/json":       {"jsondoc", "observe/document"},
	"github.com/santhosh-tekuri/jsonschema/v6": {"argument"},
	"github.com/spf13/cobra":                   {"cli"},
	"go.yaml.in/yaml/v4":                       {"config"},
	"golang.org/x/net/dns/dnsmessage":          {"sandbox/child"},
	"golang.org/x/sync/errgroup":               {"verify"},
	"golang.org/x/sys/unix":                    {"observe/files", "process", "sandbox", "sandbox/child", "sandbox/control", "sandbox/seccomp"},
	"golang.org/x/term":                        {"cli"},
}

// pure packages compute: they read no file, no clock, no network.
var pure = []string{"argument", "effect", "finding", "hint", "judge", "reply", "rule", "rules", "verbs", "verdict"}

// impure packages of the standard library are none for them.
var impure = []string{"crypto/rand", "math/rand", "net", "net/http", "os", "os/exec", "os/signal", "syscall", "time"}

// listed is what go list tells of a package.
type listed struct {
	ImportPath string
	Imports    []string
}

// packages lists those of the product on Linux, whose files are the most.
func packages(t *testing.T) []listed {
	t.Helper()
	c := exec.Command("go", "list", "-json=ImportPath,Imports", "./internal/...", "./cmd/...")
	c.Dir = "../.."
	c.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	var complaint strings.Builder
	c.Stderr = &complaint
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", c.Args, err, complaint.String())
	}
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// short is the name of a package in the tables; ok is false of another module's.
func short(path string) (name string, ok bool) {
	name, ok = strings.CutPrefix(path, module)
	return strings.TrimPrefix(name, "internal/"), ok
}

func layerOf(name string) (layer, bool) {
	i := slices.IndexFunc(layers, func(l layer) bool { return slices.Contains(l.packages, name) })
	if i < 0 {
		return layer{}, false
	}
	return layers[i], true
}

func TestLayers(t *testing.T) {
	var seen []string
	for _, p := range packages(t) {
		name, _ := short(p.ImportPath)
		seen = append(seen, name)
		own, ok := layerOf(name)
		if !ok {
			t.Errorf("package %s has no layer: give it one here, and tell of it in ARCHITECTURE.md", name)
			continue
		}
		for _, path := range p.Imports {
			other, ours := short(path)
			if !ours {
				continue
			}
			theirs, _ := layerOf(other)
			if !slices.Contains(own.below, theirs.name) && !slices.Contains(own.within, name+" "+other) {
				t.Errorf("package %s (%s) imports %s (%s)", name, own.name, other, theirs.name)
			}
		}
	}
	for _, l := range layers {
		for _, name := range l.packages {
			if !slices.Contains(seen, name) {
				t.Errorf("layer %s names the package %s, which does not exist", l.name, name)
			}
		}
	}
}

func TestModules(t *testing.T) {
	used := map[string]bool{}
	for _, p := range packages(t) {
		name, _ := short(p.ImportPath)
		for _, path := range p.Imports {
			if _, ours := short(path); ours || !strings.Contains(strings.Split(path, "/")[0], ".") {
				continue
			}
			entry := moduleOf(path)
			if !slices.Contains(modules[entry], name) {
				t.Errorf("package %s imports %s", name, path)
			}
			used[entry+" "+name] = true
		}
	}
	for entry, names := range modules {
		for _, name := range names {
			if !used[entry+" "+name] {
				t.Errorf("package %s may import %s, and does not", name, entry)
			}
		}
	}
}

// moduleOf is the entry of the table that covers a path, "" when there is none.
func moduleOf(path string) string {
	for entry := range modules {
		if path == entry || strings.HasPrefix(path, entry+"/") {
			return entry
		}
	}
	return ""
}

func TestPurePackages(t *testing.T) {
	for _, p := range packages(t) {
		name, _ := short(p.ImportPath)
		if !slices.Contains(pure, name) {
			continue
		}
		for _, path := range p.Imports {
			if slices.Contains(impure, path) {
				t.Errorf("package %s imports %s", name, path)
			}
		}
	}
}
