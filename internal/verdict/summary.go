package verdict

import "github.com/ax-check/ax-check/internal/hint"

// Summary counts verdicts over the hints of all tools.
type Summary struct {
	Contradicted int `json:"contradicted"`
	Supported    int `json:"supported"`
	Confirmed    int `json:"confirmed"`
	Overcautious int `json:"overcautious"`
	Undeclared   int `json:"undeclared"`
	Untested     int `json:"untested"`
	Moot         int `json:"moot"`
}

// Summarize counts the verdicts of the tools.
func Summarize(tools []Tool) Summary {
	var s Summary
	for _, t := range tools {
		for _, n := range hint.Names() {
			if c := s.count(t.Hints[n].Verdict); c != nil {
				*c++
			}
		}
	}
	return s
}

// Count gives the number of hints with verdict v.
func (s Summary) Count(v Verdict) int {
	if c := s.count(v); c != nil {
		return *c
	}
	return 0
}

// Total is the number of hints.
func (s Summary) Total() int { return s.Decided() + s.Untested }

// Decided is the number of hints whose value was observed, moot ones included:
// a tool that was seen to have no effect destroys nothing and may be repeated.
func (s Summary) Decided() int {
	return s.Contradicted + s.Supported + s.Confirmed + s.Overcautious + s.Undeclared + s.Moot
}

func (s *Summary) count(v Verdict) *int {
	switch v {
	case Contradicted:
		return &s.Contradicted
	case Supported:
		return &s.Supported
	case Confirmed:
		return &s.Confirmed
	case Overcautious:
		return &s.Overcautious
	case Undeclared:
		return &s.Undeclared
	case Untested:
		return &s.Untested
	case Moot:
		return &s.Moot
	}
	return nil
}
