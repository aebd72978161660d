package argument

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"

	"github.com/santhosh-tekuri/jsonschema/v6"
	kinds "github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// checker validates arguments against a tool's schema. The zero value accepts
// everything: a schema that does not compile is the server's fault, and no
// reason to leave its tool uncalled.
type checker struct{ compiled *jsonschema.Schema }

// maxCompiled bounds the objects of a schema that is compiled: the compiler
// takes quadratic time. The largest real schema has some 2,000.
const maxCompiled = 20_000

func newChecker(raw json.RawMessage) checker {
	if bytes.Count(raw, []byte("{")) > maxCompiled {
		return checker{}
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return checker{}
	}
	const place = "mem:///tool.json"
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(compilePattern)
	c.AssertFormat()
	if err := c.AddResource(place, doc); err != nil {
		return checker{}
	}
	compiled, err := c.Compile(place)
	if err != nil {
		return checker{}
	}
	return checker{compiled}
}

// misfits names the top-level properties that break the schema; ok is true
// when nothing does. A fault of the whole object names the empty property.
func (c checker) misfits(arguments []byte) (names []string, ok bool) {
	if c.compiled == nil {
		return nil, true
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(arguments))
	if err != nil {
		return nil, false
	}
	var invalid *jsonschema.ValidationError
	if err := c.compiled.Validate(doc); !errors.As(err, &invalid) {
		return nil, err == nil
	}
	names, endless := leaves(invalid, nil)
	if endless {
		return nil, true // refers to itself without end: nothing can be valid
	}
	return names, false
}

// leaves names the top-level property of each fault, and reports a schema that
// refers to itself without end.
func leaves(e *jsonschema.ValidationError, names []string) (_ []string, endless bool) {
	if _, cycle := e.ErrorKind.(*kinds.RefCycle); cycle {
		return names, true
	}
	for _, cause := range e.Causes {
		if names, endless = leaves(cause, names); endless {
			return names, true
		}
	}
	if len(e.Causes) > 0 {
		return names, false
	}
	name := ""
	if len(e.InstanceLocation) > 0 {
		name = e.InstanceLocation[0]
	}
	return append(names, name), false
}

// noLoader refuses every reference that leaves the schema: planning reads no
// file and no network.
type noLoader struct{}

func (noLoader) Load(string) (any, error) {
	return nil, errors.New("references outside the schema are not followed")
}

// compilePattern accepts what RE2 understands. A pattern with look-around, legal
// in ECMA-262, is left unchecked instead of losing the whole schema.
func compilePattern(pattern string) (jsonschema.Regexp, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return anything(pattern), nil
	}
	return re, nil
}

type anything string

func (anything) MatchString(string) bool { return true }
func (a anything) String() string        { return string(a) }
