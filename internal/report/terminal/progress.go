package terminal

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/ax-check/ax-check/internal/report"
)

// clearLine returns to the start of the line and erases it.
const clearLine = "\r\x1b[K"

// Progress is a report.Sink that keeps one live line on a terminal: how far the
// run is, the tool, the trial and the time so far. It writes nothing at all
// where Live is false.
type Progress struct {
	Out   io.Writer
	Live  bool // Out is a terminal
	Width int  // its columns; 0 when unknown

	mu    sync.Mutex
	shown bool
}

// Emit implements report.Sink; it looks at progress events only. A terminal
// that has gone away is no reason to end the run, so it returns no error.
func (p *Progress) Emit(e report.Event) error {
	if !p.Live || e.Progress == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown = true
	columns := Format{Width: p.Width}.columns() - 1 // a full line would wrap
	_, _ = io.WriteString(p.Out, clearLine+cut(clean(state(*e.Progress)), columns))
	return nil
}

// Say shows a few words about what is going on before there is a run.
func (p *Progress) Say(words string) {
	if !p.Live {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown = true
	_, _ = io.WriteString(p.Out, clearLine+cut(clean(words), Format{Width: p.Width}.columns()-1))
}

// Close clears the line.
func (p *Progress) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		_, _ = io.WriteString(p.Out, clearLine)
		p.shown = false
	}
}

func state(p report.Progress) string {
	elapsed := time.Duration(p.Millis) * time.Millisecond
	return fmt.Sprintf("%d/%d  %s  %s  %s", p.Done, p.Total, p.Tool, p.Trial, elapsed.Round(100*time.Millisecond))
}
