package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// events reads the data of server-sent events
// (https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream).
// Names, ids and retry times do not matter here.
type events struct {
	lines *bufio.Reader
	limit int // bytes of one event
}

func newEvents(body io.Reader, limit int) *events {
	return &events{lines: bufio.NewReaderSize(body, 64<<10), limit: limit}
}

// next gives the data of the next event that has any, and io.EOF after the last.
// An event that the stream ends within does not count.
func (e *events) next() ([]byte, error) {
	var data []byte
	found := false
	for {
		line, err := e.line()
		if err != nil {
			return nil, err
		}
		if len(line) == 0 && found {
			return data, nil
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		if string(field) != "data" {
			continue
		}
		if found {
			data = append(data, '\n')
		}
		data = append(data, bytes.TrimPrefix(value, []byte(" "))...)
		found = true
		if len(data) > e.limit {
			return nil, &TooLargeError{Limit: e.limit}
		}
	}
}

// line reads a line that ends in LF or CRLF, without its end.
func (e *events) line() ([]byte, error) {
	const field = len("data: ") + len("\r\n")
	var line []byte
	for {
		part, err := e.lines.ReadSlice('\n')
		if len(line)+len(part) > e.limit+field {
			return nil, &TooLargeError{Limit: e.limit}
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return bytes.TrimRight(line, "\r\n"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}
