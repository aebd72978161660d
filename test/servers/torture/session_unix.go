//go:build unix

package main

import "syscall"

// ownSession lets a process get away from the group that it was started in.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
