package hygiene

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// unsafely lists the files that talk to the kernel in its own structures. Only
// tests may do so beside them.
var unsafely = []string{
	"internal/sandbox/child/launch_linux.go",
	"internal/sandbox/seccomp/filter_linux.go",
	"internal/sandbox/seccomp/listen_linux.go",
}

// nameless says nothing of what is in a package.
var nameless = []string{"base", "common", "helper", "helpers", "misc", "shared", "type", "types", "util", "utils"}

// eachFile calls do with every Go file of the project, whatever it is built for.
func eachFile(t *testing.T, mode parser.Mode, do func(name string, file *ast.File)) {
	t.Helper()
	root := os.DirFS("../..")
	count := 0
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata") {
			return fs.SkipDir
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, mode)
		if err != nil {
			return err
		}
		count++
		do(name, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if count < 50 {
		t.Fatalf("%d files found, and there are more", count)
	}
}

func TestImportsOfFiles(t *testing.T) {
	var found []string
	eachFile(t, parser.ImportsOnly, func(name string, file *ast.File) {
		for _, imported := range file.Imports {
			switch imported.Path.Value {
			case `"C"`:
				t.Errorf("%s uses cgo", name)
			case `"unsafe"`:
				if !strings.HasSuffix(name, "_test.go") {
					found = append(found, name)
				}
			}
		}
	})
	slices.Sort(found)
	if !slices.Equal(found, unsafely) {
		t.Errorf("unsafe is imported by %v, and may be by %v", found, unsafely)
	}
}

func TestNamesOfPackages(t *testing.T) {
	eachFile(t, parser.PackageClauseOnly, func(name string, file *ast.File) {
		if called := strings.TrimSuffix(file.Name.Name, "_test"); slices.Contains(nameless, called) {
			t.Errorf("%s: package %s says nothing of what is in it", name, called)
		}
		for _, folder := range strings.Split(path.Dir(name), "/") {
			if slices.Contains(nameless, folder) {
				t.Errorf("%s: the folder's name says nothing of what is in it", name)
			}
		}
	})
}

// Numbers that are drawn come from the run's seed: the global source of
// math/rand is for no one.
func TestRandomNumbersAreSeeded(t *testing.T) {
	seeded := []string{"New", "NewPCG", "NewChaCha8", "Rand", "Source", "PCG", "ChaCha8"}
	eachFile(t, parser.SkipObjectResolution, func(name string, file *ast.File) {
		if strings.HasSuffix(name, "_test.go") || !imports(file, `"math/rand/v2"`) {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if pkg, ok := selector.X.(*ast.Ident); ok && pkg.Name == "rand" && !slices.Contains(seeded, selector.Sel.Name) {
				t.Errorf("%s: rand.%s draws from the global source", name, selector.Sel.Name)
			}
			return true
		})
	})
}

func imports(file *ast.File, path string) bool {
	return slices.ContainsFunc(file.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == path })
}

// Every package says what it is for.
func TestPackagesAreDescribed(t *testing.T) {
	described, all := map[string]bool{}, map[string]bool{}
	eachFile(t, parser.PackageClauseOnly|parser.ParseComments, func(name string, file *ast.File) {
		folder := path.Dir(name)
		all[folder] = true
		if file.Doc != nil {
			described[folder] = true
		}
	})
	for folder := range all {
		if !described[folder] {
			t.Errorf("package in %s has no comment", folder)
		}
	}
}
