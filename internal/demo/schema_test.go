package demo

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func list(t *testing.T) []map[string]any {
	t.Helper()
	var out strings.Builder
	in := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n"
	if err := Serve(t.Context(), strings.NewReader(in), &out, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	var reply struct {
		Result struct{ Tools []map[string]any }
	}
	if err := json.Unmarshal([]byte(out.String()), &reply); err != nil {
		t.Fatal(err)
	}
	return reply.Result.Tools
}

func TestEverySampleIsValidAndEverySchemaStrict(t *testing.T) {
	for _, entry := range list(t) {
		name := entry["name"].(string)
		compiler := jsonschema.NewCompiler()
		if err := compiler.AddResource("schema.json", entry["inputSchema"]); err != nil {
			t.Fatal(err)
		}
		schema, err := compiler.Compile("schema.json")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, sample := range samples[name] {
			text, _ := json.Marshal(sample)
			value, _ := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
			if err := schema.Validate(value); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := schema.Validate(map[string]any{"surprise": true}); err == nil {
			t.Errorf("%s takes any argument", name)
		}
	}
}

func TestListShowsTheHintsThatAreDeclared(t *testing.T) {
	want := map[string]map[string]any{}
	for _, fact := range Truth() {
		if want[fact.Tool] == nil {
			want[fact.Tool] = map[string]any{}
		}
		if value, ok := fact.Declared.Bool(); ok {
			want[fact.Tool][string(fact.Hint)] = value
		}
	}
	got := map[string]map[string]any{}
	for _, entry := range list(t) {
		got[entry["name"].(string)] = entry["annotations"].(map[string]any)
		if entry["description"] == "" {
			t.Errorf("%s has no description", entry["name"])
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// FuzzCheck holds that whatever passes the check has every parameter, in the
// type that the tools rely on.
func FuzzCheck(f *testing.F) {
	f.Add(`{"booking_id":"B-1001","arrival":"2027-09-01"}`)
	f.Add(`{"guest":"A","room":"attic","arrival":"2027-01-01","nights":2e0}`)
	f.Add(`null`)
	f.Add(`[]`)
	f.Add(`{"nights":1e99}`)
	f.Fuzz(func(t *testing.T, raw string) {
		for _, tool := range tools() {
			checked, err := tool.check(json.RawMessage(raw))
			if err != nil {
				continue
			}
			for _, p := range tool.params {
				switch checked[p.name].(type) {
				case string, int:
				default:
					t.Errorf("%s: %s is %v", tool.name, p.name, checked[p.name])
				}
			}
		}
	})
}
