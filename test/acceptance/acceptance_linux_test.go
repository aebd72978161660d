package acceptance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ax-check/ax-check/internal/testenv"
)

// builtIn names the folder of the programs under test. The half of a test that
// runs as another user cannot build, and is told so.
const builtIn = testenv.Prefix + "BUILT_IN"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[0] == noNamespaces {
		fmt.Fprintln(os.Stderr, forbidNamespaces(os.Args[1:]))
		os.Exit(1)
	}
	code := m.Run()
	if scratch != "" {
		_ = os.RemoveAll(scratch) // the tests have said what they had to
	}
	os.Exit(code)
}

// scratch is removed when the tests have run; "" when nothing was built here.
var scratch string

// build makes the programs once, in a folder that every user may enter.
var build = sync.OnceValues(func() (dir string, err error) {
	if dir := os.Getenv(builtIn); dir != "" {
		return dir, nil
	}
	if err := readSources(); err != nil {
		return "", err
	}
	if scratch, err = os.MkdirTemp("", "ax-check-acceptance-"); err != nil {
		return "", err
	}
	if err := os.Chmod(scratch, 0o755); err != nil {
		return "", err
	}
	c := exec.Command("go", "build", "-o", scratch+"/", "./cmd/ax-check", "./test/servers/torture", "./test/servers/claims", "./test/servers/witness")
	c.Dir = filepath.Join("..", "..")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the programs: %w\n%s", err, out)
	}
	return scratch, os.Setenv(builtIn, scratch)
})

// readSources reads all that the programs are made of, because go test keeps a
// result until something changes that the test has read.
func readSources() error {
	root := os.DirFS(filepath.Join("..", ".."))
	return fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case filepath.Ext(name) == ".go":
			_, err = fs.ReadFile(root, name)
		}
		return err
	})
}

// built is the path of a program under test.
func built(t testing.TB, name string) string {
	t.Helper()
	dir, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

// asRootAndUser runs a test as both, with programs that were built before.
func asRootAndUser(t *testing.T, body func(t *testing.T)) {
	t.Helper()
	built(t, "ax-check")
	testenv.AsRootAndUser(t, body)
}

// isolation is why this machine makes no worlds, "" when it does.
var isolation = sync.OnceValue(func() string {
	dir, err := build()
	if err != nil {
		return err.Error()
	}
	out, err := exec.Command(filepath.Join(dir, "ax-check"), "doctor").Output()
	if err != nil {
		return strings.TrimSpace(string(out))
	}
	return ""
})

// needsWorlds skips where the sandbox cannot be made.
func needsWorlds(t testing.TB) {
	t.Helper()
	built(t, "ax-check")
	if reason := isolation(); reason != "" {
		t.Skip("no sandbox here: " + reason)
	}
}

// scene is the surroundings of one run: a copy of the program, so that its
// processes can be told from those of other tests, and every folder that it
// could leave something in.
type scene struct {
	program string
	// dir holds all the rest: home, tmp, cache, and here, the working folder.
	dir string
	env []string
	// mounts is the mount table before anything was run.
	mounts string
}

func newScene(t testing.TB) *scene {
	t.Helper()
	s := &scene{dir: t.TempDir()}
	for _, name := range []string{"home", "tmp", "cache", "here", "bin"} {
		if err := os.Mkdir(s.path(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.program = s.copyOf(t, "ax-check")
	s.env = []string{
		"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8",
		"HOME=" + s.path("home"), "TMPDIR=" + s.path("tmp"), "XDG_CACHE_HOME=" + s.path("cache"),
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "npm_config_registry", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"} {
		if value, ok := os.LookupEnv(name); ok {
			s.env = append(s.env, name+"="+value)
		}
	}
	s.mounts = mountTable(t)
	return s
}

func (s *scene) path(name string) string { return filepath.Join(s.dir, name) }

// copyOf copies a built program into the scene.
func (s *scene) copyOf(t testing.TB, name string) string {
	t.Helper()
	to := s.path("bin/" + name)
	from, err := os.Open(built(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = from.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(out, from)
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
	return to
}

// write makes a file of the scene, with the folders above it.
func (s *scene) write(t testing.TB, name, content string) {
	t.Helper()
	path := s.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// result is how a run ended.
type result struct {
	code           int
	stdout, stderr string
}

func (r result) String() string {
	return fmt.Sprintf("exit code %d\nstdout:\n%s\nstderr:\n%s", r.code, r.stdout, r.stderr)
}

// patience is more than any run takes, on a slow machine too.
const patience = 4 * time.Minute

// run runs ax-check to its end.
func (s *scene) run(t testing.TB, args ...string) result {
	t.Helper()
	return s.start(t, args...).wait(t)
}

// running is an ax-check that has been started.
type running struct {
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	done           chan error
}

func (s *scene) start(t testing.TB, args ...string) *running {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	r := &running{cmd: exec.CommandContext(ctx, s.program, args...), done: make(chan error, 1)}
	r.cmd.Dir, r.cmd.Env = s.path("here"), s.env
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	r.cmd.WaitDelay = 5 * time.Second // whoever holds the output is left behind, and found
	if err := r.cmd.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	go func() {
		r.done <- r.cmd.Wait()
		cancel()
	}()
	t.Cleanup(cancel)
	return r
}

// wait returns how the run ended; by a signal, the code is -1.
func (r *running) wait(t testing.TB) result {
	t.Helper()
	err := <-r.done
	if ended := new(exec.ExitError); err != nil && !errors.As(err, &ended) {
		t.Fatalf("%v: %v\n%s", r.cmd.Args, err, r.stderr.String())
	}
	return result{r.cmd.ProcessState.ExitCode(), r.stdout.String(), r.stderr.String()}
}

// wantCode fails the test with all that was said when a run ended otherwise.
func (r result) wantCode(t testing.TB, code int) {
	t.Helper()
	if r.code != code {
		t.Fatalf("want exit code %d, got %v", code, r)
	}
}
