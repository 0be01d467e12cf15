package job

import "fmt"

// A UsageError is a mistake of whoever asked for a run: on the command line, in the environment or
// in a file of theirs. Nothing was read, and nothing is spent.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// Usagef is a UsageError with a text.
func Usagef(format string, args ...any) error {
	return &UsageError{fmt.Errorf(format, args...)}
}

// Reworded is an error with a text of its own, which keeps what it wraps.
type Reworded struct {
	Text string
	Err  error
}

func (e *Reworded) Error() string { return e.Text }
func (e *Reworded) Unwrap() error { return e.Err }
