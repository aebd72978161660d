package acceptance

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// midway waits until a run has got as far as the condition says.
func (r *running) midway(t *testing.T, condition func() bool) {
	t.Helper()
	if !eventually(condition) {
		_ = r.cmd.Process.Kill()
		t.Fatalf("the run did not come that far: %v", r.wait(t))
	}
}

// recorded reports whether the run's record has an event of this kind.
func (s *scene) recorded(event string) bool {
	text, err := os.ReadFile(s.path("here/run.jsonl"))
	return err == nil && strings.Contains(string(text), `"`+event+`":{`)
}

// serves reports whether a process runs that was started by these words.
func (s *scene) serves(t *testing.T, command string) bool {
	return slices.ContainsFunc(s.processes(t), func(p string) bool {
		_, words, _ := strings.Cut(p, " ")
		return strings.HasPrefix(words, command+" ")
	})
}

// A run that is interrupted says what it has found out, and leaves nothing.
func TestInterrupted(t *testing.T) {
	asRootAndUser(t, func(t *testing.T) {
		t.Run("verify", func(t *testing.T) {
			t.Parallel()
			needsWorlds(t)
			s := newScene(t)
			torture := s.copyOf(t, "torture")
			r := s.start(t, "verify", "--format", "json", "--timeout", "1m", "--record", "run.jsonl", "--", torture, "hang-call")
			r.midway(t, func() bool { return s.recorded("tools") && s.serves(t, torture+" hang-call") })
			interrupt(t, r)
			result := r.wait(t)
			result.wantCode(t, 130)
			d := result.document(t)
			if d.Complete || d.Stopped == nil || *d.Stopped != "interrupted" {
				t.Errorf("complete %v, stopped %v", d.Complete, d.Stopped)
			}
			if len(d.Tools) != 2 {
				t.Errorf("%d tools in the report, want both of the list", len(d.Tools))
			}
			for _, tool := range d.Tools {
				for _, hint := range hints {
					if j := tool.Hints[hint]; j.Verdict != "untested" || j.Reason == "" {
						t.Errorf("%s: %s is %q, because %q", tool.Name, hint, j.Verdict, j.Reason)
					}
				}
			}
			s.wantNothingLeft(t)
		})
		t.Run("verify before the list", func(t *testing.T) {
			t.Parallel()
			needsWorlds(t)
			wantQuietInterrupt(t, "verify")
		})
		t.Run("lint", func(t *testing.T) {
			t.Parallel()
			wantQuietInterrupt(t, "lint")
		})
	})
}

// wantQuietInterrupt interrupts a command that waits for a server's first word.
func wantQuietInterrupt(t *testing.T, command string) {
	t.Helper()
	s := newScene(t)
	torture := s.copyOf(t, "torture")
	r := s.start(t, command, "--", torture, "hang-start")
	r.midway(t, func() bool { return s.serves(t, torture+" hang-start") })
	interrupt(t, r)
	result := r.wait(t)
	result.wantCode(t, 130)
	if result.stdout != "" || !strings.Contains(result.stderr, "interrupted") {
		t.Errorf("nothing was found out yet: %v", result)
	}
	s.wantNothingLeft(t)
}

func interrupt(t *testing.T, r *running) {
	t.Helper()
	if err := r.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
}

// A sudden death leaves nothing either, whatever the server does to stay.
func TestKilled(t *testing.T) {
	asRootAndUser(t, func(t *testing.T) {
		for _, test := range []struct {
			name, mode string
			args       []string
			until      string // event of the record
		}{
			{"verify in a call", "hang-call", []string{"verify", "--timeout", "1m", "--record", "run.jsonl"}, "tools"},
			{"verify at the start", "hang-start", []string{"verify", "--record", "run.jsonl"}, "run"},
			{"lint", "hang-list", []string{"lint"}, ""},
		} {
			t.Run(test.name, func(t *testing.T) {
				t.Parallel()
				if test.until != "" {
					needsWorlds(t)
				}
				s := newScene(t)
				torture := s.copyOf(t, "torture")
				// Beside the server there is one of its children, in a session of its own.
				r := s.start(t, append(test.args, "--", "sh", "-c", `setsid "$0" sleeper & exec "$0" "$1"`, torture, test.mode)...)
				r.midway(t, func() bool {
					return s.serves(t, torture+" sleeper") && s.serves(t, torture+" "+test.mode) && (test.until == "" || s.recorded(test.until))
				})
				if err := r.cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				r.wait(t)
				s.wantNothingLeft(t)
			})
		}
	})
}

// A sudden death while a package is being fetched leaves no half of it behind.
func TestKilledInPreparation(t *testing.T) {
	asRootAndUser(t, func(t *testing.T) {
		needsWorlds(t)
		if _, err := exec.LookPath("npm"); err != nil {
			t.Skip("npm is missing")
		}
		for _, test := range []struct {
			name string
			kill func(t *testing.T, r *running)
			code int
		}{
			{"killed", func(_ *testing.T, r *running) { _ = r.cmd.Process.Kill() }, -1},
			{"interrupted", interrupt, 130},
		} {
			t.Run(test.name, func(t *testing.T) {
				s := newScene(t)
				asked, registry := silentRegistry(t)
				s.env = append(s.env, "npm_config_registry="+registry)
				r := s.start(t, "verify", "--", "npx", "-y", "some-server@1.0.0")
				select {
				case <-asked:
				case err := <-r.done:
					t.Fatalf("it ended before it asked the registry: %v\n%s", err, r.stderr.String())
				}
				if files := s.files(t, "cache"); !slices.ContainsFunc(files, staging) {
					t.Errorf("the cache holds %v, and no folder to fetch into", files)
				}
				test.kill(t, r)
				r.wait(t).wantCode(t, test.code)
				s.wantNothingLeft(t)
			})
		}
	})
}

// silentRegistry takes requests for packages and does not answer.
func silentRegistry(t *testing.T) (asked <-chan struct{}, address string) {
	t.Helper()
	first := make(chan struct{}, 1)
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		select {
		case first <- struct{}{}:
		default:
		}
		<-over
	}))
	t.Cleanup(func() { close(over); server.Close() })
	return first, server.URL + "/"
}
