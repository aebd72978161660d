package hint_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ax-check/ax-check/internal/hint"
)

// Absent, false and true stay apart on the wire; whatever else is absent.
func TestValueJSON(t *testing.T) {
	var got []hint.Value
	if err := json.Unmarshal([]byte(`[true, false, null, "true", 1]`), &got); err != nil {
		t.Fatal(err)
	}
	want := []hint.Value{hint.True, hint.False, hint.Absent, hint.Absent, hint.Absent}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	b, err := json.Marshal(got[:3])
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != "[true,false,null]" {
		t.Errorf("wrote %s, want [true,false,null]", b)
	}
}
