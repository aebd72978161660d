package verdict

import (
	"bytes"
	"encoding/json"

	"github.com/ax-check/ax-check/internal/hint"
)

// toolJSON is a Tool as other programs read it: every key always there, the
// four hints in report order.
type toolJSON struct {
	Name       *string   `json:"name"`
	Index      int       `json:"index"`
	Calls      callsJSON `json:"calls"`
	Incidental []string  `json:"incidental"`
	Hints      hintsJSON `json:"hints"`
}

type callsJSON struct {
	Made      int `json:"made"`
	Effective int `json:"effective"`
}

type hintsJSON struct {
	ReadOnly    Hint `json:"readOnlyHint"`
	Destructive Hint `json:"destructiveHint"`
	Idempotent  Hint `json:"idempotentHint"`
	OpenWorld   Hint `json:"openWorldHint"`
}

// MarshalJSON writes the tool as in the version 1 report of verify. Lists are
// never null.
func (t Tool) MarshalJSON() ([]byte, error) {
	return encode(toolJSON{
		Name:       t.Name,
		Index:      t.Index,
		Calls:      callsJSON{t.Made, t.Effective},
		Incidental: list(t.Incidental),
		Hints: hintsJSON{
			ReadOnly:    t.hint(hint.ReadOnly),
			Destructive: t.hint(hint.Destructive),
			Idempotent:  t.hint(hint.Idempotent),
			OpenWorld:   t.hint(hint.OpenWorld),
		},
	})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *Tool) UnmarshalJSON(b []byte) error {
	var j toolJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*t = Tool{
		Name:       j.Name,
		Index:      j.Index,
		Made:       j.Calls.Made,
		Effective:  j.Calls.Effective,
		Incidental: j.Incidental,
		Hints: map[hint.Name]Hint{
			hint.ReadOnly:    j.Hints.ReadOnly,
			hint.Destructive: j.Hints.Destructive,
			hint.Idempotent:  j.Hints.Idempotent,
			hint.OpenWorld:   j.Hints.OpenWorld,
		},
	}
	return nil
}

func (t Tool) hint(n hint.Name) Hint {
	h := t.Hints[n]
	h.Evidence = list(h.Evidence)
	return h
}

func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// encode keeps <, > and & as they are: a report is read by people too.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
