package verify

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ax-check/ax-check/internal/argument"
)

// answer serves what a server asks the client for during a call: an elicitation
// gets values that fit the schema it asks for, sampling one fixed text.
func (p *play) answer(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	switch method {
	case "elicitation/create":
		return p.elicited(params)
	case "sampling/createMessage":
		return json.Marshal(map[string]any{
			"role": "assistant", "model": "ax-check", "stopReason": "endTurn",
			"content": map[string]any{"type": "text", "text": "This is a fixed text from ax-check."},
		})
	}
	return nil, fmt.Errorf("%s is not offered", method)
}

func (p *play) elicited(params json.RawMessage) (json.RawMessage, error) {
	var request map[string]json.RawMessage
	if err := json.Unmarshal(params, &request); err != nil {
		return nil, fmt.Errorf("reading the elicitation: %w", err)
	}
	plan := argument.New(argument.Tool{Name: "elicitation", InputSchema: request["requestedSchema"]}, p.world, p.options.Seed)
	if len(plan.Sets) == 0 {
		return json.Marshal(map[string]any{"action": "decline"})
	}
	return json.Marshal(map[string]any{"action": "accept", "content": plan.Sets[0].Arguments})
}
