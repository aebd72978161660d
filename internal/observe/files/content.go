package files

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"unicode/utf8"
	"unique"
)

const (
	// maxHeld is the largest file whose content an index holds.
	maxHeld = 1 << 20
	// maxHeldTotal is how much content an index holds in all.
	maxHeldTotal = 64 << 20
	// maxDigested bounds the work that one file can cause, sparse ones above
	// all: what lies beyond is not compared.
	maxDigested = 256 << 20
)

// readContent digests what r yields and, when hold is true and it is small
// enough, holds it. The first prefixSize bytes get a digest of their own.
func readContent(r io.Reader, buffer []byte, prefixSize int64, hold bool) (content, error) {
	c := content{text: true}
	hash := sha256.New()
	var text textCheck
	var held []byte
	var size int64
	for size < maxDigested {
		n, err := r.Read(buffer[:min(int64(len(buffer)), maxDigested-size)])
		chunk := buffer[:n]
		text.add(chunk)
		if hold = hold && size+int64(n) <= maxHeld; hold {
			held = append(held, chunk...)
		}
		if rest := prefixSize - size; 0 < rest && rest <= int64(n) {
			hash.Write(chunk[:rest])
			hash.Sum(c.prefix[:0])
			c.prefixSize = prefixSize
			chunk = chunk[rest:]
		}
		hash.Write(chunk)
		size += int64(n)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return content{}, err
		}
	}
	hash.Sum(c.digest[:0])
	c.text = text.valid()
	c.truncated = size == maxDigested
	if hold {
		c.held = true
		c.bytes = unique.Make(string(held))
	}
	return c, nil
}

// textCheck tells of a text that arrives in pieces whether it is valid UTF-8
// without NUL.
type textCheck struct {
	begun  []byte // the first bytes of a rune that the next piece completes
	binary bool
}

func (t *textCheck) add(piece []byte) {
	for len(t.begun) > 0 && len(piece) > 0 && !utf8.FullRune(t.begun) {
		t.begun = append(t.begun, piece[0])
		piece = piece[1:]
	}
	if len(t.begun) > 0 && utf8.FullRune(t.begun) {
		t.binary = t.binary || !utf8.Valid(t.begun)
		t.begun = t.begun[:0]
	}
	if t.binary || len(piece) == 0 {
		return
	}
	whole := len(piece)
	for back := 1; back < utf8.UTFMax && back <= len(piece); back++ {
		if start := len(piece) - back; utf8.RuneStart(piece[start]) {
			if !utf8.FullRune(piece[start:]) {
				whole = start
			}
			break
		}
	}
	t.begun = append(t.begun, piece[whole:]...)
	t.binary = !utf8.Valid(piece[:whole]) || bytes.IndexByte(piece[:whole], 0) >= 0
}

func (t *textCheck) valid() bool { return !t.binary && len(t.begun) == 0 }
