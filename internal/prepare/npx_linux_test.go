package prepare

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ax-check/ax-check/internal/sandbox"
	"github.com/ax-check/ax-check/internal/testenv"
)

func needsWorlds(t *testing.T) {
	t.Helper()
	if s := sandbox.Check(t.Context()); !s.OK {
		t.Skip("no sandbox here: " + s.Problem)
	}
}

func needsNpm(t *testing.T) {
	t.Helper()
	needsWorlds(t)
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is missing")
	}
}

// registry is an npm registry with one package, a-server, in one version. Its
// install script leaves traces in the package and in a folder of the machine.
type registry struct {
	address string
	asked   atomic.Int64
	down    atomic.Bool
}

func newRegistry(t *testing.T, trace string) *registry {
	t.Helper()
	r := &registry{}
	archive := pack(t, map[string]string{
		"package.json": fmt.Sprintf(`{"name": "a-server", "version": "1.0.0", "bin": {"serve": "serve.sh"},
			"scripts": {"install": "echo here > ran; echo here > %s/ran || true"}}`, trace),
		"serve.sh": "#!/bin/sh\necho serving \"$@\"\n",
	})
	sum := sha512.Sum512(archive)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.asked.Add(1)
		switch {
		case r.down.Load():
			http.Error(w, "down", http.StatusServiceUnavailable)
		case q.URL.Path == "/a-server":
			_ = json.NewEncoder(w).Encode(map[string]any{
				"name": "a-server", "dist-tags": map[string]any{"latest": "1.0.0"},
				"versions": map[string]any{"1.0.0": map[string]any{
					"name": "a-server", "version": "1.0.0", "bin": map[string]any{"serve": "serve.sh"}, "hasInstallScript": true,
					"dist": map[string]any{
						"tarball":   r.address + "/a-server-1.0.0.tgz",
						"integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
					},
				}},
			})
		case q.URL.Path == "/a-server-1.0.0.tgz":
			_, _ = w.Write(archive)
		default:
			http.NotFound(w, q)
		}
	}))
	t.Cleanup(server.Close)
	r.address = server.URL
	t.Setenv("npm_config_registry", r.address)
	t.Setenv("npm_config_fetch_retries", "0")
	return r
}

// pack makes an archive as npm publishes them.
func pack(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: "package/" + name, Mode: 0o755, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// prepared prepares a command and fails the test when it can't.
func prepared(t *testing.T, o Options, line string) []string {
	t.Helper()
	got, err := Command(t.Context(), strings.Fields(line), o)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return got
}

// wantRuns holds that a prepared command is a program of the cache that says this.
func wantRuns(t *testing.T, o Options, argv []string, want string) {
	t.Helper()
	if !strings.HasPrefix(argv[0], o.CacheDir+"/") {
		t.Errorf("the program %s is not in the cache", argv[0])
	}
	out, err := exec.Command(argv[0], argv[1:]...).Output()
	if err != nil || string(out) != want {
		t.Errorf("%q says %q, %v, want %q", argv, out, err, want)
	}
}

// wantCache holds that the folder of one kind of program holds so many, and
// nothing that is half done.
func wantCache(t *testing.T, o Options, kind string, count int) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(o.CacheDir, kind))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if len(names) != count || slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, ".") }) {
		t.Errorf("the cache holds %v, want %d programs", names, count)
	}
}

