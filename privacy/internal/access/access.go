// Package access is the door between package privacy and the mechanisms in its subpackages, which
// have proofs of their own. Only packages below privacy/ can import it. Its functions are bound by
// package privacy, and no method of an exported type takes one of its types: whoever cannot name a
// parameter's type can still have the compiler infer it.
package access

import (
	"context"
	"errors"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// ErrPrivate is what encoding something private says.
var ErrPrivate = errors.New("privacy: private rows cannot be encoded")

// Call is one use of a mechanism: the one way from rows to a number that leaves.
type Call struct {
	What string                 // in public words, for the ledger
	Of   Question               // everything that is public about it
	Cost accountant.Composition // charged before Draw reads anything
	// Draw reads the rows and returns the noisy answer. more charges further events that earlier
	// parts of the same answer, noised already, have decided on.
	Draw func(rows Rows, more func(accountant.Charge) error) ([]byte, error)
}

// Rows is what a mechanism works on while it holds the session: the table, bounded to the rows of
// each unit that count, and secret randomness.
type Rows struct {
	Table  func() *table.Table // a function, so that printing shows no row; nil for other forms
	Source *noise.Source
}

// State is what a session tells of itself.
type State struct {
	Closed    bool
	Replaying bool // answers of an earlier process are left to be asked for again
}

// Gate is how package privacy serves its subpackages; a session is a *privacy.Session.
type Gate struct {
	// Run charges, reads, draws, keeps and returns.
	Run func(session any, c Call) ([]byte, error)
	// Hold lends the rows once in a session, free: nothing of them may leave but through Run.
	Hold func(session any, keep func(Rows) error) error
	// State looks at a session.
	State func(session any) State
	// Source makes a *privacy.Rows of rows in another form, of which only the schema's unit is
	// known. load reads them and drops all but those that bound keeps, given each row's unit.
	Source func(s *schema.Schema, load func(ctx context.Context, bound Bound) error) any
	// Describe gives a session on such rows a schema and, with it, a table.
	Describe func(session any, to *schema.Schema, data func() (*table.Table, error)) error
}

// Bound returns the rows to keep, in increasing order: a random few of each unit.
type Bound func(units []uint32) []int

// The gate, bound by package privacy.
var gate Gate

// Bind is called once.
func Bind(g Gate) {
	if gate.Run != nil {
		panic("access: bound twice")
	}
	gate = g
}

// Run is the one primitive: see [Gate].
func Run(session any, c Call) ([]byte, error) { return gate.Run(session, c) }

// Hold lends the rows: see [Gate].
func Hold(session any, keep func(Rows) error) error { return gate.Hold(session, keep) }

// StateOf looks at a session: see [Gate].
func StateOf(session any) State { return gate.State(session) }

// Source makes a *privacy.Rows: see [Gate].
func Source(s *schema.Schema, load func(ctx context.Context, bound Bound) error) any {
	return gate.Source(s, load)
}

// Describe gives a session a schema: see [Gate].
func Describe(session any, to *schema.Schema, data func() (*table.Table, error)) error {
	return gate.Describe(session, to, data)
}

// RunInts is [Run] for answers of n whole numbers.
func RunInts(session any, c Call, n int, draw func(rows Rows) ([]int64, error)) ([]int64, error) {
	c.Draw = func(rows Rows, _ func(accountant.Charge) error) ([]byte, error) {
		xs, err := draw(rows)
		return Bytes(xs...), err
	}
	b, err := Run(session, c)
	if err != nil {
		return nil, err
	}
	return Ints(b, n)
}

// Once is the cost of one call of an event.
func Once(e accountant.Event) accountant.Composition {
	return accountant.Composition{{Event: e, Count: 1}}
}

// Guard calls code that may be foreign and is shown private rows, and reports whether it came back.
// Neither a panic nor a runtime.Goexit gets through, and no text of them. What cannot be held: a
// fatal error of the run time (stack overflow, concurrent map writes), os.Exit, and a loop without
// end.
func Guard(f func()) (back bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }()
		f()
		back = true
	}()
	<-done
	return back
}
