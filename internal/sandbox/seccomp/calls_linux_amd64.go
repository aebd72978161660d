package seccomp

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_X86_64
	// x32 calls carry this bit and would slip past the numbers below.
	foreignBit = 0x40000000
)

// legacyWrites are calls that newer architectures do not have.
var legacyWrites = map[int32]pathCall{
	unix.SYS_CREAT:    {name: "creat", path: 0},
	unix.SYS_UNLINK:   {name: "unlink", path: 0},
	unix.SYS_RMDIR:    {name: "rmdir", path: 0},
	unix.SYS_MKDIR:    {name: "mkdir", path: 0},
	unix.SYS_MKNOD:    {name: "mknod", path: 0},
	unix.SYS_RENAME:   {name: "rename", path: 0, second: 1},
	unix.SYS_LINK:     {name: "link", path: 1},
	unix.SYS_SYMLINK:  {name: "symlink", path: 1},
	unix.SYS_CHMOD:    {name: "chmod", path: 0},
	unix.SYS_CHOWN:    {name: "chown", path: 0},
	unix.SYS_LCHOWN:   {name: "lchown", path: 0},
	unix.SYS_TRUNCATE: {name: "truncate", path: 0},
	unix.SYS_OPEN:     {name: "open", path: 0, flags: 1},
}
