package cli

import "runtime/debug"

// stamped is set when a release is built: -ldflags "-X .../internal/cli.stamped=v1.2.3".
var stamped string

// version is the release, else what the Go module system knows of this build.
func version() string {
	if stamped != "" {
		return stamped
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
