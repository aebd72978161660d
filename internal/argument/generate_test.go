package argument

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// first plans a tool with one required parameter and gives its value.
func first(t *testing.T, param, defs string) string {
	t.Helper()
	schema := `{"type":"object","properties":{"thing":` + param + `},"required":["thing"],"$defs":` + defs + `}`
	plan := planOf(t, "thing", "Does it.", schema)
	if len(plan.Sets) == 0 {
		return "no set"
	}
	var got struct{ Thing json.RawMessage }
	if err := json.Unmarshal(plan.Sets[0].Arguments, &got); err != nil {
		t.Fatal(err)
	}
	return string(got.Thing)
}

// TestValues holds the sources of a value in order of trust, and the bounds of
// the schema.
func TestValues(t *testing.T) {
	tests := map[string]struct{ param, want string }{
		"constant":               {`{"const":"x"}`, `"x"`},
		"default of an enum":     {`{"enum":["a","b"],"default":"b"}`, `"b"`},
		"first of an enum":       {`{"enum":[null,"","c"]}`, `"c"`},
		"enum of numbers":        {`{"type":"integer","enum":[7,8]}`, `7`},
		"default":                {`{"type":"string","default":"d"}`, `"d"`},
		"default before example": {`{"type":"integer","default":4,"examples":[5]}`, `4`},
		"example":                {`{"type":"string","examples":["e"]}`, `"e"`},
		"OpenAPI's example":      {`{"type":"number","example":2.5}`, `2.5`},
		"big number kept":        {`{"type":"integer","default":9007199254740993}`, `9007199254740993`},
		"boolean":                {`{"type":"boolean"}`, `true`},
		"null":                   {`{"type":"null"}`, `null`},
		"type union":             {`{"type":["null","integer"]}`, `1`},
		"minimum":                {`{"type":"integer","minimum":10}`, `10`},
		"maximum below one":      {`{"type":"number","maximum":0.5}`, `0.5`},
		"exclusive minimum":      {`{"type":"integer","exclusiveMinimum":3}`, `4`},
		"between two":            {`{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1}`, `0.5`},
		"multiple":               {`{"type":"integer","multipleOf":5}`, `5`},
		"least length":           {`{"type":"string","minLength":6}`, `"elmaaa"`},
		"greatest length":        {`{"type":"string","maxLength":2}`, `"el"`},
		"pattern":                {`{"type":"string","pattern":"^[0-9]{3}-[A-Z]+$"}`, `"111-A"`},
		"pattern with choice":    {`{"type":"string","pattern":"^(red|blue)_\\d$"}`, `"red_1"`},
		"date":                   {`{"type":"string","format":"date"}`, `"2026-01-15"`},
		"instant":                {`{"type":"string","format":"date-time"}`, `"2026-01-15T09:30:00Z"`},
		"day by words":           {`{"type":"string","description":"Day (YYYY-MM-DD)"}`, `"2026-01-15"`},
		"uuid":                   {`{"type":"string","format":"uuid"}`, `"7d444840-9dc0-41d1-b245-5ffdce74fad2"`},
		"list":                   {`{"type":"array","items":{"type":"string"},"minItems":2,"uniqueItems":true}`, `["elm","elm-2"]`},
		"list of an enum":        {`{"type":"array","items":{"enum":["a","b"]},"minItems":3}`, `["a","b","a"]`},
		"list of anything":       {`{"type":"array"}`, `["elm"]`},
		"no room in the list":    {`{"type":"array","items":{"type":"string"},"maxItems":0}`, `[]`},
		"tuple":                  {`{"type":"array","prefixItems":[{"type":"integer"},{"type":"integer"}]}`, `[1,1]`},
		"object":                 {`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"}},"required":["b"]}`, `{"b":"elm"}`},
		"open object":            {`{"type":"object"}`, `{}`},
		"map":                    {`{"type":"object","additionalProperties":{"type":"integer"},"minProperties":2}`, `{"example1":1,"example2":1}`},
		"required, undescribed":  {`{"type":"object","required":["x"]}`, `{"x":"example"}`},
		"reference":              {`{"$ref":"#/$defs/point"}`, `{"x":1}`},
		"parts":                  {`{"allOf":[{"$ref":"#/$defs/point"},{"properties":{"y":{"type":"integer"}},"required":["y"]}]}`, `{"x":1,"y":1}`},
		"union with null":        {`{"anyOf":[{"type":"null"},{"type":"integer"}]}`, `1`},
		"base64":                 {`{"type":"string","contentEncoding":"base64"}`, `"ZXhhbXBsZQo="`},
		"HTML is not escaped":    {`{"type":"string","default":"a<b & c"}`, `"a<b & c"`},
		"look-around":            {`{"type":"string","pattern":"^(?!x).*$"}`, `"elm"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := first(t, tc.param, `{"point":{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]}}`)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestHostileSchemas holds that a schema made to be expensive is not, and that
// an unreadable one still gets its tool called.
func TestHostileSchemas(t *testing.T) {
	many := func(n int, sep string, f func(i int) string) string {
		var out []string
		for i := range n {
			out = append(out, f(i))
		}
		return strings.Join(out, sep)
	}
	wide := many(10_000, ",", func(i int) string { return fmt.Sprintf(`"p%d":{"type":"string"}`, i) })
	names := many(10_000, ",", func(i int) string { return fmt.Sprintf(`"p%d"`, i) })
	doubling := many(40, ",", func(i int) string {
		return fmt.Sprintf(`"n%d":{"type":"object","properties":{"a":{"$ref":"#/$defs/n%d"},"b":{"$ref":"#/$defs/n%d"}},"required":["a","b"]}`, i, i+1, i+1)
	})
	tests := map[string]struct {
		schema string
		sets   bool // at least one
	}{
		"not JSON":               {`{"type":`, true},
		"not an object":          {`[1,2]`, true},
		"boolean":                {`true`, true},
		"null":                   {`null`, true},
		"wrong types everywhere": {`{"type":7,"properties":[],"required":"x","enum":{},"allOf":3}`, true},
		"properties of rubbish":  {`{"properties":{"a":3,"b":null,"c":"x"},"required":["a","b","c"]}`, true},
		"reference to itself":    {`{"$ref":"#"}`, true},
		"reference outside":      {`{"properties":{"a":{"$ref":"file:///etc/passwd"}},"required":["a"]}`, true},
		"reference to nothing":   {`{"properties":{"a":{"$ref":"#/$defs/gone"}},"required":["a"]}`, true},
		"endless by need":        {`{"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}},"required":["next"]}},"$ref":"#/$defs/n"}`, false},
		"endless by choice":      {`{"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}},"$ref":"#/$defs/n"}`, true},
		"doubling":               {`{"$defs":{` + doubling + `},"$ref":"#/$defs/n0"}`, false},
		"doubling parts":         {`{"$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}]}},"$ref":"#/$defs/a"}`, true},
		"10,000 parameters":      {`{"type":"object","properties":{` + wide + `}}`, true},
		"10,000 required":        {`{"type":"object","properties":{` + wide + `},"required":[` + names + `]}`, true},
		"100,000 parameters":     {`{"type":"object","properties":{` + strings.ReplaceAll(wide, "{", "{\"anyOf\":[{},{},{},{},{},{},{},{},{}],") + `}}`, true},
		"a huge enum":            {`{"properties":{"action":{"enum":[` + names + `]}},"required":["action"]}`, true},
		"an exploding pattern":   {`{"properties":{"a":{"type":"string","pattern":"^((a{1,100}){1,100}){1,100}$"}},"required":["a"]}`, true},
		"a long repetition":      {`{"properties":{"a":{"type":"string","pattern":"^(a{30}){30}$"}},"required":["a"]}`, true},
		"a gigantic text":        {`{"properties":{"a":{"type":"string","minLength":1000000000}},"required":["a"]}`, false},
		"a gigantic list":        {`{"properties":{"a":{"type":"array","items":{"type":"integer"},"minItems":1000000000}},"required":["a"]}`, false},
		"deep":                   {strings.Repeat(`{"properties":{"a":`, 5000) + `{}` + strings.Repeat(`}}`, 5000), true},
		"nothing fits":           {`{"type":"object","not":{}}`, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			plan := New(Tool{Name: "thing", InputSchema: json.RawMessage(tc.schema)}, smallWorld, 1)
			if took := time.Since(start); took > time.Minute { // as good as never
				t.Errorf("planning took %v", took)
			}
			if got := len(plan.Sets) > 0; got != tc.sets {
				t.Errorf("sets: %.300v", lines(plan))
			}
			if len(plan.Sets) == 0 && len(plan.Untried) == 0 {
				t.Error("no set, and no word about it")
			}
			for _, s := range plan.Sets {
				if len(s.Arguments) > 1<<20 {
					t.Errorf("arguments of %d bytes", len(s.Arguments))
				}
			}
		})
	}
}

// anySchema draws the schema of one value.
func anySchema(depth int) *rapid.Generator[any] {
	name := rapid.SampledFrom([]string{"path", "content", "oldText", "newText", "mode", "id", "url", "count", "dry_run", "to", "pattern", "files"})
	return rapid.Custom(func(t *rapid.T) any {
		kinds := []string{"string", "integer", "number", "boolean", "enum", "null"}
		if depth > 0 {
			kinds = append(kinds, "object", "array", "anyOf")
		}
		switch k := rapid.SampledFrom(kinds).Draw(t, "kind"); k {
		case "string":
			s := map[string]any{"type": k}
			if rapid.Bool().Draw(t, "bounded") {
				least := rapid.IntRange(0, 9).Draw(t, "least")
				s["minLength"], s["maxLength"] = least, least+rapid.IntRange(0, 20).Draw(t, "more")
			}
			return s
		case "integer":
			least := rapid.IntRange(-50, 50).Draw(t, "least")
			return map[string]any{"type": k, "minimum": least, "maximum": least + rapid.IntRange(0, 9).Draw(t, "more")}
		case "enum":
			return map[string]any{"enum": rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"add", "delete", "list", "a", "b"}), 1, 4, rapid.ID).Draw(t, "values")}
		case "object":
			names := rapid.SliceOfNDistinct(name, 0, 4, rapid.ID).Draw(t, "names")
			props := map[string]any{}
			required := []string{}
			for _, n := range names {
				props[n] = anySchema(depth-1).Draw(t, n)
				if rapid.Bool().Draw(t, "required") {
					required = append(required, n)
				}
			}
			return map[string]any{"type": k, "properties": props, "required": required, "additionalProperties": false}
		case "array":
			return map[string]any{"type": k, "items": anySchema(depth-1).Draw(t, "items"), "minItems": rapid.IntRange(0, 3).Draw(t, "least")}
		case "anyOf":
			return map[string]any{k: []any{anySchema(depth-1).Draw(t, "one"), anySchema(depth-1).Draw(t, "other")}}
		default:
			return map[string]any{"type": k}
		}
	})
}

