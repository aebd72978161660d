package files

import (
	"encoding/binary"
	"slices"
	"strings"
)

// sameGitIndex reports whether two contents are git indexes with the same entries.
// Git also keeps there when it last looked at each file, and writes the index
// anew when it looks again: reading a repository does so.
// Source: gitformat-index(5), versions 2 to 4, with SHA-1.
func sameGitIndex(a, b string) bool {
	before, ok := gitEntries(a)
	if !ok {
		return false
	}
	after, ok := gitEntries(b)
	return ok && slices.Equal(before, after)
}

// gitEntries lists what each entry says of the content: mode, object, flags, path.
func gitEntries(text string) (entries []string, ok bool) {
	const (
		header    = 12
		fixed     = 62 // to the end of the flags
		modeStart = 24
		modeEnd   = 28
		objStart  = 40
		extended  = 0x4000
	)
	if len(text) < header || !strings.HasPrefix(text, "DIRC") {
		return nil, false
	}
	version := binary.BigEndian.Uint32([]byte(text[4:8]))
	count := binary.BigEndian.Uint32([]byte(text[8:12]))
	if version < 2 || version > 4 {
		return nil, false
	}
	rest, path := text[header:], ""
	for range count {
		if len(rest) < fixed {
			return nil, false
		}
		size := fixed
		if version >= 3 && binary.BigEndian.Uint16([]byte(rest[60:62]))&extended != 0 {
			size += 2
		}
		said := rest[modeStart:modeEnd] + rest[objStart:min(size, len(rest))]
		name := rest[min(size, len(rest)):]
		kept := 0
		if version == 4 {
			strip, used := gitVarint(name)
			if used == 0 || strip > len(path) {
				return nil, false
			}
			kept, name, size = len(path)-strip, name[used:], size+used
		}
		end := strings.IndexByte(name, 0)
		if end < 0 {
			return nil, false
		}
		path = path[:kept] + name[:end]
		entries = append(entries, said+path)
		size += end + 1
		if version < 4 {
			size = (size + 7) / 8 * 8 // padded with NUL
		}
		if size > len(rest) {
			return nil, false
		}
		rest = rest[size:]
	}
	return entries, true
}

// gitVarint reads the offset encoding of git's pack format.
func gitVarint(text string) (value, used int) {
	for used < len(text) && used < 5 {
		c := text[used]
		if used > 0 {
			value++
		}
		value = value<<7 | int(c&0x7f)
		used++
		if c&0x80 == 0 {
			return value, used
		}
	}
	return 0, 0
}