func TestNpx(t *testing.T) {
	testenv.AsRootAndUser(t, func(t *testing.T) {
		needsNpm(t)
		trace := t.TempDir()
		r := newRegistry(t, trace)
		o := Options{CacheDir: t.TempDir()}

		wantRuns(t, o, prepared(t, o, "npx -y a-server@1.0.0 one two"), "serving one two\n")
		asked := r.asked.Load()
		if asked == 0 {
			t.Error("the registry was not asked")
		}
		wantRuns(t, o, prepared(t, o, "npm exec -- a-server@1.0.0 three"), "serving three\n")
		wantRuns(t, o, prepared(t, o, "npx -p a-server@1.0.0 serve"), "serving\n")
		if r.asked.Load() != asked {
			t.Error("the registry was asked again for what is there")
		}
		wantCache(t, o, "npm", 1)
		if ran, _ := filepath.Glob(o.CacheDir + "/npm/*/node_modules/a-server/ran"); len(ran) > 0 {
			t.Error("the install script ran, and nobody allowed it")
		}

		o.AllowScripts = true
		prepared(t, o, "npx -y a-server@1.0.0")
		if ran, _ := filepath.Glob(o.CacheDir + "/npm/*/node_modules/a-server/ran"); len(ran) != 1 {
			t.Errorf("the install script left %v", ran)
		}
		if left, _ := os.ReadDir(trace); len(left) > 0 {
			t.Errorf("the install script wrote to the machine: %v", left)
		}
		wantCache(t, o, "npm", 2)
	})
}

// A version that may move is asked for again when it is not fresh any more; what
// is there serves when that fails.
func TestNpxAsksAgain(t *testing.T) {
	needsNpm(t)
	r := newRegistry(t, t.TempDir())
	var said []string
	o := Options{CacheDir: t.TempDir(), Progress: func(words string) { said = append(said, words) }}
	first := prepared(t, o, "npx a-server")
	asked := r.asked.Load()
	prepared(t, o, "npx a-server")
	if r.asked.Load() != asked {
		t.Error("the registry was asked again at once")
	}

	yesterday := time.Now().Add(-fresh - time.Hour)
	age := func() {
		folders, _ := filepath.Glob(o.CacheDir + "/npm/*")
		for _, folder := range folders {
			if err := os.Chtimes(folder, yesterday, yesterday); err != nil {
				t.Fatal(err)
			}
		}
	}
	age()
	prepared(t, o, "npx a-server")
	if r.asked.Load() == asked {
		t.Error("the registry was not asked again after a day")
	}
	wantCache(t, o, "npm", 1)

	age()
	r.down.Store(true)
	said = nil
	wantRuns(t, o, prepared(t, o, "npx a-server"), "serving\n")
	if !slices.ContainsFunc(said, func(words string) bool { return strings.Contains(words, "using the one fetched on") }) {
		t.Errorf("nothing is said of the older one that is used: %q", said)
	}
	if again := prepared(t, o, "npx a-server"); again[0] != first[0] {
		t.Errorf("the program is now %s, and was %s", again[0], first[0])
	}
}

// A fetch that fails says so in npm's words, and leaves nothing.
func TestNpxFails(t *testing.T) {
	needsNpm(t)
	newRegistry(t, t.TempDir())
	for line, want := range map[string]string{
		"npx -y a-server@9.9.9":     "No matching version",
		"npx -y no-such-server":     "404",
		"npx -p a-server@1.0.0 ask": `no program "ask"`,
	} {
		t.Run(line, func(t *testing.T) {
			o := Options{CacheDir: t.TempDir()}
			_, err := Command(t.Context(), strings.Fields(line), o)
			var failed *FetchError
			if !(errors.As(err, &failed) && failed.Hint != "") && problem(err) == "" || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want one with %q and a hint", err, want)
			}
			if failed != nil {
				wantCache(t, o, "npm", 0)
			}
		})
	}
}

// A cancelled fetch leaves nothing either.
func TestNpxCancelled(t *testing.T) {
	needsNpm(t)
	ctx, cancel := context.WithCancel(t.Context())
	silent := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		cancel()
		<-silent
	}))
	t.Cleanup(func() { close(silent); server.Close() })
	t.Setenv("npm_config_registry", server.URL)
	o := Options{CacheDir: t.TempDir()}
	if _, err := Command(ctx, []string{"npx", "a-server"}, o); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that it was cancelled", err)
	}
	wantCache(t, o, "npm", 0)
}
