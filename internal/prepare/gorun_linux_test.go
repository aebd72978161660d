package prepare

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

const (
	goMod  = "module example.com/server\n\ngo 1.21\n"
	prints = "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc main() { fmt.Println(\"WORDS\", os.Args[1:]) }\n"
)

// The source at hand is built as it now is, every time.
func TestGoRun(t *testing.T) {
	needsWorlds(t)
	dir := t.TempDir()
	t.Chdir(dir)
	o := Options{CacheDir: t.TempDir()}
	writeFile(t, "go.mod", goMod)
	writeFile(t, "cmd/server/main.go", strings.Replace(prints, "WORDS", "first", 1))
	first := prepared(t, o, "go run ./cmd/server a -b")
	wantRuns(t, o, first, "first [a -b]\n")
	if again := prepared(t, o, "go run -tags x ./cmd/server"); filepath.Base(again[0]) != "server" {
		t.Errorf("the program is called %s", again[0])
	}
	writeFile(t, "cmd/server/main.go", strings.Replace(prints, "WORDS", "second", 1))
	second := prepared(t, o, "go run ./cmd/server")
	wantRuns(t, o, second, "second []\n")
	wantRuns(t, o, first, "first [a -b]\n")

	writeFile(t, "cmd/server/main.go", "package main\n\nfunc main() { undefinedName() }\n")
	_, err := Command(t.Context(), strings.Fields("go run ./cmd/server"), o)
	var failed *FetchError
	if !errors.As(err, &failed) || !strings.Contains(failed.Problem, "undefinedName") {
		t.Errorf("error %v, want the compiler's", err)
	}
	wantCache(t, o, "go", 3)
}

// A package at a version comes from the module proxy.
func TestGoRunAtVersion(t *testing.T) {
	needsWorlds(t)
	proxy := t.TempDir()
	t.Setenv("GOPROXY", "file://"+proxy)
	t.Setenv("GONOSUMDB", "example.com")
	t.Setenv("GOFLAGS", "-modcacherw")
	t.Setenv("GOMODCACHE", t.TempDir())
	versions := proxy + "/example.com/server/@v/"
	writeFile(t, versions+"list", "v1.0.0\n")
	writeFile(t, versions+"v1.0.0.info", `{"Version": "v1.0.0"}`)
	writeFile(t, versions+"v1.0.0.mod", goMod)
	zipModule(t, versions+"v1.0.0.zip", map[string]string{
		"go.mod": goMod, "cmd/server/main.go": strings.Replace(prints, "WORDS", "published", 1),
	})
	o := Options{CacheDir: t.TempDir()}
	wantRuns(t, o, prepared(t, o, "go run example.com/server/cmd/server@v1.0.0 x"), "published [x]\n")
	if err := os.RemoveAll(proxy); err != nil {
		t.Fatal(err)
	}
	wantRuns(t, o, prepared(t, o, "go run example.com/server/cmd/server@v1.0.0"), "published []\n")
	wantCache(t, o, "go", 1)
}

// zipModule writes a module as the proxy protocol has it (go.dev/ref/mod#zip-files).
func zipModule(t *testing.T, path string, files map[string]string) {
	t.Helper()
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(out)
	for name, text := range files {
		f, err := w.Create("example.com/server@v1.0.0/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), out.Close()); err != nil {
		t.Fatal(err)
	}
}
