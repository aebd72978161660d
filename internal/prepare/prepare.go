// Package prepare turns a command that would fetch its program first (npx, go
// run) into one that runs what is already there, because worlds have no network.
//
// The fetching runs in a sandbox of its own that has the network: only its own
// staging folder is writable, secrets are masked, install scripts are off. What
// it made is taken over into the cache by one rename.
package prepare

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ax-check/ax-check/internal/sandbox"
)

// Options of a preparation.
type Options struct {
	// AllowScripts lets packages run their install scripts.
	AllowScripts bool
	// Progress is told what is going on, in a few words.
	Progress func(string)
	// CacheDir holds what was prepared; "" for the user's cache folder.
	CacheDir string
}

// Error is a command that can't be prepared, with what to do instead.
type Error struct {
	Problem string
	Hint    string
}

func (e *Error) Error() string { return e.Problem }

// FetchError is a fetch that failed.
type FetchError struct {
	Problem string
	Hint    string
}

func (e *FetchError) Error() string { return e.Problem }

// fresh is how long a program without an exact version is not asked for again.
const fresh = 24 * time.Hour

// unusedFor is when the cache forgets a program.
const unusedFor = 30 * 24 * time.Hour

// Command returns the command to run instead of argv: argv itself when there is
// nothing to fetch.
func Command(ctx context.Context, argv []string, o Options) ([]string, error) {
	p := preparation{Options: o}
	if p.Progress == nil {
		p.Progress = func(string) {}
	}
	if p.CacheDir == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("finding the cache folder: %w", err)
		}
		p.CacheDir = filepath.Join(dir, "ax-check")
	}
	name := strings.TrimSuffix(filepath.Base(argv[0]), ".cmd")
	switch {
	case name == "npx", name == "npm" && len(argv) > 1 && (argv[1] == "exec" || argv[1] == "x"):
		if name == "npm" {
			argv = argv[1:]
		}
		return p.npx(ctx, argv[1:])
	case name == "go" && len(argv) > 1 && argv[1] == "run":
		return p.goRun(ctx, argv[2:])
	}
	if how, ok := elsewhere[strings.Join(argv[:min(2, len(argv))], " ")]; ok {
		return nil, how
	}
	if how, ok := elsewhere[name]; ok {
		return nil, how
	}
	return argv, nil
}

// elsewhere lists runners that fetch on their own and that are not prepared here.
var elsewhere = map[string]*Error{
	"uvx":         installFirst("uvx", "uv tool install PACKAGE"),
	"uv tool":     installFirst("uv tool run", "uv tool install PACKAGE"),
	"pipx run":    installFirst("pipx run", "pipx install PACKAGE"),
	"bunx":        installFirst("bunx", "npm install PACKAGE"),
	"bun x":       installFirst("bun x", "npm install PACKAGE"),
	"pnpx":        installFirst("pnpx", "npm install PACKAGE"),
	"pnpm dlx":    installFirst("pnpm dlx", "npm install PACKAGE"),
	"yarn dlx":    installFirst("yarn dlx", "npm install PACKAGE"),
	"docker run":  {Problem: "docker run starts the server outside the sandbox, where nothing can be observed", Hint: "give the command that runs inside the container, for example: ax-check verify -- node server.js"},
	"podman run":  {Problem: "podman run starts the server outside the sandbox, where nothing can be observed", Hint: "give the command that runs inside the container, for example: ax-check verify -- node server.js"},
	"docker exec": {Problem: "docker exec starts the server outside the sandbox, where nothing can be observed", Hint: "give the command that runs inside the container"},
}

func installFirst(runner, install string) *Error {
	return &Error{
		Problem: runner + " fetches the server when it starts, and the sandbox has no network",
		Hint:    "install it first (" + install + "), then give the installed command: ax-check verify -- COMMAND ARGS",
	}
}

type preparation struct{ Options }

// request is something to fetch into the cache.
type request struct {
	kind string // folder of the cache
	name string // for people
	key  string // what makes it another program
	// exact requests never change, others are asked for again when not fresh.
	exact bool
	run   func(staging string) (sandbox.Command, error)
	// readable settings of the user that this step may see.
	readable []string
}

