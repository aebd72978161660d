package sandbox

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	MaybeRunChild()
	os.Exit(m.Run())
}

// start makes a world, or skips with the reason that this machine gives.
func start(t *testing.T, spec Spec) *World {
	t.Helper()
	w, err := Start(context.Background(), spec)
	if err != nil {
		if s := Check(context.Background()); !s.OK {
			t.Skipf("no isolation on this machine: %s", s.Problem)
		}
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// shell runs a script inside and returns its output and exit status.
func shell(t *testing.T, w *World, script string) (string, int) {
	t.Helper()
	p, err := w.Run(Command{Argv: []string{"sh", "-c", script + " 2>&1"}, Dir: Workspace, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + Home}, Recorded: true})
	if err != nil {
		t.Fatal(err)
	}
	_ = p.Stdin.Close()
	out, err := io.ReadAll(p.Stdout)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Done:
	case <-time.After(20 * time.Second):
		t.Fatalf("the script did not end: %s", out)
	}
	return strings.TrimSpace(string(out)), p.Status()
}

func TestRunsAProgram(t *testing.T) {
	w := start(t, Spec{})
	out, status := shell(t, w, "id -u; pwd; ls /; cat /proc/mounts; exit 7")
	t.Log(out)
	if status != 7 {
		t.Fatalf("status %d, want 7: %s", status, out)
	}
	t.Log(w.TakeEvents())
	begin := time.Now()
	s := w.Settle(context.Background(), SettleOptions{Max: time.Second, Horizon: time.Second})
	t.Log(s, time.Since(begin))
}
