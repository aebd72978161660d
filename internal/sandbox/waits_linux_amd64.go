package sandbox

import "golang.org/x/sys/unix"

// legacyWaits are waiting calls that newer architectures do not have.
var legacyWaits = map[int]wait{
	unix.SYS_SELECT:     {timeout: 4, unit: timeval},
	unix.SYS_POLL:       {timeout: 2, unit: millis},
	unix.SYS_EPOLL_WAIT: {timeout: 3, unit: millis},
	unix.SYS_PAUSE:      {},
}
