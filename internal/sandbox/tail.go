package sandbox

import (
	"io"
	"sync"
	"time"
)

// tail keeps the last bytes of a stream.
type tail struct {
	mu   sync.Mutex
	data []byte
	done chan struct{}
}

const tailBytes = 16 << 10

// drain is how long a stream is waited for whose program has ended. Its children
// may hold it open for ever.
const drain = 200 * time.Millisecond

// keepTail drains r until it ends.
func keepTail(r io.ReadCloser) *tail {
	t := &tail{done: make(chan struct{})}
	go func() {
		defer close(t.done)
		defer func() { _ = r.Close() }()
		chunk := make([]byte, 32<<10)
		for {
			n, err := r.Read(chunk)
			t.add(chunk[:n])
			if err != nil {
				return
			}
		}
	}()
	return t
}

func (t *tail) add(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, b...)
	if over := len(t.data) - tailBytes; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
}

// finish waits until the stream has been read to its end.
func (t *tail) finish() {
	select {
	case <-t.done:
	case <-time.After(drain):
	}
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.data)
}
