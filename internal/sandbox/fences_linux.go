package sandbox

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ax-check/ax-check/internal/sandbox/overlay"
)

// fences knows which writes the sandbox makes fail although the machine would
// allow them, and which sockets belong to the world.
type fences struct {
	layers        []Layer
	userNamespace bool
	devices       map[uint64]bool // of the plain layers
}

func newFences(layers []Layer, userNamespace bool) fences {
	f := fences{layers: layers, userNamespace: userNamespace, devices: map[uint64]bool{}}
	for _, l := range layers {
		var st unix.Stat_t
		if unix.Fstat(int(l.Upper.Fd()), &st) == nil {
			f.devices[st.Dev] = true
		}
	}
	return f
}

// ours reports whether a socket file was made in the world: files of the scratch
// tmpfs, directly or through an overlay, whose sockets of the machine refuse by
// themselves.
func (f fences) ours(st *unix.Stat_t) bool {
	if st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return true // the kernel will say so
	}
	return f.devices[st.Dev]
}

// refuses reports whether a write to a path fails only because of the sandbox:
// the machine would let this user write there, but the place is shown read-only,
// or belongs to somebody else and so can't be copied into our layer.
func (f fences) refuses(path string) bool {
	if overlay.Under(path, "/dev") || overlay.Under(path, Base) || !closed(path) {
		return false
	}
	layer := f.layer(path)
	switch {
	case layer.Lower != "":
		return f.userNamespace && writable(path) && f.foreign(path, layer)
	case layer.Mount == "/":
		// Below no overlay: shown read-only, unless the name is new in our own root.
		_, err := os.Lstat("/" + strings.SplitN(path, "/", 3)[1])
		return err == nil && writable(path)
	}
	return false
}

// closed reports whether a path is one that the sandbox may close: what a
// process writes about itself in /proc works inside as outside.
func closed(path string) bool {
	return !overlay.Under(path, "/proc") || overlay.Under(path, "/proc/sys") || path == "/proc/sysrq-trigger"
}

func (f fences) layer(path string) Layer {
	var best Layer
	for _, l := range f.layers {
		if overlay.Under(path, l.Mount) && len(l.Mount) >= len(best.Mount) {
			best = l
		}
	}
	return best
}

// writable reports whether the machine would let this user change the path, or
// make it where it does not exist.
func writable(path string) bool {
	if _, err := os.Lstat(path); err == nil {
		return unix.Access(path, unix.W_OK) == nil
	}
	parent := filepath.Dir(path)
	if _, err := os.Lstat(parent); err != nil {
		return false
	}
	return unix.Access(parent, unix.W_OK) == nil
}

// foreign reports whether what a write would have to copy up, the nearest thing
// on the path that exists on the machine and not yet in the layer, belongs to
// somebody else.
func (f fences) foreign(path string, layer Layer) bool {
	uid, gid := uint32(os.Getuid()), uint32(os.Getgid())
	for p := path; p != layer.Mount && strings.HasPrefix(p, layer.Mount); p = filepath.Dir(p) {
		rel := strings.TrimPrefix(p, strings.TrimSuffix(layer.Mount, "/")+"/")
		var st unix.Stat_t
		if unix.Fstatat(int(layer.Upper.Fd()), rel, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			return false // already in our layer
		}
		if unix.Lstat(p, &st) == nil && (st.Uid != uid || st.Gid != gid) {
			return true
		}
	}
	return false
}
