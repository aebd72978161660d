package document

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/ax-check/ax-check/internal/effect"
)

// comparer collects the effects of one document. A place is an RFC 6901
// pointer.
type comparer struct {
	effects []effect.Effect
}

func (c *comparer) values(place string, before, after *node) {
	switch {
	case before.digest == after.digest:
	case before.kind == jsontext.KindBeginObject && after.kind == before.kind:
		c.objects(place, before, after)
	case before.kind == jsontext.KindBeginArray && after.kind == before.kind:
		c.arrays(place, 0, before.values, after.values)
	default:
		c.add(effect.Modify, place, before, after)
	}
}

func (c *comparer) objects(place string, before, after *node) {
	position := make(map[string]int, len(after.keys))
	for i, key := range after.keys {
		position[key] = i
	}
	kept := make([]bool, len(after.keys))
	for i, key := range before.keys {
		j, ok := position[key]
		if !ok {
			c.add(effect.Delete, member(place, key), before.values[i], nil)
			continue
		}
		kept[j] = true
		c.values(member(place, key), before.values[i], after.values[j])
	}
	for j, key := range after.keys {
		if !kept[j] {
			c.add(effect.Append, member(place, key), nil, after.values[j])
		}
	}
}

// arrays compares the elements of an array, or the records of a JSON Lines
// text, of which first ones are known to be equal and left out.
func (c *comparer) arrays(place string, first int, before, after []*node) {
	m := match(before, after)
	found := len(c.effects)
	taken := make([]bool, len(after))
	for i, j := range m.partner {
		if j < 0 {
			c.add(effect.Delete, element(place, first+i), before[i], nil)
			continue
		}
		taken[j] = true
		c.values(element(place, first+j), before[i], after[j])
	}
	for j := range after {
		if !taken[j] {
			c.add(effect.Append, element(place, first+j), nil, after[j])
		}
	}
	if !m.moved {
		return
	}
	detail := "order changed"
	if len(c.effects) == found {
		detail = "order only"
	}
	old, cutOld := excerptAll(before)
	now, cutNow := excerptAll(after)
	c.effects = append(c.effects, effect.Effect{
		Class: effect.Modify, Kind: effect.KindJSON, Target: target(place),
		Before: &old, After: &now, Truncated: cutOld || cutNow,
		Digest: orderDigest(after), Detail: detail,
	})
}

func (c *comparer) add(class effect.Class, place string, before, after *node) {
	e := effect.Effect{Class: class, Kind: effect.KindJSON, Target: target(place)}
	if before != nil {
		text, cut := excerpt(before.raw)
		e.Before, e.Truncated = &text, cut
	}
	if after != nil {
		text, cut := excerpt(after.raw)
		e.After, e.Truncated = &text, e.Truncated || cut
		e.Digest = hex.EncodeToString(after.digest[:8])
	}
	c.effects = append(c.effects, e)
}

var escapeKey = strings.NewReplacer("~", "~0", "/", "~1")

func member(place, key string) string { return place + "/" + escapeKey.Replace(key) }

func element(place string, index int) string { return place + "/" + strconv.Itoa(index) }

func target(place string) string {
	if place == "" {
		return ""
	}
	return "#" + place
}

func orderDigest(nodes []*node) string {
	var meaning []byte
	for _, n := range nodes {
		meaning = append(meaning, n.digest[:]...)
	}
	sum := digestOf(meaning)
	return hex.EncodeToString(sum[:8])
}

// excerptBytes is the most that an effect shows of a value.
const excerptBytes = 400

// excerpt is a value on one line, cut to a readable length.
func excerpt(raw []byte) (text string, cut bool) {
	// Spacing can make a short value long, but not without bound: beyond this
	// the value is not worth the work.
	if len(raw) <= 16*excerptBytes {
		value := jsontext.Value(slices.Clone(raw))
		if value.Compact() == nil {
			raw = value
		}
	}
	if len(raw) <= excerptBytes {
		return string(raw), false
	}
	return strings.ToValidUTF8(string(raw[:excerptBytes]), ""), true
}

// excerptAll shows elements as an array.
func excerptAll(nodes []*node) (text string, cut bool) {
	var b strings.Builder
	b.WriteByte('[')
	for i, n := range nodes {
		if i > 0 {
			b.WriteByte(',')
		}
		text, _ := excerpt(n.raw)
		b.WriteString(text)
		if b.Len() > excerptBytes {
			return strings.ToValidUTF8(b.String()[:excerptBytes], ""), true
		}
	}
	b.WriteByte(']')
	return b.String(), false
}

// maxEffects is how many effects of one class a document gives. The cap is by
// class, so that no flood of additions can hide that something was lost.
const maxEffects = 50

// capped keeps the first effects of each class. The last one kept counts the
// others and takes their digests into its own, so that two floods that differ
// beyond the cap are still told apart.
func capped(effects []effect.Effect) []effect.Effect {
	count := map[effect.Class]int{}
	last := map[effect.Class]int{}
	rest := map[effect.Class][]byte{}
	var kept []effect.Effect
	for _, e := range effects {
		count[e.Class]++
		if count[e.Class] > maxEffects {
			rest[e.Class] = append(rest[e.Class], e.Target+" "+e.Digest+"\n"...)
			continue
		}
		last[e.Class] = len(kept)
		kept = append(kept, e)
	}
	for class, texts := range rest {
		e := &kept[last[class]]
		more := fmt.Sprintf("and %d more", count[class]-maxEffects)
		if e.Detail != "" {
			more = e.Detail + ", " + more
		}
		e.Detail = more
		sum := digestOf(append(texts, e.Digest...))
		e.Digest = hex.EncodeToString(sum[:8])
	}
	return kept
}
