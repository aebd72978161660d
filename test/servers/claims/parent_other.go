//go:build !linux

package main

import "syscall"

// dieWithParent has no counterpart here: a server sees the end of its stdin.
func dieWithParent() *syscall.SysProcAttr { return nil }
