package terminal_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ax-check/ax-check/internal/effect"
	"github.com/ax-check/ax-check/internal/report"
	"github.com/ax-check/ax-check/internal/report/terminal"
)

func TestProgress(t *testing.T) {
	events := []report.Event{
		report.First(report.Start{}),
		{Progress: &report.Progress{Tool: "add_\x1bnote", Trial: effect.Twice, Done: 3, Total: 12, Millis: 1234}},
	}
	tests := map[string]struct {
		live bool
		want string
	}{
		"one live line, cleared at the end": {live: true, want: "\r\x1b[K3/12  add_\uFFFDnote  twice  1.2s\r\x1b[K"},
		"nothing at all without a terminal": {live: false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			p := &terminal.Progress{Out: &out, Live: tt.live}
			for _, e := range events {
				if err := p.Emit(e); err != nil {
					t.Fatal(err)
				}
			}
			p.Close()
			p.Close()
			if diff := cmp.Diff(tt.want, out.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
