package files

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

func TestReadContent(t *testing.T) {
	text := []byte("grün and blue")
	for prefix := range int64(len(text)) + 2 {
		c, err := readContent(iotest.OneByteReader(bytes.NewReader(text)), make([]byte, 8), prefix, true)
		if err != nil {
			t.Fatal(err)
		}
		if c.digest != sha256.Sum256(text) || !c.held || c.bytes.Value() != string(text) || !c.text || c.truncated {
			t.Errorf("prefix %d: content %+v", prefix, c)
		}
		inside := prefix > 0 && prefix <= int64(len(text))
		if inside != (c.prefixSize == prefix && c.prefix == sha256.Sum256(text[:min(prefix, int64(len(text)))])) {
			t.Errorf("prefix %d: got the digest of the first %d bytes", prefix, c.prefixSize)
		}
	}
	if _, err := readContent(iotest.TimeoutReader(bytes.NewReader(text)), make([]byte, 4), 0, true); err == nil {
		t.Error("an error of the reader was swallowed")
	}
}

func FuzzTextCheck(f *testing.F) {
	f.Add([]byte("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"), 1)
	f.Add([]byte("a\x00b"), 2)
	f.Add([]byte("\xf0\x9f\x98"), 3)
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		if size < 1 {
			return
		}
		var check textCheck
		for piece := range slices.Chunk(text, size) {
			check.add(piece)
		}
		want := utf8.Valid(text) && !bytes.Contains(text, []byte{0})
		if got := check.valid(); got != want {
			t.Errorf("valid() = %v in pieces of %d, want %v", got, size, want)
		}
	})
}

func FuzzDiffering(f *testing.F) {
	f.Add("one\ntwo\nthree", "one\n2\nthree")
	f.Add("é", "è")
	f.Add("x\nz\n", "x\ny\nz\n")
	f.Fuzz(func(t *testing.T, a, b string) {
		if a == b || !utf8.ValidString(a) || !utf8.ValidString(b) {
			return
		}
		was, is := differing(a, b)
		if was == is {
			t.Errorf("differing(%q, %q) gives the same %q twice", a, b, was)
		}
		if !utf8.ValidString(was) || !utf8.ValidString(is) {
			t.Errorf("differing(%q, %q) cuts a rune: %q, %q", a, b, was, is)
		}
	})
}
