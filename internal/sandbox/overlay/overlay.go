// Package overlay decides which layers make up the root that a server sees.
//
// Every folder of the machine's root is covered by an overlay of its own, so
// that a write lands in a folder of ours while the machine's files stay as they
// are. Inside a user namespace the kernel refuses an overlay over a folder that
// has other mounts below it; such a folder is split: shown read-only, with
// overlays on its children.
package overlay

import (
	"bufio"
	"io"
	"path"
	"slices"
	"strings"
)

// Mount is one line of /proc/self/mountinfo, as far as it matters here.
type Mount struct {
	Point    string
	Type     string
	ReadOnly bool
}

// ReadMounts parses mountinfo (proc(5)); later mounts on a point hide earlier ones.
func ReadMounts(mountinfo io.Reader) ([]Mount, error) {
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	var mounts []Mount
	lines := bufio.NewScanner(mountinfo)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		dash := slices.Index(fields, "-")
		if dash < 6 || dash+1 >= len(fields) {
			continue
		}
		m := Mount{
			Point: unescape.Replace(fields[4]),
			Type:  fields[dash+1],
			// The mount may be read-only, or the file system as a whole.
			ReadOnly: hasOption(fields[5], "ro") || hasOption(fields[len(fields)-1], "ro"),
		}
		mounts = slices.DeleteFunc(mounts, func(old Mount) bool { return old.Point == m.Point })
		mounts = append(mounts, m)
	}
	return mounts, lines.Err()
}

func hasOption(list, option string) bool {
	return slices.Contains(strings.Split(list, ","), option)
}

// Action is what to do with one folder of the machine's root.
type Action int

// Cover lays an overlay over the folder; Show binds it read-only with
// everything mounted below it; Link recreates a symbolic link.
const (
	Cover Action = iota
	Show
	Link
)

// Step is one mount of the new root, in the order in which they are to be made.
type Step struct {
	Action Action
	Path   string // on the machine and as the server sees it
	Target string // of a Link
}

// Entry is a child of a folder on the machine.
type Entry struct {
	Name   string
	Dir    bool
	Target string // of a symbolic link
}

// Tree looks at the machine's folders.
type Tree interface {
	List(dir string) []Entry
}

// made lists the folders of the root that the sandbox makes itself.
var made = []string{"/proc", "/sys", "/dev", "/run"}

// shared are folders in which every user may write although they belong to root.
var shared = []string{"/tmp", "/var/tmp"}

// Plan lists the mounts that make up the new root.
//
// Inside a user namespace the folders of other users cannot be copied up, so
// that nothing below them can be written. The shared folders, and those named as
// own, get layers whose tops are the caller's.
func Plan(tree Tree, mounts []Mount, userNamespace bool, own []string) []Step {
	p := planner{tree: tree, userNamespace: userNamespace, tops: slices.Concat(shared, own)}
	slices.Sort(p.tops) // a folder before those in it, which it would hide
	for _, m := range mounts {
		if m.Point != "/" && !slices.ContainsFunc(made, func(dir string) bool { return Under(m.Point, dir) }) {
			p.mounts = append(p.mounts, m)
		}
	}
	slices.SortFunc(p.mounts, func(a, b Mount) int { return strings.Compare(a.Point, b.Point) })
	for _, e := range tree.List("/") {
		full := "/" + e.Name
		switch {
		case slices.Contains(made, full):
		case e.Target != "":
			p.steps = append(p.steps, Step{Action: Link, Path: full, Target: e.Target})
		case e.Dir:
			p.folder(full)
		default:
			p.steps = append(p.steps, Step{Action: Show, Path: full})
		}
	}
	return p.steps
}

type planner struct {
	tree          Tree
	mounts        []Mount
	userNamespace bool
	tops          []string
	steps         []Step
}

func (p *planner) folder(dir string) {
	if m, ok := p.mountAt(dir); ok && (m.ReadOnly || pseudo[m.Type]) {
		p.add(Show, dir)
		return
	}
	below := p.below(dir)
	if len(below) > 0 && p.userNamespace {
		p.split(dir)
		return
	}
	p.add(Cover, dir)
	for _, m := range below {
		if m.ReadOnly || pseudo[m.Type] {
			p.add(Show, m.Point)
		} else {
			p.add(Cover, m.Point)
		}
	}
	p.covers(dir)
}

// split shows dir read-only and covers its children one by one.
func (p *planner) split(dir string) {
	p.add(Show, dir)
	for _, e := range p.tree.List(dir) {
		if e.Dir && e.Target == "" {
			p.folder(path.Join(dir, e.Name))
		}
	}
}

func (p *planner) covers(dir string) {
	if !p.userNamespace {
		return
	}
	for _, top := range p.tops {
		if top != dir && Under(top, dir) {
			p.add(Cover, top)
		}
	}
}

func (p *planner) add(a Action, dir string) {
	p.steps = append(p.steps, Step{Action: a, Path: dir})
}

func (p *planner) mountAt(dir string) (Mount, bool) {
	i := slices.IndexFunc(p.mounts, func(m Mount) bool { return m.Point == dir })
	if i < 0 {
		return Mount{}, false
	}
	return p.mounts[i], true
}

func (p *planner) below(dir string) []Mount {
	var out []Mount
	for _, m := range p.mounts {
		if m.Point != dir && Under(m.Point, dir) {
			out = append(out, m)
		}
	}
	return out
}

// Under reports whether p is dir or lies below it.
func Under(p, dir string) bool {
	return p == dir || dir == "/" || strings.HasPrefix(p, dir+"/")
}

// pseudo file systems hold no files of their own.
var pseudo = map[string]bool{
	"proc": true, "sysfs": true, "devtmpfs": true, "devpts": true, "cgroup": true, "cgroup2": true,
	"mqueue": true, "debugfs": true, "tracefs": true, "securityfs": true, "bpf": true, "binfmt_misc": true,
	"pstore": true, "configfs": true, "fusectl": true, "hugetlbfs": true, "autofs": true, "efivarfs": true,
	"nsfs": true, "rpc_pipefs": true,
}
