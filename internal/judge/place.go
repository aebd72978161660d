package judge

import (
	"strings"

	"github.com/ax-check/ax-check/internal/effect"
)

// place splits the target of an effect into the file and, inside a document,
// "#" with the pointer.
func place(e effect.Effect) (file, pointer string) {
	if e.Kind == effect.KindJSON {
		if i := strings.LastIndex(e.Target, "#/"); i >= 0 {
			return e.Target[:i], e.Target[i:]
		}
		if file, whole := strings.CutSuffix(e.Target, "#"); whole {
			return file, "#"
		}
	}
	return e.Target, ""
}

func fileOf(e effect.Effect) string {
	file, _ := place(e)
	return file
}

// sameSpot reports whether two effects of different calls are the same kind of
// change at the same place. Two entries added to one list are at the same
// place although their positions differ, and so is an entry and the creation of
// the file that it would have gone into. Values must be the very same one.
func sameSpot(a, b effect.Effect) bool {
	if isAdditive(a) && isAdditive(b) {
		fileA, pointerA := place(a)
		fileB, pointerB := place(b)
		return fileA == fileB && (pointerA == "" || pointerB == "" || parent(pointerA) == parent(pointerB))
	}
	return a.Class == b.Class && a.Kind == b.Kind && a.Target == b.Target
}

// spotKey is equal for effects that are at the same spot for the same others.
func spotKey(e effect.Effect) string {
	if isAdditive(e) {
		file, pointer := place(e)
		return "added\x00" + file + "\x00" + parent(pointer)
	}
	return strings.Join([]string{string(e.Class), e.Kind, e.Target}, "\x00")
}

// parent is the pointer without its last step; "#" for an entry of the whole
// document, "" for the file itself.
func parent(pointer string) string {
	return pointer[:max(0, strings.LastIndex(pointer, "/"))]
}
