package document

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// digest identifies a value: two values are equal when their digests are,
// whatever their spelling, spacing and key order.
type digest [16]byte

// node is one JSON value.
type node struct {
	kind   jsontext.Kind
	raw    []byte // as written
	digest digest
	keys   []string // of an object, in the order written
	values []*node  // the elements of an array, or the values of keys
}

// get returns the member of an object, or nil.
func (n *node) get(key string) *node {
	if i := slices.Index(n.keys, key); i >= 0 {
		return n.values[i]
	}
	return nil
}

func (n *node) isScalar() bool {
	return n.kind != jsontext.KindBeginObject && n.kind != jsontext.KindBeginArray
}

// parse reads a text that holds one value and nothing else.
func parse(text []byte, f form) (*node, bool) {
	nodes := 0
	return parseCounted(text, f, &nodes)
}

// parseLines reads a text that holds one value a line; blank lines are allowed.
func parseLines(text []byte, f form) ([]*node, bool) {
	var records []*node
	nodes := 0
	for line := range bytes.Lines(text) {
		if isBlank(line) {
			continue
		}
		n, ok := parseCounted(line, f, &nodes)
		if !ok {
			return nil, false
		}
		records = append(records, n)
	}
	return records, true
}

// countRecords checks that a text holds one value a line, and counts them.
func countRecords(text []byte, f form) (int, bool) {
	count := 0
	for line := range bytes.Lines(text) {
		if isBlank(line) {
			continue
		}
		value := jsontext.Value(line)
		if !f.accepts(value.Kind()) || !value.IsValid() {
			return 0, false
		}
		count++
	}
	return count, true
}

func (f form) accepts(k jsontext.Kind) bool {
	return f.scalars || k == jsontext.KindBeginObject || k == jsontext.KindBeginArray
}

func isBlank(line []byte) bool { return len(bytes.Trim(line, " \t\r\n")) == 0 }

func parseCounted(text []byte, f form, nodes *int) (*node, bool) {
	p := parser{text: text, decoder: jsontext.NewDecoder(bytes.NewBuffer(text)), nodes: nodes}
	if !f.accepts(p.decoder.PeekKind()) {
		return nil, false
	}
	n, err := p.value(0)
	if err != nil {
		return nil, false
	}
	_, err = p.decoder.ReadToken()
	return n, err == io.EOF
}

var errBounds = errors.New("beyond the bounds of depth or count")

type parser struct {
	text    []byte
	decoder *jsontext.Decoder
	nodes   *int // values read so far, in this and in earlier lines
}

func (p *parser) value(depth int) (*node, error) {
	*p.nodes++
	if depth > maxDepth || *p.nodes > maxNodes {
		return nil, errBounds
	}
	switch kind := p.decoder.PeekKind(); kind {
	case jsontext.KindBeginObject, jsontext.KindBeginArray:
		return p.container(kind, depth)
	default:
		return p.scalar()
	}
}

func (p *parser) scalar() (*node, error) {
	value, err := p.decoder.ReadValue()
	if err != nil {
		return nil, err
	}
	end := int(p.decoder.InputOffset())
	n := &node{kind: value.Kind(), raw: p.text[end-len(value) : end]}
	meaning := []byte{byte(n.kind)}
	switch n.kind {
	case jsontext.KindString:
		if meaning, err = jsontext.AppendUnquote(meaning, n.raw); err != nil {
			return nil, err
		}
	case jsontext.KindNumber:
		meaning = append(meaning, canonicalNumber(string(n.raw))...)
	}
	n.digest = digestOf(meaning)
	return n, nil
}

func (p *parser) container(kind jsontext.Kind, depth int) (*node, error) {
	if _, err := p.decoder.ReadToken(); err != nil {
		return nil, err
	}
	start := int(p.decoder.InputOffset()) - 1
	n := &node{kind: kind}
	for {
		switch p.decoder.PeekKind() {
		case jsontext.KindEndObject, jsontext.KindEndArray:
			if _, err := p.decoder.ReadToken(); err != nil {
				return nil, err
			}
			n.raw = p.text[start:p.decoder.InputOffset()]
			n.digest = containerDigest(n)
			return n, nil
		}
		if kind == jsontext.KindBeginObject {
			key, err := p.decoder.ReadToken()
			if err != nil {
				return nil, err
			}
			n.keys = append(n.keys, key.String())
		}
		child, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		n.values = append(n.values, child)
	}
}

// containerDigest makes the order of an object's keys not matter.
func containerDigest(n *node) digest {
	order := make([]int, len(n.values))
	for i := range order {
		order[i] = i
	}
	if n.keys != nil {
		slices.SortFunc(order, func(i, j int) int { return strings.Compare(n.keys[i], n.keys[j]) })
	}
	meaning := []byte{byte(n.kind)}
	for _, i := range order {
		if n.keys != nil {
			meaning = binary.AppendUvarint(meaning, uint64(len(n.keys[i])))
			meaning = append(meaning, n.keys[i]...)
		}
		meaning = append(meaning, n.values[i].digest[:]...)
	}
	return digestOf(meaning)
}

func digestOf(meaning []byte) digest {
	sum := sha256.Sum256(meaning)
	return digest(sum[:16])
}

// canonicalNumber writes a JSON number so that equal values have equal texts:
// its significant digits, and the power of ten of the last one. Exponents too
// long for an integer are left as they were written.
func canonicalNumber(text string) string {
	digits, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	digits, negative := strings.CutPrefix(digits, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	significant := strings.TrimRight(digits, "0")
	if significant == "" {
		return "0"
	}
	power := 0
	if exponent != "" {
		var err error
		if power, err = strconv.Atoi(exponent); err != nil || power > 1<<60 || power < -1<<60 {
			return text
		}
	}
	power += len(digits) - len(significant) - len(fraction)
	sign := ""
	if negative {
		sign = "-"
	}
	return sign + significant + "e" + strconv.Itoa(power)
}
