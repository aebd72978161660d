package jsondoc

import "sort"

// block is the distance in bytes between two counted places.
const block = 1024

// lineIndex finds lines by search and columns by counting at most one block of
// characters at either end, so that a document on one long line is no slower.
type lineIndex struct {
	starts []int // offset of the first byte of each line
	runes  []int // characters before every block
}

func indexLines(text []byte) lineIndex {
	index := lineIndex{starts: []int{0}}
	count := 0
	for i, c := range text {
		if i%block == 0 {
			index.runes = append(index.runes, count)
		}
		if startsCharacter(c) {
			count++
		}
		if c == '\n' {
			index.starts = append(index.starts, i+1)
		}
	}
	return index
}

func (x lineIndex) at(text []byte, offset int) (line, column int) {
	offset = max(0, min(offset, len(text)))
	line = sort.SearchInts(x.starts, offset+1)
	return line, x.before(text, offset) - x.before(text, x.starts[line-1]) + 1
}

// before counts the characters that begin before offset.
func (x lineIndex) before(text []byte, offset int) int {
	if len(x.runes) == 0 {
		return 0
	}
	b := min(offset/block, len(x.runes)-1)
	count := x.runes[b]
	for _, c := range text[b*block : offset] {
		if startsCharacter(c) {
			count++
		}
	}
	return count
}

// startsCharacter is false for the second and later bytes of a UTF-8 sequence.
func startsCharacter(c byte) bool { return c&0xC0 != 0x80 }
