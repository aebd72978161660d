// Package hint holds the four behaviour hints of an MCP tool and what a client
// assumes when one is missing.
//
// Source: MCP schema reference, ToolAnnotations, identical in meaning from
// revision 2025-03-26 to 2026-07-28
// (https://modelcontextprotocol.io/specification/2026-07-28/schema).
package hint

// Name is the key of a hint inside a tool's annotations object.
type Name string

// The four hints, in the order in which every report lists them.
const (
	ReadOnly    Name = "readOnlyHint"
	Destructive Name = "destructiveHint"
	Idempotent  Name = "idempotentHint"
	OpenWorld   Name = "openWorldHint"
)

// Names lists the four hints in report order.
func Names() []Name { return []Name{ReadOnly, Destructive, Idempotent, OpenWorld} }

// Default is the value a client assumes when the hint is absent. All four
// defaults are the cautious value.
func (n Name) Default() bool { return n == Destructive || n == OpenWorld }

// Claim is the incautious value: the one that lets a client skip a
// confirmation or retry a call. A false claim is dangerous.
func (n Name) Claim() bool { return !n.Default() }

// Value is a hint as a server declared it.
type Value int

// A hint that is not a boolean counts as Absent; the raw text is kept beside it.
const (
	Absent Value = iota
	False
	True
)

// Of makes a declared value of a boolean.
func Of(b bool) Value {
	if b {
		return True
	}
	return False
}

// Bool gives the declared boolean, and false in ok when the hint is absent.
func (v Value) Bool() (b, ok bool) { return v == True, v != Absent }

// Effective is what a client acts on: the declared value, else the default.
func (v Value) Effective(n Name) bool {
	if b, ok := v.Bool(); ok {
		return b
	}
	return n.Default()
}

// Set is one declared value for each hint.
type Set map[Name]Value

// MarshalJSON writes true, false, or null for an absent hint.
func (v Value) MarshalJSON() ([]byte, error) {
	switch v {
	case True:
		return []byte("true"), nil
	case False:
		return []byte("false"), nil
	}
	return []byte("null"), nil
}

// UnmarshalJSON reads what MarshalJSON wrote; whatever is not a boolean is Absent.
func (v *Value) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "true":
		*v = True
	case "false":
		*v = False
	default:
		*v = Absent
	}
	return nil
}
