package cli_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ax-check/ax-check/internal/cli"
)

// run is one run of the program in this process.
func run(ctx context.Context, stdin io.Reader, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = cli.Main(ctx, args, cli.Stdio{In: stdin, Out: &out, Err: &errs}, nil)
	return code, out.String(), errs.String()
}

// A file over the limit is refused by its size, one byte below it is read.
func TestLintSizeLimitOfFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "big.json")
	if err := os.WriteFile(path, []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 100<<20); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := run(t.Context(), nil, "lint", path)
	want := "ax-check: error: " + path + ": the limit for a tool list is 64 MB, and this one has 100 MB\n"
	if code != 2 || stdout != "" || stderr != want {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

// endless is input that never ends; it counts what is taken from it.
type endless struct{ taken int }

func (e *endless) Read(p []byte) (int, error) {
	e.taken += len(p)
	return copy(p, bytes.Repeat([]byte(" "), len(p))), nil
}

func TestLintStopsReadingStdinAtTheLimit(t *testing.T) {
	var in endless
	code, _, stderr := run(t.Context(), &in, "lint", "-")
	if code != 2 || !strings.Contains(stderr, "<stdin>: the limit for a tool list is 64 MB") {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
	if limit := 64<<20 + 1; in.taken != limit {
		t.Errorf("took %d bytes, want %d", in.taken, limit)
	}
}

func TestLintIsInterruptedWhileItWaitsForStdin(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, writer := io.Pipe()
	defer writer.Close()
	go func() {
		writer.Write([]byte("[")) // returns when lint has begun to read
		cancel()
	}()
	code, stdout, stderr := run(ctx, in, "lint", "-")
	if code != 130 || stdout != "" || stderr != "ax-check: interrupted\n" {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestReportsThatCannotBeWrittenFail(t *testing.T) {
	for _, args := range [][]string{{"lint", "-"}, {"lint", "--format", "json", "-"}, {"rules"}, {"explain", "AXC-D010"}} {
		var errs bytes.Buffer
		stdio := cli.Stdio{In: strings.NewReader("[]"), Out: broken{}, Err: &errs}
		if code := cli.Main(t.Context(), args, stdio, nil); code != 3 || !strings.Contains(errs.String(), "writing the report") {
			t.Errorf("%v: code %d, stderr %q", args, code, errs.String())
		}
	}
}
