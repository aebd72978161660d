package process

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTail(t *testing.T) {
	line := strings.Repeat("x", 1023) + "\n"
	full := strings.Repeat(line, tailBytes/len(line))
	tests := []struct {
		name   string
		writes []string
		want   string
	}{
		{"nothing", nil, ""},
		{"little", []string{"a\n", "b"}, "a\nb"},
		{"just what fits", []string{full}, full},
		{"more than fits starts with a whole line", []string{full, "end"}, full[len(line):] + "end"},
		{"one write of more than fits", []string{"lost\n" + full + "end"}, full[len(line):] + "end"},
		{"one long line keeps its end", []string{strings.Repeat("y", 2*tailBytes), "end"}, strings.Repeat("y", tailBytes-3) + "end"},
		{"bytes that are no text", []string{"\xff\xfe!"}, "\uFFFD!"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var kept tail
			for _, w := range test.writes {
				if n, err := kept.Write([]byte(w)); n != len(w) || err != nil {
					t.Fatalf("Write: %d, %v", n, err)
				}
			}
			if diff := cmp.Diff(test.want, kept.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
