package testenv

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Stranger is the user id, and group id, that tests drop to. It has no account,
// as in many containers.
const Stranger = 61234

// Prefix marks environment variables that reach the user half of a test.
const Prefix = "AX_CHECK_TEST_"

const userHalf = Prefix + "USER_HALF"

// AsRootAndUser runs body as a subtest for the current user: "user", or "root".
// As root it also runs the subtest "user" in a copy of the test binary, as
// Stranger without supplementary groups and with an empty HOME of its own. Its
// output is passed through, and it fails and skips as it does there.
//
// The test must not do more than skip before it calls AsRootAndUser: that part
// is run again by the copy.
func AsRootAndUser(t *testing.T, body func(t *testing.T)) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Run("user", body)
		return
	}
	t.Run("root", body)
	t.Run("user", func(t *testing.T) { runAsStranger(t) })
}

func runAsStranger(t *testing.T) {
	home := PublicDir(t)
	if err := errors.Join(os.Chmod(home, 0o755), os.Mkdir(home+"/home", 0o700), os.Mkdir(home+"/home/tmp", 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{home + "/home", home + "/home/tmp"} {
		if err := os.Chown(dir, Stranger, Stranger); err != nil {
			t.Fatal(err)
		}
	}
	binary := home + "/test"
	if err := copyProgram(binary); err != nil {
		t.Fatalf("copying the test binary: %v", err)
	}
	c := exec.CommandContext(t.Context(), binary, "-test.v", "-test.count=1", "-test.run="+pattern(t.Name()), "-test.timeout="+timeLeft(t).String())
	c.Dir = home + "/home"
	c.Env = strangerEnv(home + "/home")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: Stranger, Gid: Stranger, Groups: []uint32{}}}
	c.WaitDelay = 5 * time.Second
	output, err := c.CombinedOutput()
	told := readOutcome(string(output), t.Name())
	switch {
	case err != nil || !told.ran:
		t.Fatalf("as uid %d: %v\n%s", Stranger, err, output)
	case told.skipped != "":
		t.Skip(told.skipped)
	}
	t.Logf("as uid %d:\n%s", Stranger, output)
}

// strangerEnv is a bare environment, and what tests hand to their user half.
func strangerEnv(home string) []string {
	env := []string{userHalf + "=1", "HOME=" + home, "TMPDIR=" + home + "/tmp", "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}
	for _, entry := range os.Environ() {
		if strings.HasPrefix(entry, Prefix) {
			env = append(env, entry)
		}
	}
	return env
}

func copyProgram(to string) error {
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	out, err := os.OpenFile(filepath.Clean(to), os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, from); err != nil {
		return errors.Join(err, out.Close())
	}
	// The umask may have taken what others need.
	return errors.Join(out.Chmod(0o755), out.Close())
}

// timeLeft leaves the parent time to tell what the copy said.
func timeLeft(t *testing.T) time.Duration {
	deadline, ok := t.Deadline()
	if !ok {
		return 10 * time.Minute
	}
	return max(time.Until(deadline)-5*time.Second, time.Second).Round(time.Second)
}
