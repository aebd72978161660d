package testenv

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAsRootAndUser(t *testing.T) {
	AsRootAndUser(t, func(t *testing.T) {
		home := os.Getenv("HOME")
		if err := os.WriteFile(filepath.Join(t.TempDir(), "file"), nil, 0o600); err != nil {
			t.Errorf("the temporary folder can't be written: %v", err)
		}
		if os.Getenv(userHalf) == "" {
			return
		}
		groups, err := os.Getgroups()
		if err != nil || len(groups) > 0 {
			t.Errorf("supplementary groups %v (%v), want none", groups, err)
		}
		if os.Getuid() != Stranger || os.Getgid() != Stranger {
			t.Errorf("uid %d, gid %d, want %d", os.Getuid(), os.Getgid(), Stranger)
		}
		if err := os.WriteFile(filepath.Join(home, "file"), nil, 0o600); err != nil {
			t.Errorf("the home can't be written: %v", err)
		}
	})
}

// A skip in the user half shows as a skip of the subtest, with its reason.
func TestSkipOfTheUserHalf(t *testing.T) {
	AsRootAndUser(t, func(t *testing.T) {
		if os.Getuid() != 0 {
			t.Skip("skipped on purpose, to see the reason")
		}
	})
}
