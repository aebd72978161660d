package mcp

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// header is one HTTP header that repeats an argument of a tool call.
type header struct{ name, value string }

// headers are what HTTP repeats of a request, so that what stands between client
// and server need not read bodies
// (https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http).
// They are not canonicalised: HTTP does not care about the case.
func (c *Client) headers(r request) http.Header {
	server := c.server.Load()
	h := http.Header{}
	probing := r.method == "server/discover"
	if server.Protocol != "" || probing {
		h.Set("Mcp-Protocol-Version", c.revision())
	}
	if !server.Modern && !probing {
		return h
	}
	h.Set("Mcp-Method", r.method)
	if r.name != "" {
		h.Set("Mcp-Name", headerValue(r.name))
	}
	for _, m := range r.mirror {
		h.Set("Mcp-Param-"+m.name, m.value)
	}
	return h
}

// headerValue writes text as a header value: as it is when it is plain, and
// otherwise in the protocol's own Base64 form.
func headerValue(text string) string {
	const before, after = "=?base64?", "?="
	plain := text == strings.TrimSpace(text) && text != "" &&
		!(strings.HasPrefix(text, before) && strings.HasSuffix(text, after)) &&
		!strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r > '~' })
	if plain {
		return text
	}
	return before + base64.StdEncoding.EncodeToString([]byte(text)) + after
}

// mirror says which argument is repeated in which header.
type mirror struct {
	path []string // the keys that lead to it
	name string   // the header's name after Mcp-Param-
}

// mirrorsOf reads the x-mcp-header marks of an input schema. Marks count only
// below properties. One mark that breaks the rules makes all of them void.
func mirrorsOf(schema json.RawMessage) []mirror {
	var found []mirror
	if !findMirrors(schema, nil, &found) {
		return nil
	}
	seen := map[string]bool{}
	for _, m := range found {
		lower := strings.ToLower(m.name)
		if seen[lower] {
			return nil
		}
		seen[lower] = true
	}
	return found
}

func findMirrors(schema json.RawMessage, path []string, found *[]mirror) (valid bool) {
	o, _ := objectIn(schema)
	if mark, marked := o["x-mcp-header"]; marked {
		name, ok := stringIn(mark)
		if !ok || !isToken(name) || !slices.Contains([]string{"string", "integer", "boolean"}, o.text("type")) {
			return false
		}
		*found = append(*found, mirror{path: slices.Clone(path), name: name})
	}
	properties, _ := objectIn(o["properties"])
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		if !findMirrors(properties[key], append(path, key), found) {
			return false
		}
	}
	return true
}

// isToken reports whether name is a token of RFC 9110, section 5.6.2.
func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		return !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

// headersFor gives the headers for one call. An argument that is absent, null or
// of another kind has none.
func headersFor(mirrors []mirror, arguments json.RawMessage) []header {
	var out []header
	for _, m := range mirrors {
		raw := arguments
		for _, key := range m.path {
			o, _ := objectIn(raw)
			raw = o[key]
		}
		if value, ok := scalar(raw); ok {
			out = append(out, header{m.name, headerValue(value)})
		}
	}
	return out
}

// scalar writes a string, a boolean or a whole number as text.
func scalar(raw json.RawMessage) (string, bool) {
	if s, ok := stringIn(raw); ok {
		return s, true
	}
	if n, ok := integerIn(raw); ok {
		return strconv.FormatInt(n, 10), true
	}
	word := string(raw)
	return word, word == "true" || word == "false"
}
