package argument

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Limits that keep a hostile schema cheap. They lie far above every real one.
const (
	maxNesting = 200     // levels of JSON in a schema
	maxHops    = 16      // $ref and allOf followed from one place
	maxReads   = 200_000 // schema objects read for one plan
)

// object is a JSON object in the order in which its author wrote it, so that
// arguments read as the tool's own documentation does.
type object struct {
	keys   []string
	values map[string]any
}

func newObject() *object { return &object{values: map[string]any{}} }

func (o *object) set(key string, value any) {
	if _, seen := o.values[key]; !seen {
		o.keys = append(o.keys, key)
	}
	o.values[key] = value
}

// encode writes a value made of *object, []any and scalars. Scalars come from
// JSON or from this package, so that it cannot fail.
func encode(v any) []byte {
	var b bytes.Buffer
	write(&b, v)
	return b.Bytes()
}

func write(b *bytes.Buffer, v any) {
	switch v := v.(type) {
	case *object:
		b.WriteByte('{')
		for i, k := range v.keys {
			if i > 0 {
				b.WriteByte(',')
			}
			write(b, k)
			b.WriteByte(':')
			write(b, v.values[k])
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			write(b, e)
		}
		b.WriteByte(']')
	default:
		enc := json.NewEncoder(b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			panic(fmt.Sprintf("argument: a %T among the arguments: %v", v, err))
		}
		b.Truncate(b.Len() - 1) // Encode's line feed
	}
}

var errNesting = errors.New("schema is nested too deeply")

// decode reads JSON into *object, []any, string, json.Number, bool and nil.
func decode(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return decodeValue(dec, 0)
}

func decodeValue(dec *json.Decoder, depth int) (any, error) {
	if depth > maxNesting {
		return nil, errNesting
	}
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		o := newObject()
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return nil, err
			}
			value, err := decodeValue(dec, depth+1)
			if err != nil {
				return nil, err
			}
			o.set(key.(string), value)
		}
		_, err = dec.Token()
		return o, err
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			value, err := decodeValue(dec, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		_, err = dec.Token()
		return list, err
	}
	return token, nil
}

// property is one entry of a schema's properties.
type property struct {
	name   string
	schema any
}

// view is what one place of a schema asks for, with $ref and allOf merged in.
// Absent numbers are nil, absent text is empty.
type view struct {
	types       []string
	props       []property
	required    []string
	items       any
	enum        []any
	constant    any
	hasConstant bool
	preset      any // the keyword "default"
	hasPreset   bool
	examples    []any
	format      string
	pattern     string
	description string
	encoding    string
	min, max    *float64
	above       *float64 // exclusiveMinimum
	below       *float64 // exclusiveMaximum
	multiple    *float64
	minLength   int
	maxLength   int // -1: none
	minItems    int
	unique      bool // uniqueItems
	maxItems    int  // -1: none
	minProps    int
	extra       any   // additionalProperties, when it is a schema
	branches    []any // oneOf or anyOf, without null
}

// is reports whether the place accepts the type and prefers it: the first
// type other than null decides.
func (v *view) is(name string) bool { return v.kind() == name }

// kind is the type that values are made of; "" when the schema does not say.
func (v *view) kind() string {
	for _, t := range v.types {
		if t != "null" {
			return t
		}
	}
	switch {
	case len(v.types) > 0:
		return "null"
	case len(v.props) > 0 || len(v.required) > 0:
		return "object"
	case v.items != nil:
		return "array"
	}
	return ""
}

// schema reads views out of one schema document.
type schema struct {
	root  any
	views map[*object]*view
	reads int
}

func parseSchema(raw json.RawMessage) (*schema, error) {
	s := &schema{root: newObject(), views: map[*object]*view{}}
	if len(bytes.TrimSpace(raw)) == 0 {
		return s, nil
	}
	root, err := decode(raw)
	if err != nil {
		return s, err
	}
	s.root = root
	return s, nil
}

// at reads the view of a place, with its unions still open.
func (s *schema) at(place any) *view {
	o, ok := place.(*object)
	if !ok {
		return &view{maxLength: -1, maxItems: -1}
	}
	if v, ok := s.views[o]; ok {
		return v
	}
	v := &view{maxLength: -1, maxItems: -1}
	s.absorb(v, o, 0)
	s.views[o] = v
	return v
}

// settled reads the view of a place with the given branch of its union taken.
func (s *schema) settled(place any, branch int) *view {
	v := s.at(place)
	for range maxHops {
		if len(v.branches) == 0 {
			break
		}
		taken := v.branches[min(branch, len(v.branches)-1)]
		merged := *v
		merged.branches = nil
		merged.required = slices.Clip(v.required)
		s.absorb(&merged, taken, 0)
		v, branch = &merged, 0
	}
	return v
}

