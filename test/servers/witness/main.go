// Command witness is an MCP server over stdio whose tools tell what it finds
// around itself: the folder, the home, the environment. It changes nothing, so a
// test can hold a checker to what it promises to give to a server.
//
//	witness [-fail] [ARGUMENT...]
//
// With -fail every call fails.
package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	if err := newServer(os.Args[1:]).Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, "witness:", err)
		os.Exit(1)
	}
}

func newServer(args []string) *mcp.Server {
	failing := len(args) > 0 && args[0] == "-fail"
	server := mcp.NewServer(&mcp.Implementation{Name: "witness", Version: "1.0.0"}, nil)
	for name, look := range map[string]func() (string, error){
		"show_folder":      func() (string, error) { return tree(".") },
		"show_home":        func() (string, error) { return tree(os.Getenv("HOME")) },
		"show_place":       func() (string, error) { return place(args) },
		"show_environment": environment,
	} {
		closed := false
		tool := &mcp.Tool{
			Name: name, Description: "Show what the server finds there.",
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &closed},
		}
		mcp.AddTool(server, tool, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			if failing {
				return nil, nil, fmt.Errorf("the account is locked")
			}
			text, err := look()
			if err != nil {
				return nil, nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
		})
	}
	return server
}

// tree lists a folder, one entry a line: its path, then a file's mode and the
// beginning of its hash, or where a link leads.
func tree(top string) (string, error) {
	var lines []string
	err := fs.WalkDir(os.DirFS(top), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		line, err := describe(top, path, entry)
		lines = append(lines, line)
		return err
	})
	return strings.Join(lines, "\n"), err
}

func describe(top, path string, entry fs.DirEntry) (string, error) {
	full := top + "/" + path
	switch {
	case entry.IsDir():
		return path + "/", nil
	case entry.Type()&fs.ModeSymlink != 0:
		target, err := os.Readlink(full)
		return path + " -> " + target, err
	}
	info, err := entry.Info()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(full)
	return fmt.Sprintf("%s %04o %.4x", path, info.Mode().Perm(), sha256.Sum256(text)), err
}

func place(args []string) (string, error) {
	dir, err := os.Getwd()
	return fmt.Sprintf("in %s with %q", dir, args), err
}

// environment lists the names, and the values of those that tests set.
func environment() (string, error) {
	var lines []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "WITNESS_") {
			name = entry
		}
		lines = append(lines, name)
	}
	slices.Sort(lines)
	return strings.Join(lines, " "), nil
}
