//go:build !linux

package sandbox

import (
	"context"
	"os"
	"runtime"
	"time"
)

// World can't be made on this system.
type World struct{}

var unsupported = &UnsupportedError{Support{
	Problem:  "verify needs Linux; this is " + runtime.GOOS,
	Remedies: []string{"run verify on Linux (a virtual machine or CI will do); lint, explain and rules work here"},
}}

// Start says that this system gives no isolation.
func Start(context.Context, Spec) (*World, error) { return nil, unsupported }

// Check says that this system gives no isolation.
func Check(context.Context) Support { return unsupported.Support }

// The methods exist so that callers build; no World exists to call them on.

func (w *World) TakeEvents() []Event                           { return nil }
func (w *World) AwaitNames(time.Duration)                      {}
func (w *World) Layers() []Layer                               { return nil }
func (w *World) Folder(string) (*os.Root, error)               { return nil, unsupported }
func (w *World) Run(Command) (*Process, error)                 { return nil, unsupported }
func (w *World) KillAll() error                                { return unsupported }
func (w *World) Alive() bool                                   { return false }
func (w *World) Close()                                        {}
func (w *World) MappedFiles() map[string]bool                  { return nil }
func (w *World) Settle(context.Context, SettleOptions) Settled { return Settled{} }
