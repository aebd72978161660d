package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/ax-check/ax-check/internal/finding"
	"github.com/ax-check/ax-check/internal/toolset"
)

// source is where a tool list comes from. Its findings are those that only
// loading shows.
type source interface {
	fmt.Stringer
	load(ctx context.Context) (toolset.Set, []finding.Finding, error)
}

// fileSource is the path of a file.
type fileSource struct{ path string }

func (s fileSource) String() string { return s.path }

func (s fileSource) load(ctx context.Context) (toolset.Set, []finding.Finding, error) {
	text, err := s.read(ctx)
	if err != nil {
		return toolset.Set{}, nil, unreadable(err)
	}
	return parse(s.path, text)
}

// read looks at the size before it reads anything, so that a huge file costs
// neither time nor memory.
func (s fileSource) read(ctx context.Context) ([]byte, error) {
	file, err := os.Open(s.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: s.path, Err: errors.New("is a directory")}
	}
	if info.Size() > toolset.MaxBytes {
		return nil, tooLarge(s.path, fmt.Sprintf("has %d MB", info.Size()>>20))
	}
	return readLimited(ctx, file, s.path)
}

// stdinSource is whatever stdin holds.
type stdinSource struct{ in io.Reader }

func (s stdinSource) String() string { return "<stdin>" }

func (s stdinSource) load(ctx context.Context) (toolset.Set, []finding.Finding, error) {
	text, err := readLimited(ctx, s.in, s.String())
	if err != nil {
		return toolset.Set{}, nil, unreadable(err)
	}
	return parse(s.String(), text)
}

// readLimited stops reading one byte after the limit. A read cannot be called
// off: when ctx ends, as on Ctrl-C at a terminal, it is left behind, and the
// program ends.
func readLimited(ctx context.Context, r io.Reader, name string) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := io.ReadAll(io.LimitReader(r, toolset.MaxBytes+1))
		done <- result{text, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case read := <-done:
		if read.err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, read.err)
		}
		if len(read.text) > toolset.MaxBytes {
			return nil, tooLarge(name, "is larger than that")
		}
		return read.text, nil
	}
}

func tooLarge(name, size string) error {
	return fmt.Errorf("%s: the limit for a tool list is %d MB, and this one %s", name, toolset.MaxBytes>>20, size)
}

func parse(name string, text []byte) (toolset.Set, []finding.Finding, error) {
	set, err := toolset.Parse(name, text)
	if err != nil {
		return toolset.Set{}, nil, unreadable(err)
	}
	return set, nil, nil
}

func unreadable(err error) error { return usage(err, "") }
