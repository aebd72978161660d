package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// settled is the age beyond which a file's ctime tells that it was not written
// since: the kernel's clock for files advances in ticks of up to 10 ms.
const settled = 20 * time.Millisecond

// Scan walks the written state of layers. Files that are unchanged since
// previous, which may be nil, keep the digest and content found then. mapped
// names the files, as the server sees them, that a process has mapped shared
// and writable: a store into such a file need not change its times, so they are
// always read again.
//
// A file that vanishes during the walk is left out. One that cannot be read is
// listed by Unread. An error means that the written state could not be walked.
func Scan(layers []Layer, previous *Index, mapped map[string]bool) (*Index, error) {
	if previous == nil {
		previous = &Index{}
	}
	s := scanner{
		previous: previous,
		mapped:   mapped,
		buffer:   make([]byte, 128<<10),
		index: &Index{
			layers:  slices.Clone(layers),
			entries: make(map[string]*entry, len(previous.entries)),
			taken:   time.Now().UnixNano(),
		},
		budget: maxHeldTotal - previous.kept,
	}
	slices.SortFunc(s.index.layers, func(a, b Layer) int {
		if n := len(b.Mount) - len(a.Mount); n != 0 {
			return n
		}
		return strings.Compare(a.Mount, b.Mount)
	})
	for _, l := range s.index.layers {
		s.layer = l
		if err := s.top(); err != nil {
			return nil, fmt.Errorf("scanning what was written below %s: %w", l.Mount, err)
		}
	}
	return s.index, nil
}

type scanner struct {
	previous *Index
	mapped   map[string]bool
	buffer   []byte
	index    *Index
	budget   int64 // bytes of content that may still be held
	layer    Layer
}

