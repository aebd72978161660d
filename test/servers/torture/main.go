// Command torture is an MCP server over stdio that misbehaves in one chosen way,
// so that a client can be held to what it does about it.
//
//	torture MODE
//
// Without a mode it lists them. Its loop is written by hand, since a library
// would forbid most of what it is for. In every mode the two tools do what they
// claim: read_note and append_note keep a file notes.txt in the current folder.
//
// Sources: https://modelcontextprotocol.io/specification/2025-11-25 and
// https://modelcontextprotocol.io/specification/2026-07-28.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, in io.Reader, out, log io.Writer) int {
	if len(args) == 1 && args[0] == sleeper {
		return sleep()
	}
	if len(args) == 1 {
		for _, m := range modes() {
			if m.name == args[0] {
				return newServer(in, out, log, m).serve()
			}
		}
	}
	fmt.Fprintln(log, "torture MODE, where MODE is one of")
	for _, m := range modes() {
		fmt.Fprintf(log, "  %-20s %s\n", m.name, m.does)
	}
	return 2
}