// absorb merges a schema into a view; what is nearer to the reader wins.
func (s *schema) absorb(v *view, place any, hops int) {
	o, ok := place.(*object)
	if !ok || hops > maxHops || s.reads > maxReads {
		return
	}
	s.reads++
	if ref, ok := o.values["$ref"].(string); ok {
		s.absorb(v, s.lookup(ref), hops+1)
	}
	if all, ok := o.values["allOf"].([]any); ok {
		for _, part := range all {
			s.absorb(v, part, hops+1)
		}
	}
	v.readShape(o)
	v.readValues(o)
	v.readBounds(o)
	for _, keyword := range []string{"oneOf", "anyOf"} {
		list, _ := o.values[keyword].([]any)
		if len(list) == 0 {
			continue
		}
		v.branches = slices.DeleteFunc(slices.Clone(list), isNull)
		if len(v.branches) == 0 {
			v.branches = list // null and nothing else
		}
	}
}

func isNull(place any) bool {
	o, ok := place.(*object)
	return ok && o.values["type"] == "null"
}

func (v *view) readShape(o *object) {
	switch t := o.values["type"].(type) {
	case string:
		v.types = []string{t}
	case []any:
		v.types = stringsOf(t)
	}
	if props, ok := o.values["properties"].(*object); ok {
		v.addProps(props)
	}
	if names, ok := o.values["required"].([]any); ok {
		v.addRequired(stringsOf(names))
	}
	switch items := o.values["items"].(type) {
	case *object:
		v.items = items
	case []any: // the tuple form of draft-07
		if len(items) > 0 {
			v.items = items[0]
		}
	}
	if prefix, ok := o.values["prefixItems"].([]any); ok && len(prefix) > 0 {
		v.items = prefix[0]
		v.minItems = max(v.minItems, len(prefix))
	}
	if extra, ok := o.values["additionalProperties"].(*object); ok {
		v.extra = extra
	}
}

// addProps takes over properties; only those of an earlier part (of an allOf
// or a union) can have the same name.
func (v *view) addProps(props *object) {
	earlier := map[string]int{}
	for i, p := range v.props {
		earlier[p.name] = i
	}
	v.props = slices.Clone(v.props)
	for _, name := range props.keys {
		p := property{name, props.values[name]}
		if i, ok := earlier[name]; ok {
			v.props[i] = p
		} else {
			v.props = append(v.props, p)
		}
	}
}

func (v *view) addRequired(names []string) {
	seen := map[string]bool{}
	for _, n := range v.required {
		seen[n] = true
	}
	for _, n := range names {
		if !seen[n] {
			seen[n] = true
			v.required = append(v.required, n)
		}
	}
}

func (v *view) readValues(o *object) {
	if list, ok := o.values["enum"].([]any); ok && len(list) > 0 {
		v.enum = list
	}
	if c, ok := o.values["const"]; ok {
		v.constant, v.hasConstant = c, true
	}
	if d, ok := o.values["default"]; ok && d != nil {
		v.preset, v.hasPreset = d, true
	}
	if list, ok := o.values["examples"].([]any); ok {
		v.examples = list
	} else if one, ok := o.values["example"]; ok {
		v.examples = []any{one} // OpenAPI's spelling, common in generated schemas
	}
	readText(o, "format", &v.format)
	readText(o, "pattern", &v.pattern)
	readText(o, "description", &v.description)
	readText(o, "contentEncoding", &v.encoding)
}

func readText(o *object, key string, into *string) {
	if text, ok := o.values[key].(string); ok {
		*into = text
	}
}

func (v *view) readBounds(o *object) {
	readNumber(o, "minimum", &v.min)
	readNumber(o, "maximum", &v.max)
	readNumber(o, "exclusiveMinimum", &v.above)
	readNumber(o, "exclusiveMaximum", &v.below)
	readNumber(o, "multipleOf", &v.multiple)
	readCount(o, "minLength", &v.minLength)
	readCount(o, "maxLength", &v.maxLength)
	readCount(o, "minItems", &v.minItems)
	readCount(o, "maxItems", &v.maxItems)
	readCount(o, "minProperties", &v.minProps)
	if unique, ok := o.values["uniqueItems"].(bool); ok {
		v.unique = unique
	}
}

func readNumber(o *object, key string, into **float64) {
	if n, ok := o.values[key].(json.Number); ok {
		if f, err := n.Float64(); err == nil {
			*into = &f
		}
	}
}

func readCount(o *object, key string, into *int) {
	if n, ok := o.values[key].(json.Number); ok {
		if f, err := n.Float64(); err == nil && f >= 0 && f <= 1<<30 {
			*into = int(f)
		}
	}
}

// lookup follows a local reference: "#" or a JSON pointer below it (RFC 6901).
// Anything else is unknown here and reads as an open schema.
func (s *schema) lookup(ref string) any {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	place := s.root
	if pointer == "" {
		return place
	}
	steps := strings.Split(pointer, "/")
	if steps[0] != "" {
		return nil
	}
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for _, step := range steps[1:] {
		step = unescape.Replace(step)
		switch at := place.(type) {
		case *object:
			place = at.values[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(at) {
				return nil
			}
			place = at[i]
		default:
			return nil
		}
	}
	return place
}

func stringsOf(list []any) []string {
	var out []string
	for _, e := range list {
		if text, ok := e.(string); ok {
			out = append(out, text)
		}
	}
	return out
}
