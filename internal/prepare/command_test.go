package prepare

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseNpx(t *testing.T) {
	tests := []struct {
		line    string
		want    npxCall
		problem string
	}{
		{"a-server", npxCall{packages: []string{"a-server"}, args: []string{}}, ""},
		{"-y @scope/a-server@1.2.3 --port 1 {workspace}", npxCall{packages: []string{"@scope/a-server@1.2.3"}, args: []string{"--port", "1", "{workspace}"}}, ""},
		{"--yes -q -- a-server -y", npxCall{packages: []string{"a-server"}, args: []string{"-y"}}, ""},
		{"-p a -p b program x", npxCall{packages: []string{"a", "b"}, program: "program", args: []string{"x"}}, ""},
		{"--package=a program", npxCall{packages: []string{"a"}, program: "program", args: []string{}}, ""},
		{"-p", npxCall{}, "needs a package"},
		{"-y", npxCall{}, "no package"},
		{"", npxCall{}, "no package"},
		{"-c ls", npxCall{}, "option -c is not understood"},
	}
	for _, test := range tests {
		t.Run(test.line, func(t *testing.T) {
			got, err := parseNpx(strings.Fields(test.line))
			if problem(err) == "" && test.problem == "" {
				if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(npxCall{})); diff != "" {
					t.Error(diff)
				}
				return
			}
			if test.problem == "" || !strings.Contains(problem(err), test.problem) {
				t.Errorf("error %v, want one with %q", err, test.problem)
			}
		})
	}
}

// problem is the text of an error that also says what to do, "" when there is none.
func problem(err error) string {
	var e *Error
	if errors.As(err, &e) && e.Hint != "" {
		return e.Problem
	}
	return ""
}

func TestPackageName(t *testing.T) {
	tests := []struct{ spec, name, version string }{
		{"a-server", "a-server", ""},
		{"a-server@1.2.3", "a-server", "1.2.3"},
		{"@scope/a-server", "@scope/a-server", ""},
		{"@scope/a-server@latest", "@scope/a-server", "latest"},
		{"./folder", "", ""},
		{"/folder", "", ""},
		{"owner/repository", "", ""},
		{"git+ssh://host/repository.git", "", ""},
		{"https://host/a.tgz", "", ""},
		{"file:../a", "", ""},
	}
	for _, test := range tests {
		if name, version := packageName(test.spec); name != test.name || version != test.version {
			t.Errorf("packageName(%q) = %q, %q, want %q, %q", test.spec, name, version, test.name, test.version)
		}
	}
}

func TestExactVersion(t *testing.T) {
	for version, want := range map[string]bool{
		"1.2.3": true, "2026.8.31": true, "1.2.3-rc.1": true,
		"": false, "latest": false, "^1.2.3": false, "1.2": false, "1.2.x": false, "1..3": false,
	} {
		if got := exactVersion(version); got != want {
			t.Errorf("exactVersion(%q) = %v", version, got)
		}
	}
}

func TestPick(t *testing.T) {
	tests := []struct{ bin, want string }{
		{`"./index.js"`, "own"},
		{`{"own": "a.js"}`, "own"},
		{`{"other": "a.js"}`, "other"},
		{`{"own": "a.js", "other": "b.js"}`, "own"},
		{`{"one": "a.js", "other": "b.js"}`, ""},
		{`{}`, ""},
		{``, ""},
	}
	for _, test := range tests {
		got, err := pick([]byte(test.bin), "own")
		if (err != nil) != (test.want == "") || test.want != "" && got != test.want {
			t.Errorf("pick(%s) = %q, %v, want %q", test.bin, got, err, test.want)
		}
	}
}

func TestParseGoRun(t *testing.T) {
	tests := []struct {
		line string
		want goCall
	}{
		{"./cmd/server -v x", goCall{targets: []string{"./cmd/server"}, args: []string{"-v", "x"}}},
		{"-tags a,b -race . x", goCall{flags: []string{"-tags", "a,b", "-race"}, targets: []string{"."}, args: []string{"x"}}},
		{"-mod=mod host/m/cmd@v1.2.3", goCall{flags: []string{"-mod=mod"}, targets: []string{"host/m/cmd@v1.2.3"}, args: []string{}}},
		{"a.go b.go c", goCall{targets: []string{"a.go", "b.go"}, args: []string{"c"}}},
	}
	for _, test := range tests {
		got, err := parseGoRun(strings.Fields(test.line))
		if err != nil {
			t.Errorf("%s: %v", test.line, err)
		}
		if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(goCall{})); diff != "" {
			t.Errorf("%s:\n%s", test.line, diff)
		}
	}
	if _, err := parseGoRun([]string{"-v"}); problem(err) == "" {
		t.Errorf("go run -v: %v, want an error that says what to do", err)
	}
}

// What needs no preparation is run as it is; what fetches in ways that are not
// known here is refused with advice.
func TestCommand(t *testing.T) {
	for _, line := range []string{"node server.js", "./npxserver", "go version", "npm start", "uv run server", "docker-server run"} {
		argv := strings.Fields(line)
		got, err := Command(t.Context(), argv, Options{CacheDir: t.TempDir()})
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if diff := cmp.Diff(argv, got); diff != "" {
			t.Errorf("%s:\n%s", line, diff)
		}
	}
	for _, line := range []string{"uvx a", "uv tool run a", "pipx run a", "bunx a", "bun x a", "pnpx a", "pnpm dlx a", "yarn dlx a", "docker run a", "/usr/bin/uvx a", "npx ./folder", "npx -y"} {
		if _, err := Command(t.Context(), strings.Fields(line), Options{CacheDir: t.TempDir()}); problem(err) == "" {
			t.Errorf("%s: error %v, want one that says what to do", line, err)
		}
	}
}
