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
	root          *os.File               // the world's root, to look at without its links leading out
	systems       map[unix.Fsid]struct{} // the file systems of the layers
}

func newFences(layers []Layer, userNamespace bool, root *os.File) fences {
	f := fences{layers: layers, userNamespace: userNamespace, root: root, systems: map[unix.Fsid]struct{}{}}
	for _, l := range layers {
		if st, err := f.statfs(l.Mount); err == nil {
			f.systems[st.Fsid] = struct{}{}
		}
	}
	return f
}

// statfs looks at the file system that a path of the world lies on.
func (f fences) statfs(path string) (unix.Statfs_t, error) {
	var st unix.Statfs_t
	fd, err := unix.Openat2(int(f.root.Fd()), path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT})
	if err != nil {
		return st, err
	}
	defer func() { _ = unix.Close(fd) }()
	return st, unix.Fstatfs(fd, &st)
}

// ours reports whether an open socket file was made in the world: it lies in a
// layer, and not on what is shown of the machine. Sockets of the machine that
// are seen through an overlay refuse by themselves.
func (f fences) ours(fd int) bool {
	var st unix.Statfs_t
	if unix.Fstatfs(fd, &st) != nil {
		return false
	}
	_, found := f.systems[st.Fsid]
	return found
}

// refuses reports whether a write to a path fails only because of the sandbox:
// the machine would let this user write there, but the place is shown read-only
// or masked, or belongs to somebody else and so can't be copied into our layer.
func (f fences) refuses(path string) bool {
	if overlay.Under(path, "/dev") || overlay.Under(path, Base) || !closed(path) || !writable(path) {
		return false
	}
	return f.readOnly(path) || f.userNamespace && f.foreign(path, f.layer(path))
}

// readOnly reports whether a path, or the folder that it would be made in, is
// read-only in the world.
func (f fences) readOnly(path string) bool {
	st, err := f.statfs(path)
	if err != nil {
		st, err = f.statfs(filepath.Dir(path))
	}
	return err == nil && st.Flags&unix.ST_RDONLY != 0
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
	if layer.Lower == "" {
		return false
	}
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
