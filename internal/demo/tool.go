package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ax-check/ax-check/internal/hint"
)

// tool is one entry of the tool list and the code behind it.
type tool struct {
	name        string
	description string
	params      []param
	// declares is what the server tells its clients, does is what the code
	// does. Where they differ the server lies, on purpose.
	declares, does hints
	run            func(context.Context, *session, arguments) (answer, error)
}

// hints is one value for each hint; the zero value of each is absent.
type hints struct{ readOnly, destructive, idempotent, openWorld hint.Value }

func (h hints) of(name hint.Name) hint.Value {
	switch name {
	case hint.ReadOnly:
		return h.readOnly
	case hint.Destructive:
		return h.destructive
	case hint.Idempotent:
		return h.idempotent
	default:
		return h.openWorld
	}
}

// answer is a tool's reply, and the work that it leaves for after the reply.
type answer struct {
	text  string
	later func() error
}

func say(format string, args ...any) (answer, error) {
	return answer{text: fmt.Sprintf(format, args...)}, nil
}

// param is one parameter: a string, or an integer from 1 up.
type param struct {
	name        string
	description string
	integer     bool
	optional    bool
	format      string
	pattern     string
	enum        []string
	examples    []any
	initial     any // the value when an optional parameter is left out
}

// MarshalJSON writes the tool as tools/list shows it.
func (t tool) MarshalJSON() ([]byte, error) {
	annotations := map[hint.Name]bool{}
	for _, name := range hint.Names() {
		if value, ok := t.declares.of(name).Bool(); ok {
			annotations[name] = value
		}
	}
	return json.Marshal(struct {
		Name        string             `json:"name"`
		Description string             `json:"description"`
		InputSchema any                `json:"inputSchema"`
		Annotations map[hint.Name]bool `json:"annotations"`
	}{t.name, t.description, t.schema(), annotations})
}

func (t tool) schema() map[string]any {
	properties := map[string]any{}
	required := []string{}
	for _, p := range t.params {
		properties[p.name] = p.schema()
		if !p.optional {
			required = append(required, p.name)
		}
	}
	return map[string]any{
		"type":                 "object",
		"properties":           properties,
		"required":             required,
		"additionalProperties": false,
	}
}

func (p param) schema() map[string]any {
	s := map[string]any{"type": "string", "description": p.description}
	if p.integer {
		s["type"], s["minimum"] = "integer", 1
	}
	if p.format != "" {
		s["format"] = p.format
	}
	if p.pattern != "" {
		s["pattern"] = p.pattern
	}
	if p.enum != nil {
		s["enum"] = p.enum
	}
	if p.examples != nil {
		s["examples"] = p.examples
	}
	if p.initial != nil {
		s["default"] = p.initial
	}
	return s
}

// arguments holds the values of one call by parameter name: strings and ints,
// checked against the schema, defaults filled in.
type arguments map[string]any

func (a arguments) text(name string) string { return a[name].(string) }
func (a arguments) number(name string) int  { return a[name].(int) }

// check turns a call's raw arguments into values, or says what is wrong.
func (t tool) check(raw json.RawMessage) (arguments, error) {
	given := map[string]any{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &given); err != nil {
			return nil, fmt.Errorf("the arguments are not an object")
		}
	}
	checked := arguments{}
	for _, p := range t.params {
		value, ok := given[p.name]
		delete(given, p.name)
		if !ok && !p.optional {
			return nil, fmt.Errorf("the argument %q is missing", p.name)
		}
		if !ok {
			checked[p.name] = p.initial
			continue
		}
		var err error
		if checked[p.name], err = p.check(value); err != nil {
			return nil, err
		}
	}
	if len(given) > 0 {
		return nil, fmt.Errorf("the argument %q is not known", slices.Min(slices.Collect(maps.Keys(given))))
	}
	return checked, nil
}

func (p param) check(value any) (any, error) {
	if p.integer {
		n, ok := value.(float64)
		if !ok || n != math.Trunc(n) || n < 1 || n > math.MaxInt32 {
			return nil, fmt.Errorf("the argument %q must be an integer from 1 up", p.name)
		}
		return int(n), nil
	}
	s, ok := value.(string)
	if !ok {
		return nil, fmt.Errorf("the argument %q must be a string", p.name)
	}
	if p.enum != nil && !slices.Contains(p.enum, s) {
		return nil, fmt.Errorf("the argument %q must be one of %s", p.name, strings.Join(p.enum, ", "))
	}
	if p.pattern != "" && !regexp.MustCompile(p.pattern).MatchString(s) {
		return nil, fmt.Errorf("the argument %q must match %s", p.name, p.pattern)
	}
	if p.format == "date" {
		if _, err := time.Parse(time.DateOnly, s); err != nil {
			return nil, fmt.Errorf("the argument %q must be a date like 2027-03-14", p.name)
		}
	}
	return s, nil
}
