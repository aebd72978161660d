package process

import (
	"bytes"
	"strings"
	"sync"
)

// tailBytes is how much of stderr is kept.
const tailBytes = 16 << 10

// tail keeps the last bytes written to it.
type tail struct {
	mu   sync.Mutex
	data []byte
	cut  bool // something before data is gone
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, b...)
	if over := len(t.data) - tailBytes; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
		t.cut = true
	}
	return len(b), nil
}

// String leaves out the rest of a line whose beginning is gone.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	data := t.data
	if t.cut {
		if _, whole, found := bytes.Cut(data, []byte("\n")); found {
			data = whole
		}
	}
	return strings.ToValidUTF8(string(data), "\uFFFD")
}
