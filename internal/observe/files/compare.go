package files

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ax-check/ax-check/internal/effect"
	"github.com/ax-check/ax-check/internal/observe/document"
)

// compare tells what became of a path that was there before and after.
func compare(p string, old, now *entry) []effect.Effect {
	if isSealed(old) || isSealed(now) {
		return nil // the folder's own effect tells of it
	}
	if old.mode.Type() != now.mode.Type() {
		return []effect.Effect{replaced(p, old, now)}
	}
	var effects []effect.Effect
	switch {
	case now.isRegular():
		effects = compareContent(p, old, now)
	case old.target != now.target:
		effects = append(effects, modified(p, old, now))
	}
	if e, changed := compareMetadata(p, old, now); changed {
		effects = append(effects, e)
	}
	if len(effects) == 0 && now.isRegular() {
		return compareTraces(p, old, now)
	}
	return effects
}

// isSealed reports whether an entry lies in a folder that may not be searched.
func isSealed(e *entry) bool { return e.unread && e.mode&fs.ModeIrregular != 0 }

func modified(p string, old, now *entry) effect.Effect {
	e := effect.Effect{Class: effect.Modify, Kind: kindOf(now), Target: p, Digest: digestOf(now)}
	var cutOld, cutNow bool
	e.Before, cutOld = show(old)
	e.After, cutNow = show(now)
	e.Truncated = cutOld || cutNow
	return e
}

func replaced(p string, old, now *entry) effect.Effect {
	e := modified(p, old, now)
	e.Detail = fmt.Sprintf("was a %s, is a %s", typeName(old), typeName(now))
	return e
}

// compareContent gives the class of a change by what it did to the old bytes:
// kept them all, kept the structure of a document, or replaced some.
func compareContent(p string, old, now *entry) []effect.Effect {
	e := effect.Effect{Kind: effect.KindFile, Target: p, Digest: digestOf(now)}
	written := old.size != now.size || old.mtime != now.mtime || (old.host == "" && old.identity != now.identity)
	switch {
	case old.unread || now.unread:
		if !written {
			return nil
		}
		e.Class, e.Detail = effect.Rewritten, "not readable"
		return []effect.Effect{e}
	case old.digest == now.digest && (old.size == now.size || now.truncated):
		if !now.truncated || !written {
			return nil
		}
		e.Class, e.Detail = effect.Rewritten, fmt.Sprintf("only the first %d MiB were compared", maxDigested>>20)
		return []effect.Effect{e}
	case now.size == 0:
		e = modified(p, old, now)
		e.Detail = "emptied"
		return []effect.Effect{e}
	case old.held && now.held && sameGitIndex(old.bytes.Value(), now.bytes.Value()):
		e.Class, e.Volatile, e.Detail = effect.Rewritten, true, "git looked at its files again; the entries are the same"
		return []effect.Effect{e}
	case isPrefix(old, now):
		e.Class, e.Detail = effect.Append, fmt.Sprintf("%d bytes added at the end", now.size-old.size)
		e.After, e.Truncated = showAdded(old, now)
		return []effect.Effect{e}
	}
	if effects, ok := compareDocument(p, old, now); ok {
		return effects
	}
	e.Class = effect.Rewritten
	if old.text && now.text {
		e.Class = effect.Modify
	}
	e.Before, e.After, e.Truncated = showDifference(old, now)
	return []effect.Effect{e}
}

func isPrefix(old, now *entry) bool {
	switch {
	case old.size > now.size || old.truncated:
		return false
	case old.size == 0:
		return true
	case old.held && now.held:
		return strings.HasPrefix(now.bytes.Value(), old.bytes.Value())
	}
	return now.prefixSize == old.size && now.prefix == old.digest
}

func compareDocument(p string, old, now *entry) ([]effect.Effect, bool) {
	if !old.held || !now.held || !old.text || !now.text {
		return nil, false
	}
	effects, ok := document.Compare([]byte(old.bytes.Value()), []byte(now.bytes.Value()), p)
	for i := range effects {
		effects[i].Target = p + effects[i].Target
	}
	return effects, ok
}

// compareMetadata tells of mode, owner and the user's extended attributes.
func compareMetadata(p string, old, now *entry) (effect.Effect, bool) {
	var before, after, details []string
	note := func(name, was, is string) {
		if was != is {
			before = append(before, name+" "+was)
			after = append(after, name+" "+is)
			details = append(details, name+" "+was+" -> "+is)
		}
	}
	if now.mode&fs.ModeSymlink == 0 {
		note("mode", octal(old.mode), octal(now.mode))
	}
	note("owner", owner(old), owner(now))
	names := slices.Concat(slices.Collect(maps.Keys(old.xattrs)), slices.Collect(maps.Keys(now.xattrs)))
	slices.Sort(names)
	if !old.unread && !now.unread {
		for _, name := range slices.Compact(names) {
			note(name, attribute(old, name), attribute(now, name))
		}
	}
	if len(details) == 0 {
		return effect.Effect{}, false
	}
	was, cutOld := clip(strings.Join(before, ", "))
	is, cutNow := clip(strings.Join(after, ", "))
	detail, _ := clip(strings.Join(details, ", "))
	return effect.Effect{
		Class: effect.Modify, Kind: effect.KindMetadata, Target: p, Before: &was, After: &is,
		Truncated: cutOld || cutNow, Detail: detail,
		Digest: short(sha256.Sum256([]byte(strings.Join(after, "\n")))),
	}, true
}

// octal writes a mode as chmod(1) does.
func octal(m fs.FileMode) string {
	bits := int64(m.Perm())
	if m&fs.ModeSetuid != 0 {
		bits |= 0o4000
	}
	if m&fs.ModeSetgid != 0 {
		bits |= 0o2000
	}
	if m&fs.ModeSticky != 0 {
		bits |= 0o1000
	}
	return strconv.FormatInt(bits, 8)
}

func owner(e *entry) string { return fmt.Sprintf("%d:%d", e.uid, e.gid) }

func attribute(e *entry, name string) string {
	if value, ok := e.xattrs[name]; ok {
		return strconv.Quote(value)
	}
	return "absent"
}

// compareTraces tells of a file that was touched while its content stayed.
func compareTraces(p string, old, now *entry) []effect.Effect {
	e := effect.Effect{
		Class: effect.Modify, Kind: effect.KindFile, Target: p, Volatile: true, Digest: digestOf(now),
	}
	switch {
	case old.host != "" && now.host == "" && old.mtime == now.mtime:
		e.Detail = "copied up only"
	case old.host == "" && old.identity != now.identity:
		e.Detail = "same bytes in a new file"
	case old.mtime != now.mtime:
		e.Detail = "same bytes, new times"
	default:
		return nil
	}
	return []effect.Effect{e}
}

func kindOf(e *entry) string {
	switch {
	case e.isDir():
		return effect.KindDir
	case e.mode&fs.ModeSymlink != 0:
		return effect.KindSymlink
	}
	return effect.KindFile
}

func typeName(e *entry) string {
	switch e.mode.Type() {
	case 0:
		return "file"
	case fs.ModeDir:
		return "folder"
	case fs.ModeSymlink:
		return "symbolic link"
	case fs.ModeNamedPipe:
		return "named pipe"
	case fs.ModeSocket:
		return "socket"
	}
	return "device"
}

func digestOf(e *entry) string {
	switch {
	case e.isRegular() && !e.unread:
		return short(e.digest)
	case e.mode&fs.ModeSymlink != 0:
		return short(sha256.Sum256([]byte(e.target)))
	}
	return ""
}

func short(digest [sha256.Size]byte) string { return hex.EncodeToString(digest[:8]) }
