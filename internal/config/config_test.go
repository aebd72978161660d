package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	got, err := parse("ax-check.yaml", []byte(`
command: [node, server.js, "{workspace}"]
env: [API_KEY=x, HOME_TOKEN]
cwd: "{workspace}"
setup: ["npm run seed"]
workspace: fixtures
home: homes/empty
no-seed: true
timeout: 20s
seed: 7
fail-on: warn
`))
	if err != nil {
		t.Fatal(err)
	}
	want := File{
		Command: []string{"node", "server.js", "{workspace}"}, Env: []string{"API_KEY=x", "HOME_TOKEN"}, Cwd: "{workspace}",
		Setup: []string{"npm run seed"}, Workspace: "fixtures", Home: "homes/empty", NoSeed: true,
		Timeout: 20 * time.Second, Seed: 7, FailOn: "warn",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"unknown key":    {"command: [x]\nenvv: [A=b]\n", "line 2"},
		"wrong type":     {"setup: {a: b}\n", "line 1"},
		"broken":         {"command: [\n", "ax-check.yaml"},
		"not a mapping":  {"- a\n- b\n", "line 1"},
		"not a duration": {"timeout: soon\n", "line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse("ax-check.yaml", []byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one that contains %q", err, c.want)
			}
			t.Log(err)
		})
	}
}

func TestParseEmpty(t *testing.T) {
	if _, err := parse("ax-check.yaml", nil); err != nil {
		t.Error(err)
	}
}
