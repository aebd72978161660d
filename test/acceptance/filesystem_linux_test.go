package acceptance

import (
	_ "embed"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// filesystemServer is a real server, of many users, at a fixed version.
const filesystemServer = "@modelcontextprotocol/server-filesystem@2026.8.31"

// fact is what a tool really does.
type fact struct {
	Name                                         string
	ReadOnly, Destructive, Idempotent, OpenWorld bool
	// Arguable hints are judged one way or the other by people too.
	Arguable []string
}

func (f fact) of(hint string) bool {
	return map[string]bool{
		"readOnlyHint": f.ReadOnly, "destructiveHint": f.Destructive, "idempotentHint": f.Idempotent, "openWorldHint": f.OpenWorld,
	}[hint]
}

func (f fact) arguable(hint string) bool {
	return slices.Contains(f.Arguable, map[string]string{
		"readOnlyHint": "readOnly", "destructiveHint": "destructive", "idempotentHint": "idempotent", "openWorldHint": "openWorld",
	}[hint])
}

//go:embed testdata/filesystem.json
var filesystemTruth []byte

func filesystemFacts(t *testing.T) []fact {
	t.Helper()
	var file struct{ Tools []fact }
	if err := json.Unmarshal(filesystemTruth, &file); err != nil {
		t.Fatal(err)
	}
	return file.Tools
}

// unreachable is why the server cannot be fetched, "" when it can.
var unreachable = sync.OnceValue(func() string {
	out, err := exec.Command("npm", "view", filesystemServer, "version").CombinedOutput()
	if err != nil {
		return err.Error() + "\n" + string(out)
	}
	return ""
})

func needsRegistry(t *testing.T) {
	t.Helper()
	if reason := unreachable(); reason != "" {
		t.Skip("npm can't reach the package: " + reason)
	}
}

// The whole way of the first command that a user runs: fetched by npx, run in
// the sandbox, every tool called, every hint judged. Then the same server with
// every tool claiming the safest values.
func TestFilesystemServer(t *testing.T) {
	facts := filesystemFacts(t)
	asRootAndUser(t, func(t *testing.T) {
		needsWorlds(t)
		needsRegistry(t)
		s := newScene(t)
		t.Run("as it is", func(t *testing.T) {
			r := s.run(t, "verify", "--format", "json", "--", "npx", "-y", filesystemServer, "{workspace}")
			r.wantCode(t, 0)
			wantFilesystemVerdicts(t, r.document(t), facts)
			s.wantNothingLeft(t)
		})
		t.Run("claiming the safest", func(t *testing.T) {
			r := s.run(t, "verify", "--format", "json", "--", built(t, "claims"), "-claim", "safest", "--", fetchedProgram(t, s), "{workspace}")
			r.wantCode(t, 1)
			wantClaimsJudged(t, r.document(t), facts)
			s.wantNothingLeft(t)
		})
	})
}

// fetchedProgram is what the first run has put into the cache.
func fetchedProgram(t *testing.T, s *scene) string {
	t.Helper()
	found, err := filepath.Glob(s.path("cache/ax-check/npm/*/node_modules/.bin/*filesystem*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("the cache holds %v (%v), want one program", found, err)
	}
	return found[0]
}

func wantFilesystemVerdicts(t *testing.T, d document, facts []fact) {
	t.Helper()
	var listed, known []string
	for _, tool := range d.Tools {
		listed = append(listed, tool.Name)
	}
	for _, f := range facts {
		known = append(known, f.Name)
	}
	if diff := cmp.Diff(known, listed); diff != "" {
		t.Fatalf("the list of tools:\n%s", diff)
	}
	for _, f := range facts {
		tool := d.tool(t, f.Name)
		if tool.Calls.Effective == 0 {
			t.Errorf("%s: none of %d calls took effect", f.Name, tool.Calls.Made)
		}
		for _, hint := range hints {
			j := tool.Hints[hint]
			switch {
			case j.Verdict == "contradicted":
				t.Errorf("%s: %s contradicted: %s", f.Name, hint, j.Reason)
			case f.arguable(hint):
			case j.Observed == nil || *j.Observed != f.of(hint):
				t.Errorf("%s: %s is %v, but %s: %s", f.Name, hint, f.of(hint), j.Verdict, j.Reason)
			}
		}
	}
	for _, want := range []struct{ tool, hint, verdict string }{
		{"edit_file", "idempotentHint", "confirmed"},
		{"create_directory", "idempotentHint", "supported"},
		{"write_file", "idempotentHint", "supported"},
		{"write_file", "destructiveHint", "confirmed"},
	} {
		if got := d.tool(t, want.tool).Hints[want.hint]; got.Verdict != want.verdict {
			t.Errorf("%s: %s is %s, want %s: %s", want.tool, want.hint, got.Verdict, want.verdict, got.Reason)
		}
	}
}

// wantClaimsJudged holds that every false claim is contradicted with evidence,
// and no true one is.
func wantClaimsJudged(t *testing.T, d document, facts []fact) {
	t.Helper()
	found, lies := 0, 0
	for _, f := range facts {
		for _, hint := range hints {
			if f.arguable(hint) {
				continue
			}
			j := d.tool(t, f.Name).Hints[hint]
			lie := f.of(hint) != claims[hint]
			accused := j.Verdict == "contradicted"
			if lie {
				lies++
			}
			if lie && accused && d.shown(j) {
				found++
			}
			if lie != accused {
				t.Errorf("%s: %s is in truth %v and claimed to be %v, verdict %s: %s", f.Name, hint, f.of(hint), claims[hint], j.Verdict, j.Reason)
			}
		}
	}
	if found != lies || lies == 0 {
		t.Errorf("%d of %d false claims contradicted with evidence", found, lies)
	}
}

// The truth that is kept outside of this project, where it is at hand, says the
// same as ours.
func TestFilesystemFactsAgree(t *testing.T) {
	text, err := os.ReadFile("../../../shared/truth/filesystem.json")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no ../shared/truth/filesystem.json beside the project")
	}
	if err != nil {
		t.Fatal(err)
	}
	var theirs struct {
		Tools []struct {
			Name     string
			Truth    struct{ ReadOnly, Destructive, Idempotent, OpenWorld bool }
			Arguable []string
		}
	}
	if err := json.Unmarshal(text, &theirs); err != nil {
		t.Fatal(err)
	}
	var want []fact
	for _, tool := range theirs.Tools {
		truth := tool.Truth
		want = append(want, fact{tool.Name, truth.ReadOnly, truth.Destructive, truth.Idempotent, truth.OpenWorld, tool.Arguable})
	}
	if diff := cmp.Diff(want, filesystemFacts(t)); diff != "" {
		t.Errorf("our facts differ:\n%s", diff)
	}
}
