//go:build !linux

package testenv

import "testing"

// AsRootAndUser runs body for the current user only: dropping to another is
// done on Linux alone.
func AsRootAndUser(t *testing.T, body func(t *testing.T)) {
	t.Helper()
	t.Run("user", body)
}