// obtain returns the cache folder of a request, fetching it when it is not there.
func (p preparation) obtain(ctx context.Context, r request) (string, error) {
	sum := sha256.Sum256([]byte(r.key))
	kind := filepath.Join(p.CacheDir, r.kind)
	final := filepath.Join(kind, hex.EncodeToString(sum[:10]))
	info, err := os.Stat(final)
	if err == nil && (r.exact || time.Since(info.ModTime()) < fresh) {
		return final, nil
	}
	if err := os.MkdirAll(kind, 0o755); err != nil {
		return "", fmt.Errorf("making the cache folder: %w", err)
	}
	sweep(kind)
	staging, err := os.MkdirTemp(kind, stagingPrefix)
	if err != nil {
		return "", fmt.Errorf("making a folder to install into: %w", err)
	}
	defer func() { _ = os.RemoveAll(staging) }()
	p.Progress("fetching " + r.name)
	if err := p.fetch(ctx, r, staging); err != nil {
		if info != nil && ctx.Err() == nil {
			p.Progress("could not ask for a newer " + r.name + "; using the one fetched on " + info.ModTime().Format(time.DateOnly))
			return final, nil
		}
		return "", err
	}
	return final, takeOver(staging, final)
}

// takeOver makes staging the final folder by rename, replacing an older one.
func takeOver(staging, final string) error {
	old := staging + ".old"
	if err := os.Rename(final, old); err == nil {
		defer func() { _ = os.RemoveAll(old) }()
	}
	if err := os.Rename(staging, final); err != nil {
		return fmt.Errorf("taking over what was installed: %w", err)
	}
	return os.Chmod(final, 0o755)
}

const stagingPrefix = ".staging-"

// sweep forgets programs that were not used for long, and what an earlier run
// that was ended hard could have left.
func sweep(kind string) {
	entries, err := os.ReadDir(kind)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue
		}
		limit := unusedFor
		if strings.HasPrefix(e.Name(), stagingPrefix) {
			limit = time.Hour
		}
		if time.Since(info.ModTime()) > limit {
			_ = os.RemoveAll(filepath.Join(kind, e.Name()))
		}
	}
}

// fetch runs the request's command in a sandbox that has the network.
func (p preparation) fetch(ctx context.Context, r request, staging string) error {
	command, err := r.run(staging)
	if err != nil {
		return err
	}
	world, err := sandbox.Start(ctx, sandbox.Spec{Network: true, Writable: []string{staging}, Staging: staging, Readable: r.readable})
	if err != nil {
		return err
	}
	defer world.Close()
	process, err := world.Run(command)
	if err != nil {
		return fmt.Errorf("fetching %s: %w", r.name, err)
	}
	_ = process.Stdin.Close()
	output, err := readAll(ctx, world, process)
	if err != nil {
		return fmt.Errorf("fetching %s: %w", r.name, err)
	}
	if status := process.Status(); status != 0 {
		return &FetchError{
			Problem: fmt.Sprintf("fetching %s failed (exit status %d): %s", r.name, status, lastLines(process.StderrTail()+output, 6)),
			Hint:    "check the name, the version and the network; an installed program can be given directly",
		}
	}
	return nil
}

// readAll drains the program's output until it ends; a cancelled context ends the world.
func readAll(ctx context.Context, world *sandbox.World, p *sandbox.Process) (string, error) {
	stop := context.AfterFunc(ctx, world.Close)
	defer stop()
	output, err := io.ReadAll(io.LimitReader(p.Stdout, 1<<20))
	if err != nil && !errors.Is(err, os.ErrClosed) {
		return "", err
	}
	<-p.Done
	return string(output), ctx.Err()
}

func lastLines(text string, n int) string {
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(text), "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// settings lists the environment that a preparation may see: where to fetch
// from, and by which proxy and authority.
func settings(prefixes ...string) []string {
	keep := append(prefixes, "HTTP_PROXY=", "HTTPS_PROXY=", "NO_PROXY=", "ALL_PROXY=", "NODE_EXTRA_CA_CERTS=", "SSL_CERT_FILE=", "SSL_CERT_DIR=", "PATH=", "LANG=")
	var env []string
	for _, entry := range os.Environ() {
		if slices.ContainsFunc(keep, func(k string) bool {
			return len(entry) >= len(k) && strings.EqualFold(entry[:len(k)], k)
		}) {
			env = append(env, entry)
		}
	}
	return append(env, "HOME="+sandbox.Home)
}
