package seccomp

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_AARCH64
	// arm64 has no second table of calls in the same architecture.
	foreignBit = 0
)

var legacyWrites = map[int32]pathCall{
	unix.SYS_TRUNCATE: {name: "truncate", path: 0},
}
