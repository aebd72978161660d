// Package exit holds the exit codes of ax-check and the error that carries one.
package exit

// Code is a process exit code.
type Code int

// The codes that scripts may rely on; docs/guide explains each.
const (
	OK          Code = 0   // nothing at or above --fail-on
	Findings    Code = 1   // findings, or contradicted hints, at or above --fail-on
	Usage       Code = 2   // wrong flags or arguments, or unreadable input
	Failed      Code = 3   // could not do the work
	Incomplete  Code = 4   // some tools could not be judged, under --strict
	Interrupted Code = 130 // stopped by a signal
)

// Error ends the program with a code. The front end prints Err and Hint; with
// a nil Err there is nothing to print, the report has said it all.
type Error struct {
	Code Code
	Err  error
	// Hint is the next step for the user, or "".
	Hint string
}

func (e *Error) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }
