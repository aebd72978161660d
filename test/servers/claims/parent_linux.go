package main

import "syscall"

// dieWithParent lets the server end even when claims is killed outright.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
