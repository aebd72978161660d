package prepare

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ax-check/ax-check/internal/sandbox"
)

// goCall is a parsed "go run" command line.
type goCall struct {
	flags   []string
	targets []string // a package, or Go files
	args    []string
}

// valued are build flags that take the next word as their value.
var valued = []string{"-C", "-tags", "-mod", "-modfile", "-ldflags", "-gcflags", "-asmflags", "-overlay", "-pgo", "-p", "-covermode", "-coverpkg", "-exec"}

// parseGoRun reads the arguments of go run ("go help run").
func parseGoRun(args []string) (goCall, error) {
	var call goCall
	i := 0
	for ; i < len(args) && strings.HasPrefix(args[i], "-"); i++ {
		call.flags = append(call.flags, args[i])
		if slices.Contains(valued, args[i]) && i+1 < len(args) {
			i++
			call.flags = append(call.flags, args[i])
		}
	}
	for ; i < len(args) && strings.HasSuffix(args[i], ".go"); i++ {
		call.targets = append(call.targets, args[i])
	}
	if len(call.targets) == 0 {
		if i == len(args) {
			return call, &Error{Problem: "go run is given no package", Hint: "for example: ax-check verify -- go run ./cmd/server"}
		}
		call.targets = args[i : i+1]
		i++
	}
	call.args = args[i:]
	return call, nil
}

func (p preparation) goRun(ctx context.Context, args []string) ([]string, error) {
	call, err := parseGoRun(args)
	if err != nil {
		return nil, err
	}
	env, err := goSettings(ctx)
	if err != nil {
		return nil, err
	}
	target := call.targets[0]
	_, version, remote := strings.Cut(target, "@")
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	r := request{
		kind: "go", name: target, exact: strings.HasPrefix(version, "v") && strings.Count(version, ".") >= 2,
		key: fmt.Sprint(call.flags, call.targets),
		run: func(staging string) (sandbox.Command, error) {
			argv := append([]string{"go", "install"}, call.flags...)
			return sandbox.Command{Argv: append(argv, target), Dir: staging, Env: append(env, "GOBIN="+staging)}, nil
		},
	}
	if remote {
		dir, err := p.obtain(ctx, r)
		if err != nil {
			return nil, err
		}
		program, err := onlyFile(dir)
		return append([]string{program}, call.args...), err
	}
	// What is built from the source at hand may change at any time: it is built
	// every time (the build cache makes that quick) and kept by its content.
	r.run = func(staging string) (sandbox.Command, error) {
		argv := append([]string{"go", "build", "-o", filepath.Join(staging, "server")}, call.flags...)
		return sandbox.Command{Argv: append(argv, call.targets...), Dir: here, Env: env}, nil
	}
	program, err := p.build(ctx, r)
	return append([]string{program}, call.args...), err
}

// build runs the request and keeps the program under a name made of its content.
func (p preparation) build(ctx context.Context, r request) (string, error) {
	kind := filepath.Join(p.CacheDir, r.kind)
	if err := os.MkdirAll(kind, 0o755); err != nil {
		return "", fmt.Errorf("making the cache folder: %w", err)
	}
	sweep(kind)
	staging, err := os.MkdirTemp(kind, stagingPrefix)
	if err != nil {
		return "", fmt.Errorf("making a folder to build into: %w", err)
	}
	defer func() { _ = os.RemoveAll(staging) }()
	p.Progress("building " + r.name)
	if err := p.fetch(ctx, r, staging); err != nil {
		return "", err
	}
	sum, err := digest(filepath.Join(staging, "server"))
	if err != nil {
		return "", err
	}
	final := filepath.Join(kind, sum)
	if _, err := os.Stat(final); err != nil {
		if err := takeOver(staging, final); err != nil {
			return "", err
		}
	}
	return filepath.Join(final, "server"), nil
}

func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:10]), nil
}

// goSettings asks the user's own go for its settings, which live in a folder
// that is masked in the sandbox.
func goSettings(ctx context.Context) ([]string, error) {
	text, err := exec.CommandContext(ctx, "go", "env", "-json").Output()
	if err != nil {
		var missing *exec.Error
		if errors.As(err, &missing) {
			return nil, &Error{Problem: "go is not installed, or not in PATH", Hint: "install Go, or give the built program directly"}
		}
		return nil, fmt.Errorf("asking go for its settings: %w", err)
	}
	values := map[string]string{}
	if err := json.Unmarshal(text, &values); err != nil {
		return nil, fmt.Errorf("reading the settings of go: %w", err)
	}
	env := settings("GIT_SSL")
	for _, name := range []string{"GOPATH", "GOMODCACHE", "GOCACHE", "GOPROXY", "GONOPROXY", "GONOSUMDB", "GOSUMDB", "GOPRIVATE", "GOINSECURE", "GOFLAGS", "GOTOOLCHAIN", "GOWORK", "CGO_ENABLED"} {
		if values[name] != "" {
			env = append(env, name+"="+values[name])
		}
	}
	return env, nil
}

func onlyFile(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	if len(entries) != 1 {
		return "", fmt.Errorf("expected one program in %s, found %d", dir, len(entries))
	}
	return filepath.Join(dir, entries[0].Name()), nil
}
