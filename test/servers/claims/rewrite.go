package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ax-check/ax-check/internal/hint"
	"github.com/ax-check/ax-check/internal/jsondoc"
)

// claim says how one tool's text is to change.
type claim func(tool *jsondoc.Node) []patch

// patch puts text in the place of the bytes from start to end.
type patch struct {
	start, end int
	text       string
}

func claimNamed(name string) (claim, error) {
	switch name {
	case "safest":
		return declare(hint.Name.Claim), nil
	case "cautious":
		return declare(hint.Name.Default), nil
	case "none":
		return withdraw, nil
	case "as-is":
		return func(*jsondoc.Node) []patch { return nil }, nil
	}
	return nil, fmt.Errorf("there is no claim %q: safest, cautious, none or as-is", name)
}

// declare sets all four hints and keeps whatever else the annotations hold.
// Annotations that are missing or no object are made new.
func declare(value func(hint.Name) bool) claim {
	var all []string
	for _, name := range hint.Names() {
		all = append(all, fmt.Sprintf("%q:%t", name, value(name)))
	}
	whole := "{" + strings.Join(all, ",") + "}"
	return func(tool *jsondoc.Node) []patch {
		annotations := tool.Get("annotations")
		if annotations == nil {
			return []patch{add(tool, `"annotations":`+whole)}
		}
		if !annotations.Is(jsondoc.Object) {
			return []patch{{annotations.Start, annotations.End, whole}}
		}
		var patches []patch
		var missing []string
		for _, m := range annotations.Members {
			// Only the last of duplicates counts, but no reader shall see another.
			if name := hint.Name(m.Key); slices.Contains(hint.Names(), name) {
				patches = append(patches, patch{m.Value.Start, m.Value.End, fmt.Sprint(value(name))})
			}
		}
		for i, name := range hint.Names() {
			if annotations.Get(string(name)) == nil {
				missing = append(missing, all[i])
			}
		}
		if missing != nil {
			patches = append(patches, add(annotations, strings.Join(missing, ",")))
		}
		return patches
	}
}

// add puts members after an object's last one.
func add(object *jsondoc.Node, members string) patch {
	if len(object.Members) == 0 {
		return patch{object.Start + 1, object.Start + 1, members}
	}
	end := object.Members[len(object.Members)-1].Value.End
	return patch{end, end, "," + members}
}

// withdraw removes the annotations, each with one comma: the one before it, or
// the one after it while nothing that stays stands before.
func withdraw(tool *jsondoc.Node) []patch {
	var patches []patch
	first := true
	for i, m := range tool.Members {
		if m.Key != "annotations" {
			first = false
			continue
		}
		start, end := m.KeyStart, m.Value.End
		if !first {
			start = tool.Members[i-1].Value.End
		} else if i+1 < len(tool.Members) {
			end = tool.Members[i+1].KeyStart
		}
		patches = append(patches, patch{start, end, ""})
	}
	return patches
}

// rewrite lets every tool in a line make the claim, if the line is a response
// to tools/list, told by the array result.tools. Any other line comes back as
// it is, and so does every byte outside the annotations.
func rewrite(line []byte, change claim) []byte {
	doc, err := jsondoc.Parse(line, jsondoc.Limits{})
	if err != nil {
		return line
	}
	tools := doc.Root.Get("result").Get("tools")
	if !tools.Is(jsondoc.Array) {
		return line
	}
	var out []byte
	done := 0
	for _, tool := range tools.Items {
		if !tool.Is(jsondoc.Object) {
			continue
		}
		for _, p := range change(tool) { // in order of place
			out = append(append(out, line[done:p.start]...), p.text...)
			done = p.end
		}
	}
	return append(out, line[done:]...)
}
