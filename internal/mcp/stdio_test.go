package mcp

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// nowhere takes all that is written.
type nowhere struct{ io.Writer }

func (nowhere) Close() error { return nil }

func TestStdioLines(t *testing.T) {
	const over = "over"
	tests := []struct {
		name, in string
		want     []string // over stands for a line that was too long
	}{
		{"nothing", "", nil},
		{"the last line needs no end", "a\nbc", []string{"a", "bc"}},
		{"empty lines", "\n\n", []string{"", ""}},
		{"at the limit", "12345678\n12345678", []string{"12345678", "12345678"}},
		{"over the limit, then on", "123456789\nb\n", []string{over, "b"}},
		{"over the limit at the end", "a\n123456789", []string{"a", over}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := NewStdio(nowhere{io.Discard}, bytes.NewReader([]byte(tt.in)), Limits{Message: 8})
			defer func() { _ = s.Close() }()
			var got []string
			for {
				line, err := s.Receive()
				if errors.Is(err, io.EOF) {
					break
				}
				if errors.As(err, new(*TooLargeError)) {
					line = []byte(over)
				} else if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(line))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever a server writes, reading it ends, and nothing but its lines comes of it.
func FuzzStdio(f *testing.F) {
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"))
	f.Add([]byte("noise\n{\"jsonrpc\":\n[{\"id\":\"1\",\"error\":{\"code\":1e99}}]\r\n{\"id\":null}"))
	f.Add([]byte("{\"jsonrpc\":2,\"method\":\"ping\",\"id\":[]}\n\xff\xfe\x00\n[\n{\n\"\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		c := newClient(NewStdio(nowhere{io.Discard}, bytes.NewReader(in), Limits{Message: 100}), Options{}.withDefaults())
		<-c.lost
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		lines := bytes.Count(in, []byte("\n")) + 1
		for _, fault := range c.Faults() {
			if fault.Count < 1 || fault.Count > lines {
				t.Errorf("%d times %s in %d lines", fault.Count, fault.Code, lines)
			}
		}
	})
}
