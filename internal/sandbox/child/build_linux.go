package child

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ax-check/ax-check/internal/sandbox/control"
	"github.com/ax-check/ax-check/internal/sandbox/overlay"
)

// world is the root under construction. All of it lives in one tmpfs that only
// this mount namespace knows, so that it is gone when the namespace is.
type world struct {
	config  control.Config
	scratch string // mount point of the tmpfs
	root    string // the new root, below scratch
	layers  []control.Layer
}

// scratchPoints are folders that the new root replaces anyway, so that a tmpfs
// over them hides nothing that is still needed.
var scratchPoints = []string{"/run", "/mnt", "/srv"}

// build makes the new root and moves into it. It returns the world and a
// descriptor of the scratch folder.
func build(config control.Config) (*world, int, error) {
	unix.Umask(0)
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return nil, -1, fmt.Errorf("making the mounts private: %w", err)
	}
	w := &world{config: config}
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, -1, err
	}
	mounts, err := overlay.ReadMounts(f)
	_ = f.Close()
	if err != nil {
		return nil, -1, fmt.Errorf("reading the mounts: %w", err)
	}
	resolver := hostResolver()
	for _, step := range []func() error{
		w.mountScratch,
		w.newRoot,
		func() error { return w.layRoot(mounts) },
		func() error { return w.runFolder(resolver) },
		w.devices,
		w.kernelInterfaces,
		w.nameServer,
		w.mask,
		w.writable,
		w.folders,
	} {
		if err := step(); err != nil {
			return nil, -1, err
		}
	}
	scratch, err := unix.Open(w.scratch, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, -1, err
	}
	if err := w.enter(); err != nil {
		return nil, -1, err
	}
	// The scratch folder is out of reach by path now, except through its descriptor.
	w.scratch = fmt.Sprintf("/proc/self/fd/%d", keep(scratch))
	return w, scratch, nil
}

// keep duplicates a descriptor for the life of the process.
func keep(fd int) int {
	dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 10)
	if err != nil {
		return fd
	}
	return dup
}

func (w *world) mountScratch() error {
	options := fmt.Sprintf("mode=0755,size=%d,nr_inodes=1000000", w.config.ScratchBytes)
	for _, point := range scratchPoints {
		if _, err := os.Stat(point); err != nil {
			continue
		}
		if err := unix.Mount("ax-check", point, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
			return fmt.Errorf("mounting the scratch tmpfs: %w", err)
		}
		w.scratch = point
		return nil
	}
	return fmt.Errorf("none of %s exists to mount the scratch tmpfs on", strings.Join(scratchPoints, ", "))
}

