package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// NewStdio speaks to a server over its standard streams, one message a line
// (https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio).
// in is the server's stdin, out its stdout. Close closes in, and out if it can
// be closed; if it cannot, ending the server has to end it.
func NewStdio(in io.WriteCloser, out io.Reader, limits Limits) Transport {
	s := &stdio{
		in: in, out: out, lines: bufio.NewReaderSize(out, 64<<10), limit: limits.message(),
		writes: make(chan write), closed: make(chan struct{}), written: make(chan struct{}),
	}
	go s.write()
	return s
}

type stdio struct {
	in    io.WriteCloser
	out   io.Reader
	lines *bufio.Reader
	limit int // bytes

	// One goroutine writes, because a write to a server that does not read can be
	// ended only by Close.
	writes  chan write
	written chan struct{} // closed when that goroutine has ended
	closed  chan struct{}
	once    sync.Once
}

type write struct {
	line []byte
	done chan error // has room for the outcome
}

func (s *stdio) write() {
	defer close(s.written)
	for {
		select {
		case w := <-s.writes:
			_, err := s.in.Write(w.line)
			w.done <- err
		case <-s.closed:
			return
		}
	}
}

// Send writes the message and a line feed.
func (s *stdio) Send(ctx context.Context, m Message) error {
	w := write{line: append(bytes.Clone(m.Body), '\n'), done: make(chan error, 1)}
	select {
	case s.writes <- w:
	case <-s.closed:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-w.done:
		if err != nil {
			return fmt.Errorf("%w: writing to it: %w", ErrGone, err)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

var errClosed = errors.New("the connection was closed")

// Receive reads the next line, without its line feed.
func (s *stdio) Receive() ([]byte, error) {
	var line []byte
	size := 0
	for {
		part, err := s.lines.ReadSlice('\n')
		size += len(part)
		if size <= s.limit+1 { // the line feed is not of the message
			line = append(line, part...)
		} else {
			line = nil
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && size == 0 {
			return nil, err
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		if size > s.limit+1 || len(line) > s.limit {
			return nil, &TooLargeError{Limit: s.limit}
		}
		return line, nil
	}
}

// Close closes both streams and waits for the writing goroutine.
func (s *stdio) Close() error {
	var err error
	s.once.Do(func() {
		close(s.closed)
		if err = s.in.Close(); errors.Is(err, os.ErrClosed) {
			err = nil // whoever ends the server may close it first
		}
		if c, ok := s.out.(io.Closer); ok {
			_ = c.Close() // nothing is lost: no one reads any more
		}
		<-s.written
	})
	return err
}
