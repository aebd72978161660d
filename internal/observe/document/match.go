package document

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// matching says which element of the new version each element of the old one
// has become.
type matching struct {
	partner []int // by old position: the new position, or -1 for none
	taken   []bool
	// moved is true when elements known to be the same stand in another order.
	moved bool
}

// match pairs the elements of two arrays: equal ones that kept their order,
// equal ones that moved, those that share an identity, and last those that
// stand in the same place between equal neighbours.
func match(before, after []*node) matching {
	m := matching{partner: make([]int, len(before)), taken: make([]bool, len(after))}
	for i := range m.partner {
		m.partner[i] = -1
	}
	m.inOrder(before, after, 0, 0, 0)
	anchors := slices.Clone(m.partner)
	m.equal(before, after)
	identified := m.identified(before, after)
	m.moved = !increasing(m.partner)
	if !identified {
		m.byPlace(anchors)
	}
	return m
}

func (m *matching) pair(i, j int) {
	m.partner[i] = j
	m.taken[j] = true
}

// Bounds of the search for the longest common subsequence: a table of at most
// this many cells, else elements that occur once in each version, this deep.
const (
	maxTable = 1 << 18
	maxSplit = 16
)

// inOrder pairs equal elements without changing their order. The two slices
// begin at positions i and j of the whole arrays.
func (m *matching) inOrder(before, after []*node, i, j, depth int) {
	for len(before) > 0 && len(after) > 0 && before[0].digest == after[0].digest {
		m.pair(i, j)
		before, after, i, j = before[1:], after[1:], i+1, j+1
	}
	for len(before) > 0 && len(after) > 0 && before[len(before)-1].digest == after[len(after)-1].digest {
		before, after = before[:len(before)-1], after[:len(after)-1]
		m.pair(i+len(before), j+len(after))
	}
	switch {
	case len(before) == 0 || len(after) == 0:
	case len(before) <= maxTable/len(after):
		m.longest(before, after, i, j)
	case depth < maxSplit:
		m.split(before, after, i, j, depth)
	}
}

// longest finds the longest common subsequence with the classic table.
func (m *matching) longest(before, after []*node, i, j int) {
	width := len(after) + 1
	table := make([]int32, (len(before)+1)*width)
	for r := len(before) - 1; r >= 0; r-- {
		for s := len(after) - 1; s >= 0; s-- {
			if before[r].digest == after[s].digest {
				table[r*width+s] = table[(r+1)*width+s+1] + 1
			} else {
				table[r*width+s] = max(table[(r+1)*width+s], table[r*width+s+1])
			}
		}
	}
	for r, s := 0, 0; r < len(before) && s < len(after); {
		switch {
		case before[r].digest == after[s].digest:
			m.pair(i+r, j+s)
			r, s = r+1, s+1
		case table[(r+1)*width+s] >= table[r*width+s+1]:
			r++
		default:
			s++
		}
	}
}

// split anchors the comparison at elements that occur once in each slice
// (patience), and goes on between the anchors.
func (m *matching) split(before, after []*node, i, j, depth int) {
	r, s := 0, 0
	for _, a := range longestIncreasing(uniquePairs(before, after)) {
		m.inOrder(before[r:a.old], after[s:a.now], i+r, j+s, depth+1)
		m.pair(i+a.old, j+a.now)
		r, s = a.old+1, a.now+1
	}
	if r > 0 {
		m.inOrder(before[r:], after[s:], i+r, j+s, depth+1)
	}
}

type anchor struct{ old, now int }

// uniquePairs lists the elements that occur once in each slice, by old position.
func uniquePairs(before, after []*node) []anchor {
	const several = -1
	position := make(map[digest]int, len(after))
	for s, n := range after {
		if _, seen := position[n.digest]; seen {
			s = several
		}
		position[n.digest] = s
	}
	count := make(map[digest]int, len(before))
	for _, n := range before {
		count[n.digest]++
	}
	var pairs []anchor
	for r, n := range before {
		if s, ok := position[n.digest]; ok && s != several && count[n.digest] == 1 {
			pairs = append(pairs, anchor{r, s})
		}
	}
	return pairs
}

