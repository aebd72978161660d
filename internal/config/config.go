// Package config reads ax-check.yaml: the options of verify, kept beside a
// server's source.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// FileName is looked for in the working folder.
const FileName = "ax-check.yaml"

// File is the content of ax-check.yaml. Each key means what the flag of the same
// name means; a flag that is given wins, and repeatable ones add to the file's.
type File struct {
	// Command starts the server: a list of words.
	Command []string `yaml:"command"`
	// Env holds NAME=VALUE, or NAME to pass the user's own value.
	Env []string `yaml:"env"`
	// Cwd is the server's working folder in the world.
	Cwd string `yaml:"cwd"`
	// Setup commands run in every world before the server starts.
	Setup []string `yaml:"setup"`
	// Workspace and Home are folders whose copies seed the world.
	Workspace string `yaml:"workspace"`
	Home      string `yaml:"home"`
	// NoSeed leaves the workspace empty.
	NoSeed bool `yaml:"no-seed"`
	// Timeout bounds each call, such as "10s".
	Timeout time.Duration `yaml:"timeout"`
	// Seed makes the plan of calls.
	Seed uint64 `yaml:"seed"`
	// FailOn is the lowest severity that makes the exit code 1.
	FailOn string `yaml:"fail-on"`
}

// Read reads a file strictly: an unknown key is an error that names its line.
func Read(path string) (File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return File{}, err
	}
	return parse(path, text)
}

func parse(path string, text []byte) (File, error) {
	var f File
	if len(bytes.TrimSpace(text)) == 0 {
		return f, nil
	}
	if err := yaml.Load(text, &f, yaml.WithKnownFields()); err != nil {
		return File{}, fmt.Errorf("%s: %s", path, plain(err))
	}
	return f, nil
}

var (
	unknownKey = regexp.MustCompile(`field (\S+) not found in type \S+`)
	wrongType  = regexp.MustCompile("cannot construct !!(\\w+)(?: `([^`]*)`)? into (\\S+)")
	position   = regexp.MustCompile(`at L(\d+)\.C(\d+)(?:-L\d+\.C\d+)?`)
)

// plain says what the yaml library found in words for people who write files.
func plain(err error) string {
	text := strings.TrimPrefix(err.Error(), "yaml: construct errors: ")
	text = unknownKey.ReplaceAllString(text, `unknown key "$1"`)
	text = wrongType.ReplaceAllStringFunc(text, func(found string) string {
		part := wrongType.FindStringSubmatch(found)
		kind := map[string]string{"seq": "a list", "map": "a mapping", "str": "a text", "bool": "true or false", "int": "a number"}[part[1]]
		want := map[string]string{"config.File": "keys and values", "[]string": "a list of texts", "time.Duration": "a time such as 10s", "string": "a text", "bool": "true or false", "uint64": "a number"}[part[3]]
		if kind == "" || want == "" {
			return found
		}
		if part[2] != "" {
			kind = strconv.Quote(part[2])
		}
		return "found " + kind + " where " + want + " belongs"
	})
	return position.ReplaceAllString(strings.TrimPrefix(text, "go-yaml load error in parser "), "at line $1, column $2")
}

// Find reads the named file, or FileName when that is there; without either the
// result is empty.
func Find(path string) (File, error) {
	if path != "" {
		return Read(path)
	}
	f, err := Read(FileName)
	if errors.Is(err, os.ErrNotExist) {
		return File{}, nil
	}
	return f, err
}
