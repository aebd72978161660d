package mcp

import "sync"

// FaultCode names a kind of fault.
type FaultCode string

// What a server can do wrong without ending the connection.
const (
	// StdoutNoise: text on stdout that is no message.
	StdoutNoise FaultCode = "stdout-noise"
	// CursorRepeats: a list page names a cursor that was followed before.
	CursorRepeats FaultCode = "cursor-repeats"
	// IDType: a reply carries the id as a string where a number was sent.
	IDType FaultCode = "id-type"
	// BadJSON: a message that is cut off, or spread over several lines.
	BadJSON FaultCode = "bad-json"
)

var faultMessages = map[FaultCode]string{
	StdoutNoise:   "the server writes text to stdout that is not a protocol message",
	CursorRepeats: "the server's tool list names a page cursor that was already followed, so it has no end",
	IDType:        "the server answers with the request id as a string, where a number was sent",
	BadJSON:       "the server sends a message that is not valid JSON on one line",
}

// Fault is something that a server did wrong and that a lenient client survives.
type Fault struct {
	Code    FaultCode
	Message string
	// Excerpt is the beginning of the first such text, safe to print.
	Excerpt string
	Count   int
}

// faultLog keeps one Fault a code, in order of first occurrence.
type faultLog struct {
	mu     sync.Mutex
	faults []Fault
}

// excerptLength is in bytes.
const excerptLength = 160

func (l *faultLog) add(code FaultCode, text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.faults {
		if l.faults[i].Code == code {
			l.faults[i].Count++
			return
		}
	}
	l.faults = append(l.faults, Fault{Code: code, Message: faultMessages[code], Excerpt: excerpt(text), Count: 1})
}

func (l *faultLog) all() []Fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Fault(nil), l.faults...)
}

func excerpt(text []byte) string {
	if len(text) > excerptLength {
		return printable(string(text[:excerptLength])) + "..."
	}
	return printable(string(text))
}
