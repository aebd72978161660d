package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Recorder is a Sink that writes the run record. Each event goes out in one
// write, so a record that is cut short is valid up to its last whole line.
type Recorder struct {
	mu  sync.Mutex
	out io.Writer
}

// NewRecorder makes a Recorder over a file or pipe that is not buffered.
func NewRecorder(out io.Writer) *Recorder { return &Recorder{out: out} }

// Emit implements Sink.
func (r *Recorder) Emit(e Event) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return fmt.Errorf("encoding an event of the run record: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.out.Write(line.Bytes()); err != nil {
		return fmt.Errorf("writing the run record: %w", err)
	}
	return nil
}

// Read reads a run record. A last line that is cut short is left out, as a run
// that was killed leaves one; anything else that is not an event is an error
// that names the line. Events of kinds that this version does not know are
// passed over, because the format is only ever extended.
func Read(r io.Reader) ([]Event, error) {
	in := bufio.NewReader(r)
	var events []Event
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return nil, fmt.Errorf("reading the run record: %w", err)
		}
		e, err := decode(line)
		switch {
		case len(bytes.TrimSpace(line)) == 0, err != nil && last && len(events) > 0:
		case err != nil:
			return nil, fmt.Errorf("run record, line %d: %w", n, err)
		case len(events) == 0 && e.Schema != Schema:
			return nil, fmt.Errorf("run record, line %d: the schema is %q, want %q", n, e.Schema, Schema)
		default:
			events = append(events, e)
		}
		if last {
			break
		}
	}
	if len(events) == 0 {
		return nil, errors.New("the run record is empty")
	}
	if events[0].Run == nil {
		return nil, errors.New("run record: it does not begin with a run event")
	}
	return events, nil
}

func decode(line []byte) (Event, error) {
	var e Event
	if err := json.Unmarshal(line, &e); err != nil {
		return Event{}, fmt.Errorf("not an event: %w", err)
	}
	return e, nil
}