func drawTool(t *rapid.T) Tool {
	props := map[string]any{}
	for _, n := range []string{"path", "value", "action", "newText", "oldText", "output"} {
		if rapid.Bool().Draw(t, "has "+n) {
			props[n] = anySchema(2).Draw(t, n)
		}
	}
	required := []string{}
	for _, n := range []string{"path", "value", "action"} {
		if props[n] != nil && rapid.Bool().Draw(t, "needs "+n) {
			required = append(required, n)
		}
	}
	raw, err := json.Marshal(map[string]any{"type": "object", "properties": props, "required": required})
	if err != nil {
		t.Fatal(err)
	}
	return Tool{Name: rapid.SampledFrom([]string{"edit_file", "list", "x"}).Draw(t, "name"), InputSchema: raw}
}

func TestEveryDrawnToolGetsValidSets(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tool := drawTool(rt)
		plan := New(tool, smallWorld, 1)
		if len(plan.Sets) == 0 {
			rt.Fatalf("no set for %s", tool.InputSchema)
		}
		check := newChecker(tool.InputSchema)
		if check.compiled == nil {
			rt.Fatalf("%s does not compile", tool.InputSchema)
		}
		for _, s := range plan.Sets {
			if names, ok := check.misfits(s.Arguments); !ok {
				rt.Fatalf("%s breaks %s at %q", s.Arguments, tool.InputSchema, names)
			}
		}
	})
}

func TestTheSamePlanTwice(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tool, seed := drawTool(rt), rapid.Uint64().Draw(rt, "seed")
		if diff := cmp.Diff(New(tool, smallWorld, seed), New(tool, smallWorld, seed)); diff != "" {
			rt.Fatal(diff)
		}
	})
}

func FuzzNew(f *testing.F) {
	f.Add("edit_file", "Edit a file.", `{"properties":{"path":{"type":"string"},"old":{"type":"string"},"new":{"type":"string"}},"required":["path"]}`)
	f.Add("x", "", `{"oneOf":[{"$ref":"#"},{"properties":{"a":{"type":"array","items":{"$ref":"#"}}}}]}`)
	f.Add("x", "", `{"properties":{"a":{"type":"number","minimum":1e308,"multipleOf":1e-9,"maximum":-1e308}},"required":["a"]}`)
	f.Add("x", "", `{"properties":{"a":{"pattern":"^\\d+$","maxLength":0}},"required":["a"]}`)
	f.Fuzz(func(t *testing.T, name, description, schema string) {
		tool := Tool{Name: name, Description: description, InputSchema: json.RawMessage(schema)}
		checkPlan(t, tool, New(tool, smallWorld, 1))
	})
}