// newRoot makes an empty folder a mount of its own, so that what is mounted on
// it later is not seen through the scratch descriptor.
func (w *world) newRoot() error {
	w.root = w.scratch + "/root"
	if err := os.Mkdir(w.root, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(w.root, w.root, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("binding the new root: %w", err)
	}
	w.layers = append(w.layers, control.Layer{Mount: "/", Upper: "root"})
	return nil
}

type hostTree struct{}

func (hostTree) List(dir string) []overlay.Entry {
	children, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var entries []overlay.Entry
	for _, c := range children {
		e := overlay.Entry{Name: c.Name(), Dir: c.IsDir()}
		if c.Type()&os.ModeSymlink != 0 {
			e.Target, _ = os.Readlink(filepath.Join(dir, c.Name()))
		}
		entries = append(entries, e)
	}
	return entries
}

func (w *world) layRoot(mounts []overlay.Mount) error {
	for _, step := range overlay.Plan(hostTree{}, mounts, w.config.UserNamespace, w.config.Own) {
		if err := w.lay(step); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) lay(step overlay.Step) error {
	point := w.root + step.Path
	switch step.Action {
	case overlay.Link:
		return os.Symlink(step.Target, point)
	case overlay.Show:
		return w.show(step.Path, point)
	}
	if step.Path == w.scratch { // hidden below the scratch tmpfs by now
		return nil
	}
	if err := makePoint(step.Path, point); err != nil {
		return err
	}
	err := w.cover(step.Path, point)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EACCES) {
		// A file system that cannot lie below an overlay is shown read-only.
		return w.show(step.Path, point)
	}
	return err
}

// show binds a path of the machine read-only, with everything mounted below.
func (w *world) show(path, point string) error {
	if err := makePoint(path, point); err != nil {
		return nil //nolint:nilerr // what can't be shown is simply not there
	}
	if err := unix.Mount(path, point, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return nil //nolint:nilerr
	}
	if err := readOnly(point); err != nil {
		return fmt.Errorf("making %s read-only: %w", path, err)
	}
	return nil
}

func readOnly(point string) error {
	return unix.MountSetattr(-1, point, unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

// makePoint makes an empty folder or file to mount on, where there is none.
func makePoint(path, point string) error {
	if _, err := os.Lstat(point); err == nil {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.MkdirAll(point, 0o755)
	}
	f, err := os.OpenFile(point, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// cover mounts an overlay of path on point.
func (w *world) cover(path, point string) error {
	n := len(w.layers)
	upper := fmt.Sprintf("upper/%03d", n)
	work := fmt.Sprintf("%s/work/%03d", w.scratch, n)
	if err := errors.Join(os.MkdirAll(w.scratch+"/"+upper, 0o755), os.MkdirAll(work, 0o755)); err != nil {
		return err
	}
	if err := w.likeLower(path, w.scratch+"/"+upper); err != nil {
		return err
	}
	options := "lowerdir=" + escape(path) + ",upperdir=" + w.scratch + "/" + upper + ",workdir=" + work
	if w.config.UserNamespace {
		options += ",userxattr"
	} else {
		options += ",redirect_dir=on,metacopy=off"
	}
	if err := unix.Mount("overlay", point, "overlay", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("laying an overlay over %s: %w", path, err)
	}
	w.layers = append(w.layers, control.Layer{Mount: path, Upper: upper, Lower: path})
	return nil
}

// likeLower gives the top of a layer the owner and mode of the folder it covers.
// Where the owner can't be given (in a user namespace only the caller's id
// exists), the caller keeps exactly the permission it has on the machine.
func (w *world) likeLower(path, upper string) error {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return err
	}
	mode := st.Mode & 0o7777
	if unix.Lchown(upper, int(st.Uid), int(st.Gid)) != nil {
		if unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, 0) == nil {
			mode |= 0o700
		} else {
			mode = mode&^0o222 | 0o500
		}
	}
	return unix.Chmod(upper, mode)
}

func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, ":", `\:`, ",", `\,`).Replace(path)
}

// plain binds an empty folder of the scratch space on a point of the new root.
func (w *world) plain(mount, point string, mode uint32) error {
	upper := fmt.Sprintf("upper/%03d", len(w.layers))
	dir := w.scratch + "/" + upper
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.MkdirAll(point, 0o755), unix.Chmod(dir, mode)); err != nil {
		return err
	}
	if err := unix.Mount(dir, point, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("binding an empty %s: %w", mount, err)
	}
	w.layers = append(w.layers, control.Layer{Mount: mount, Upper: upper})
	return nil
}

// hostResolver is the machine's resolver configuration, for preparations.
func hostResolver() []byte {
	text, _ := os.ReadFile("/etc/resolv.conf")
	return text
}

// runFolder hides /run: sockets of the machine's services (a container engine,
// a message bus, an agent with keys) can be connected to through any bind.
func (w *world) runFolder(resolver []byte) error {
	if err := w.plain("/run", w.root+"/run", 0o755); err != nil {
		return err
	}
	real, err := os.Readlink("/etc/resolv.conf")
	if err != nil || len(resolver) == 0 {
		return nil
	}
	if !filepath.IsAbs(real) {
		real = filepath.Join("/etc", real)
	}
	if !overlay.Under(real, "/run") {
		return nil
	}
	if err := os.MkdirAll(w.root+filepath.Dir(real), 0o755); err != nil {
		return err
	}
	return os.WriteFile(w.root+real, resolver, 0o644)
}

