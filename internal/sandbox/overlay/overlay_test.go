package overlay

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree is a machine: folders end with /, links are written name>target.
type tree []string

func (t tree) List(dir string) []Entry {
	var entries []Entry
	for _, line := range t {
		name, target, _ := strings.Cut(line, ">")
		full := strings.TrimSuffix(name, "/")
		parent := full[:strings.LastIndex(full, "/")+1]
		if strings.TrimSuffix(parent, "/") == strings.TrimSuffix(dir, "/") {
			entries = append(entries, Entry{Name: full[len(parent):], Dir: strings.HasSuffix(name, "/"), Target: target})
		}
	}
	return entries
}

var machine = tree{
	"/bin>usr/bin", "/dev/", "/etc/", "/home/", "/home/ann/", "/note", "/proc/", "/run/", "/sys/", "/tmp/", "/usr/", "/var/", "/var/lib/", "/var/run>/run", "/var/tmp/", "/var/file",
}

// lines writes steps as "cover /etc", "show /note", "link /bin usr/bin".
func lines(steps []Step) []string {
	var out []string
	for _, s := range steps {
		verb := map[Action]string{Cover: "cover", Show: "show", Link: "link"}[s.Action]
		out = append(out, strings.TrimSpace(verb+" "+s.Path+" "+s.Target))
	}
	return out
}

func TestPlan(t *testing.T) {
	pseudo := []Mount{{"/", "ext4", false}, {"/proc", "proc", false}, {"/sys", "sysfs", false}, {"/sys/fs/cgroup", "cgroup2", false}, {"/dev", "devtmpfs", false}, {"/dev/shm", "tmpfs", false}, {"/run", "tmpfs", false}, {"/run/lock", "tmpfs", false}}
	for _, c := range []struct {
		name          string
		mounts        []Mount
		userNamespace bool
		own           []string
		want          []string
	}{
		{"as root", nil, false, nil, []string{
			"link /bin usr/bin", "cover /etc", "cover /home", "show /note", "cover /tmp", "cover /usr", "cover /var",
		}},
		{"as a user, the shared folder below /var has a layer of its own", nil, true, nil, []string{
			"link /bin usr/bin", "cover /etc", "cover /home", "show /note", "cover /tmp", "cover /usr", "cover /var", "cover /var/tmp",
		}},
		{"as a user whose home lies among others", nil, true, []string{"/var/lib/service/home", "/var/lib/service"}, []string{
			"link /bin usr/bin", "cover /etc", "cover /home", "show /note", "cover /tmp", "cover /usr", "cover /var", "cover /var/lib/service", "cover /var/lib/service/home", "cover /var/tmp",
		}},
		{"as root, mounts are covered too", []Mount{{"/home", "ext4", false}, {"/home/ann/disk", "xfs", false}}, false, []string{"/var/lib/service"}, []string{
			"link /bin usr/bin", "cover /etc", "cover /home", "cover /home/ann/disk", "show /note", "cover /tmp", "cover /usr", "cover /var",
		}},
		{"as a user, a folder with a mount below is split", []Mount{{"/home/ann/disk", "xfs", false}, {"/var/lib", "ext4", false}}, true, nil, []string{
			"link /bin usr/bin", "cover /etc", "show /home", "show /home/ann", "show /note", "cover /tmp", "cover /usr", "show /var", "cover /var/lib", "cover /var/tmp",
		}},
		{"what is read-only or no real file system is shown", []Mount{{"/usr", "squashfs", true}, {"/etc/keys", "tmpfs", true}, {"/var/lib", "rpc_pipefs", false}}, false, nil, []string{
			"link /bin usr/bin", "cover /etc", "show /etc/keys", "cover /home", "show /note", "cover /tmp", "show /usr", "cover /var", "show /var/lib",
		}},
		{"a folder whose name begins like a mount's", []Mount{{"/us", "ext4", false}, {"/user", "ext4", false}}, true, nil, []string{
			"link /bin usr/bin", "cover /etc", "cover /home", "show /note", "cover /tmp", "cover /usr", "cover /var", "cover /var/tmp",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, lines(Plan(machine, append(slices.Clone(pseudo), c.mounts...), c.userNamespace, c.own))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadMounts(t *testing.T) {
	text := strings.Join([]string{
		`22 27 0:21 / /proc rw,relatime - proc proc rw`,
		`27 1 254:0 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw`,
		`30 27 0:3 / /mnt/with\040space\134and\011tab ro,nosuid - tmpfs none rw`,
		`31 27 0:4 / /twice ro - tmpfs none rw`,
		`32 31 0:5 / /twice rw - xfs /dev/b rw`,
		`33 27 0:6 / /writable rw,relatime - ext4 /dev/c ro`,
		`nonsense`, `1 2 3 4 5 6 7`, `34 27 0:7 / /cut rw -`, ``,
	}, "\n")
	mounts, err := ReadMounts(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []Mount{
		{"/proc", "proc", false}, {"/", "ext4", false}, {"/mnt/with space\\and\ttab", "tmpfs", true}, {"/twice", "xfs", false}, {"/writable", "ext4", true},
	}
	if diff := cmp.Diff(want, mounts); diff != "" {
		t.Error(diff)
	}
}

func FuzzReadMounts(f *testing.F) {
	f.Add("27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n30 27 0:3 / /a\\040b ro - tmpfs none rw")
	f.Add("- - - - - - -")
	f.Fuzz(func(t *testing.T, text string) {
		mounts, err := ReadMounts(strings.NewReader(text))
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, m := range mounts {
			if seen[m.Point] {
				t.Errorf("two mounts on %q", m.Point)
			}
			seen[m.Point] = true
		}
		for _, userNamespace := range []bool{false, true} {
			covered := map[string]bool{}
			for _, s := range Plan(machine, mounts, userNamespace, nil) {
				if s.Action == Cover && covered[s.Path] {
					t.Errorf("%q is covered twice", s.Path)
				}
				covered[s.Path] = s.Action == Cover
			}
		}
	})
}

func TestUnder(t *testing.T) {
	for _, c := range []struct {
		path, dir string
		want      bool
	}{
		{"/a/b", "/a", true},
		{"/a", "/a", true},
		{"/ab", "/a", false},
		{"/a", "/a/b", false},
		{"/a", "/", true},
	} {
		if got := Under(c.path, c.dir); got != c.want {
			t.Errorf("Under(%q, %q) = %v", c.path, c.dir, got)
		}
	}
}