// top looks at the layer's own folder. A second descriptor leaves the position
// of the caller's alone.
func (s *scanner) top() error {
	fd, err := unix.Openat(int(s.layer.Upper.Fd()), ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	dir := os.NewFile(uintptr(fd), s.layer.Mount)
	defer dir.Close()
	st, err := statOpen(dir)
	if err != nil {
		return err
	}
	e := &entry{stat: st.stat}
	s.attributes(e, dir)
	// The top of a layer is the layer: it hides nothing of the original.
	e.opaque, e.redirect = false, ""
	s.index.entries[s.layer.Mount] = e
	return s.children(dir, "")
}

// children looks at the entries of a folder; rel is its path below the layer's.
func (s *scanner) children(dir *os.File, rel string) error {
	names, err := dir.Readdirnames(-1)
	if err != nil && !vanished(err) {
		return err
	}
	slices.Sort(names)
	fd := int(dir.Fd())
	if rel != "" {
		rel += "/"
	}
	for _, name := range names {
		if err := s.child(fd, name, rel+name); err != nil {
			return err
		}
	}
	return nil
}

func (s *scanner) child(dir int, name, rel string) error {
	p := s.path(rel)
	if s.index.isMount(p) {
		return nil // hidden by the layer mounted there
	}
	st, err := statAt(dir, name)
	switch {
	case vanished(err):
		return nil
	case err != nil:
		return s.sealed(p, rel)
	}
	old := s.previous.entries[p]
	if old != nil && s.isUnchanged(p, old, st.stat) {
		s.keep(p, old)
		if old.isDir() {
			return s.descend(dir, name, rel, nil)
		}
		return nil
	}
	e := &entry{stat: st.stat}
	switch {
	case st.whiteout && s.layer.Lower != "":
		e.whiteout = true
	case e.mode&fs.ModeSymlink != 0:
		if e.target, err = readlinkAt(dir, name); vanished(err) {
			return nil
		}
	case e.isDir():
		return s.descend(dir, name, rel, e)
	case e.isRegular():
		return s.regular(dir, name, rel, e)
	}
	s.keep(p, e)
	return nil
}

// path is where the server sees what lies at rel in the layer.
func (s *scanner) path(rel string) string {
	return strings.TrimSuffix(s.layer.Mount, "/") + "/" + rel
}

func (s *scanner) isUnchanged(p string, old *entry, now stat) bool {
	return old.stat == now && !old.unread && !s.mapped[p] &&
		now.ctime < s.previous.taken-settled.Nanoseconds()
}

func (s *scanner) keep(p string, e *entry) {
	s.index.entries[p] = e
	if e.held {
		s.index.kept += e.size
	}
}

// sealed looks at an entry of a folder that this process may not search.
func (s *scanner) sealed(p, rel string) error {
	e := &entry{unread: true, stat: stat{mode: fs.ModeIrregular}}
	f, err := s.openFor(rel)
	if err != nil {
		s.keep(p, e)
		return nil
	}
	defer f.Close()
	st, err := statOpen(f)
	if err != nil {
		return err
	}
	e = &entry{stat: st.stat}
	switch {
	case e.isDir():
		return s.walk(f, rel, e)
	case e.isRegular():
		s.read(p, f, e)
	}
	s.keep(p, e)
	return nil
}

var errNotOpened = errors.New("not permitted")

func (s *scanner) openFor(rel string) (*os.File, error) {
	if s.layer.Open == nil {
		return nil, errNotOpened
	}
	return s.layer.Open(rel)
}

// open opens an entry, by the layer's own means where this process may not. A
// FIFO that took the place of a file since it was looked at does not block.
func (s *scanner) open(dir int, name, rel string, flags int) (*os.File, error) {
	flags |= unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK
	fd, err := unix.Openat(dir, name, flags, 0)
	switch {
	case err == nil:
		return os.NewFile(uintptr(fd), name), nil
	case errors.Is(err, fs.ErrPermission):
		return s.openFor(rel)
	}
	return nil, err
}

// descend walks a folder. e is nil when its entry is unchanged and kept already.
func (s *scanner) descend(dir int, name, rel string, e *entry) error {
	f, err := s.open(dir, name, rel, unix.O_DIRECTORY)
	switch {
	case vanished(err):
		delete(s.index.entries, s.path(rel))
		return nil
	case err != nil && e != nil:
		e.unread = true
		s.keep(s.path(rel), e)
		return nil
	case err != nil:
		return err
	}
	defer f.Close()
	if e == nil {
		return s.children(f, rel)
	}
	return s.walk(f, rel, e)
}

func (s *scanner) walk(dir *os.File, rel string, e *entry) error {
	s.attributes(e, dir)
	s.keep(s.path(rel), e)
	return s.children(dir, rel)
}

func (s *scanner) regular(dir int, name, rel string, e *entry) error {
	p := s.path(rel)
	f, err := s.open(dir, name, rel, 0)
	switch {
	case vanished(err):
		return nil
	case err != nil:
		e.unread = true
	default:
		defer f.Close()
		s.read(p, f, e)
	}
	s.keep(p, e)
	return nil
}

// read takes a regular file's attributes and content.
func (s *scanner) read(p string, f *os.File, e *entry) {
	if st, err := statOpen(f); err != nil || !st.mode.IsRegular() {
		e.unread = true
		return
	}
	s.attributes(e, f)
	old := s.previous.entries[p]
	if old != nil && old.held {
		s.budget += old.size
	}
	hold := e.size <= min(maxHeld, s.budget)
	c, err := readContent(f, s.buffer, s.sizeBefore(p, old, hold), hold)
	if err != nil {
		e.unread = true
		return
	}
	e.content = c
	if c.held {
		// The file may have grown since it was looked at.
		e.size = int64(len(c.bytes.Value()))
		s.budget -= e.size
	}
}

// sizeBefore is the size that a file had in the index before, or in the
// original when its content is too large to be compared with that.
func (s *scanner) sizeBefore(p string, old *entry, hold bool) int64 {
	if old != nil {
		return old.size
	}
	if hold {
		return 0
	}
	host, ok := s.index.origin(p)
	if !ok {
		return 0
	}
	if e := statHost(host); e.isRegular() {
		return e.size
	}
	return 0
}

// Names of the attributes by which an overlay marks folders: the first prefix
// for a mount made by root, the second for one made in a user namespace.
var overlayPrefixes = []string{"trusted.overlay.", "user.overlay."}

func (s *scanner) attributes(e *entry, f *os.File) {
	all := readAttributes(int(f.Fd()))
	if s.layer.Lower != "" {
		for _, prefix := range overlayPrefixes {
			e.opaque = e.opaque || all[prefix+"opaque"] == "y"
			if to := all[prefix+"redirect"]; to != "" {
				e.redirect = to
			}
		}
	}
	e.xattrs = userAttributes(all)
}

// vanished reports whether an error says that a path is no longer there, or no
// longer what it was.
func vanished(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) ||
		errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ESTALE)
}