// longestIncreasing keeps the most anchors whose new positions increase
// (patience sorting).
func longestIncreasing(pairs []anchor) []anchor {
	var piles []int // index of the top of each pile
	below := make([]int, len(pairs))
	for k, p := range pairs {
		pile, _ := slices.BinarySearchFunc(piles, p.now, func(top, now int) int { return pairs[top].now - now })
		below[k] = -1
		if pile > 0 {
			below[k] = piles[pile-1]
		}
		if pile == len(piles) {
			piles = append(piles, k)
		} else {
			piles[pile] = k
		}
	}
	kept := make([]anchor, len(piles))
	for n := len(piles) - 1; n >= 0; n-- {
		k := piles[len(piles)-1]
		kept[n] = pairs[k]
		piles[len(piles)-1] = below[k]
	}
	return kept
}

// equal pairs equal elements wherever they stand.
func (m *matching) equal(before, after []*node) {
	free := map[digest][]int{}
	for j, n := range after {
		if !m.taken[j] {
			free[n.digest] = append(free[n.digest], j)
		}
	}
	for i, n := range before {
		if at := free[n.digest]; m.partner[i] < 0 && len(at) > 0 {
			m.pair(i, at[0])
			free[n.digest] = at[1:]
		}
	}
}

// identified pairs the remaining elements by a member that tells them apart. It
// reports whether there is one: then elements without a partner have none.
func (m *matching) identified(before, after []*node) bool {
	var old, now []int
	for i := range before {
		if m.partner[i] < 0 {
			old = append(old, i)
		}
	}
	for j := range after {
		if !m.taken[j] {
			now = append(now, j)
		}
	}
	if len(old) == 0 || len(now) == 0 {
		return false
	}
	key, ok := identity(pick(before, old), pick(after, now))
	if !ok {
		return false
	}
	position := make(map[digest]int, len(now))
	for _, j := range now {
		position[after[j].get(key).digest] = j
	}
	for _, i := range old {
		if j, ok := position[before[i].get(key).digest]; ok {
			m.pair(i, j)
		}
	}
	return true
}

func pick(nodes []*node, at []int) []*node {
	picked := make([]*node, len(at))
	for k, i := range at {
		picked[k] = nodes[i]
	}
	return picked
}

// usualIdentities are members that are taken for an identity by name, even when
// no value is found again. Any other member must prove itself by a match.
var usualIdentities = []string{"id", "_id", "uuid", "guid", "key", "name"}

// maxCandidates bounds how many members are tried as identity.
const maxCandidates = 32

// identity finds a member that all elements have and whose values tell the
// elements of each version apart.
func identity(before, after []*node) (key string, ok bool) {
	for _, key := range usualIdentities {
		if _, ok := sharedValues(before, after, key); ok {
			return key, true
		}
	}
	most := 0
	candidates := before[0].keys
	for _, candidate := range candidates[:min(len(candidates), maxCandidates)] {
		if n, ok := sharedValues(before, after, candidate); ok && n > most {
			key, most = candidate, n
		}
	}
	return key, most > 0
}

// sharedValues counts the values of a member that both versions have. ok is
// false when the member does not tell the elements of a version apart.
func sharedValues(before, after []*node, key string) (shared int, ok bool) {
	old, ok := distinctValues(before, key)
	if !ok {
		return 0, false
	}
	now, ok := distinctValues(after, key)
	if !ok {
		return 0, false
	}
	for d := range now {
		if old[d] {
			shared++
		}
	}
	return shared, true
}

func distinctValues(nodes []*node, key string) (map[digest]bool, bool) {
	values := make(map[digest]bool, len(nodes))
	for _, n := range nodes {
		if n.kind != jsontext.KindBeginObject {
			return nil, false
		}
		value := n.get(key)
		if value == nil || !value.isScalar() || value.kind == jsontext.KindNull || values[value.digest] {
			return nil, false
		}
		values[value.digest] = true
	}
	return values, true
}

// byPlace pairs what is left over between the same two anchors, in order.
func (m *matching) byPlace(anchors []int) {
	limit := make([]int, len(anchors)) // by old position: where the next anchor stands
	next := len(m.taken)
	for i := len(anchors) - 1; i >= 0; i-- {
		if anchors[i] >= 0 {
			next = anchors[i]
		}
		limit[i] = next
	}
	j := 0
	for i := range m.partner {
		if anchors[i] >= 0 {
			j = anchors[i] + 1
			continue
		}
		for j < limit[i] && m.taken[j] {
			j++
		}
		if m.partner[i] < 0 && j < limit[i] {
			m.pair(i, j)
		}
	}
}

func increasing(partner []int) bool {
	last := -1
	for _, j := range partner {
		if j < 0 {
			continue
		}
		if j < last {
			return false
		}
		last = j
	}
	return true
}