func (w *world) devices() error {
	dev := w.root + "/dev"
	if err := os.MkdirAll(dev, 0o755); err != nil {
		return err
	}
	if err := unix.Mount("dev", dev, "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "mode=0755,size=64k"); err != nil {
		return fmt.Errorf("mounting /dev: %w", err)
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom"} {
		if err := makePoint("/dev/"+name, dev+"/"+name); err != nil {
			continue
		}
		if err := unix.Mount("/dev/"+name, dev+"/"+name, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("binding /dev/%s: %w", name, err)
		}
	}
	for _, name := range []string{"pts", "shm"} {
		if err := os.Mkdir(dev+"/"+name, 0o755); err != nil {
			return err
		}
	}
	if err := unix.Mount("devpts", dev+"/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"); err != nil {
		return fmt.Errorf("mounting /dev/pts: %w", err)
	}
	for link, target := range map[string]string{
		"ptmx": "pts/ptmx", "fd": "/proc/self/fd",
		"stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
	} {
		if err := os.Symlink(target, dev+"/"+link); err != nil {
			return err
		}
	}
	return w.plain("/dev/shm", dev+"/shm", 0o1777)
}

// kernelInterfaces mounts a /proc of the new process namespace and a /sys to look at.
// A server that runs as user id 0 passes the permission check of files such as
// /proc/sys/kernel/core_pattern, so all that is read-only.
func (w *world) kernelInterfaces() error {
	proc := w.root + "/proc"
	if err := os.MkdirAll(proc, 0o755); err != nil {
		return err
	}
	if err := unix.Mount("proc", proc, "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mounting /proc: %w", err)
	}
	for _, name := range []string{"sys", "sysrq-trigger", "irq", "bus", "fs"} {
		point := proc + "/" + name
		if _, err := os.Stat(point); err != nil {
			continue
		}
		if err := unix.Mount(point, point, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("binding /proc/%s: %w", name, err)
		}
		if err := readOnly(point); err != nil {
			return fmt.Errorf("making /proc/%s read-only: %w", name, err)
		}
	}
	for _, name := range []string{"kcore", "keys", "timer_list", "sched_debug"} {
		if _, err := os.Stat(proc + "/" + name); err == nil {
			_ = unix.Mount("/dev/null", proc+"/"+name, "", unix.MS_BIND, "")
		}
	}
	return w.show("/sys", w.root+"/sys")
}

// nameServer points the resolver at the sandbox's own DNS.
func (w *world) nameServer() error {
	if w.config.Network {
		return nil
	}
	file := w.scratch + "/resolv.conf"
	if err := os.WriteFile(file, []byte("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"), 0o644); err != nil {
		return err
	}
	point, err := filepath.EvalSymlinks(w.root + "/etc/resolv.conf")
	if link, lerr := os.Readlink(w.root + "/etc/resolv.conf"); lerr == nil && filepath.IsAbs(link) {
		point, err = w.root+link, nil
	}
	if err != nil {
		return nil //nolint:nilerr // without the file, resolvers ask 127.0.0.1
	}
	if _, err := os.Stat(point); err != nil {
		return nil //nolint:nilerr
	}
	if err := unix.Mount(file, point, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("binding the resolver configuration: %w", err)
	}
	return nil
}

// mask makes secrets read as empty.
func (w *world) mask() error {
	empty := w.scratch + "/masked"
	if err := errors.Join(os.Mkdir(empty, 0o555), os.WriteFile(empty+".file", nil, 0o444)); err != nil {
		return err
	}
	for _, path := range w.config.Masked {
		point := w.root + path
		info, err := os.Lstat(point)
		if err != nil || info.Mode()&os.ModeSymlink != 0 {
			continue // the caller names real paths
		}
		source := empty
		if !info.IsDir() {
			source += ".file"
		}
		if err := unix.Mount(source, point, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("masking %s: %w", path, err)
		}
		if err := readOnly(point); err != nil {
			return fmt.Errorf("masking %s: %w", path, err)
		}
	}
	return nil
}

// writable binds folders of the machine for real (preparation only).
func (w *world) writable() error {
	for _, dir := range w.config.Writable {
		if err := unix.Mount(dir, w.root+dir, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("binding %s: %w", dir, err)
		}
	}
	return nil
}

func (w *world) folders() error {
	for _, dir := range w.config.Folders {
		if err := os.MkdirAll(w.root+dir, 0o755); err != nil {
			return err
		}
	}
	if w.config.UserNamespace && os.Getuid() != 0 {
		return unix.Chmod(w.root, 0o555) // as on the machine: / is not the user's
	}
	return nil
}

// enter makes the new root the root, and lets go of the old one.
func (w *world) enter() error {
	if err := unix.Chdir(w.root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("moving into the new root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("letting go of the old root: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return err
	}
	return unix.Sethostname([]byte("sandbox"))
}