// statHost looks at a path of the original; nil when there is nothing. The
// content is left for load to read.
func statHost(host string) *entry {
	st, err := statAt(unix.AT_FDCWD, host)
	if err != nil {
		return nil
	}
	e := &entry{stat: st.stat, host: host}
	switch {
	case e.mode&fs.ModeSymlink != 0:
		e.target, _ = readlinkAt(unix.AT_FDCWD, host)
	case e.isDir() || e.isRegular():
		fd, err := unix.Open(host, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		if err != nil {
			e.unread = true
			break
		}
		e.xattrs = userAttributes(readAttributes(fd))
		unix.Close(fd)
	}
	return e
}

// load gives an entry of the original its content.
func load(e *entry) *entry {
	if e == nil || e.host == "" || !e.isRegular() {
		return e
	}
	loaded := *e
	loaded.unread = true
	f, err := os.OpenFile(e.host, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return &loaded
	}
	defer f.Close()
	c, err := readContent(f, make([]byte, 128<<10), 0, true)
	if err != nil {
		return &loaded
	}
	loaded.content, loaded.unread = c, false
	return &loaded
}

type found struct {
	stat
	whiteout bool
}

func statAt(dir int, name string) (found, error) {
	return statx(dir, name, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT)
}

func statOpen(f *os.File) (found, error) { return statx(int(f.Fd()), "", unix.AT_EMPTY_PATH) }

func statx(dir int, name string, flags int) (found, error) {
	var st unix.Statx_t
	if err := unix.Statx(dir, name, flags, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &st); err != nil {
		return found{}, err
	}
	f := found{
		stat: stat{
			identity: identity{
				device: unix.Mkdev(st.Dev_major, st.Dev_minor),
				inode:  st.Ino,
			},
			size:  int64(st.Size),
			mtime: nanoseconds(st.Mtime),
			ctime: nanoseconds(st.Ctime),
			mode:  fileMode(uint32(st.Mode)),
			uid:   st.Uid,
			gid:   st.Gid,
			nlink: st.Nlink,
		},
		whiteout: st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev_major == 0 && st.Rdev_minor == 0,
	}
	if st.Mask&unix.STATX_BTIME != 0 {
		f.born = nanoseconds(st.Btime)
	}
	return f, nil
}

func nanoseconds(t unix.StatxTimestamp) int64 { return t.Sec*1e9 + int64(t.Nsec) }

// fileMode turns a mode of inode(7) into Go's.
func fileMode(m uint32) fs.FileMode {
	mode := fs.FileMode(m & 0o777)
	switch m & unix.S_IFMT {
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		mode |= fs.ModeSocket
	case unix.S_IFCHR:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	case unix.S_IFBLK:
		mode |= fs.ModeDevice
	}
	if m&unix.S_ISUID != 0 {
		mode |= fs.ModeSetuid
	}
	if m&unix.S_ISGID != 0 {
		mode |= fs.ModeSetgid
	}
	if m&unix.S_ISVTX != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}

func readlinkAt(dir int, name string) (string, error) {
	target := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(dir, name, target)
	if err != nil {
		return "", err
	}
	return string(target[:n]), nil
}

// readAttributes reads the extended attributes of an open file; one that may
// not be read, or is changed in between, is left out.
func readAttributes(fd int) map[string]string {
	size, err := unix.Flistxattr(fd, nil)
	if err != nil || size == 0 {
		return nil
	}
	names := make([]byte, size)
	if size, err = unix.Flistxattr(fd, names); err != nil {
		return nil
	}
	values := map[string]string{}
	for name := range strings.SplitSeq(strings.TrimRight(string(names[:size]), "\x00"), "\x00") {
		size, err := unix.Fgetxattr(fd, name, nil)
		if err != nil {
			continue
		}
		value := make([]byte, size)
		if n, err := unix.Fgetxattr(fd, name, value); err == nil {
			values[name] = string(value[:n])
		}
	}
	return values
}

func userAttributes(all map[string]string) map[string]string {
	var user map[string]string
	for name, value := range all {
		if strings.HasPrefix(name, "user.") && !strings.HasPrefix(name, "user.overlay.") {
			if user == nil {
				user = map[string]string{}
			}
			user[name] = value
		}
	}
	return user
}
