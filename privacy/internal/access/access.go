// Package access is the door between package privacy and the mechanisms in its subpackages, which
// have proofs of their own. Only packages below privacy/ can import it. No method of an exported
// type takes one of its types: whoever cannot name a parameter's type can still have the compiler
// infer it.
package access

import (
	"context"
	"errors"
	"fmt"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/internal/engine"
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

// Rows is what a mechanism works on while it holds the session. What is private stands behind
// functions, so that printing shows none of it.
type Rows struct {
	Table  func() *table.Table               // bounded to some rows of each unit; nil: another form
	Joint  *Joint                            // in its place, of rows that are counted elsewhere
	Units  func() []uint32                   // of each row before that; nil without an id column
	Counts func(queries []Counted) [][]int64 // true counts, which must not be changed
	Source *noise.Source                     // secret randomness
}

// State is what a session tells of itself.
type State struct {
	Closed    bool
	Replaying bool // answers of an earlier process are left to be asked for again
}

// What package privacy does for its subpackages, and binds when it starts. A session is a
// *privacy.Session.
var (
	// Runner is the one primitive of a session: it charges, reads, draws, keeps and returns.
	Runner func(session any) Run
	// Hold lends the rows of a session that is not split, free: nothing of them may leave but
	// through a Run.
	Hold func(session any, do Held) error
	// StateOf looks at a session.
	StateOf func(session any) State
	// Source makes a *privacy.Rows of rows in another form than a table.
	Source func(s *schema.Schema, load Load) any
)

// Load reads rows that are no table, and drops all but those that bound keeps, given each row's
// unit. Rows that are counted elsewhere are bounded there. It calls begin when it has found that
// nothing public is wrong, such as a table that is not there, and before it reads a row.
type Load func(ctx context.Context, begin func() error, bound Bound) (*Joint, error)

// Joint is rows that are counted elsewhere.
type Joint struct {
	// CountTo adds to each of some counts the number of rows in its cell: the sum of what the codes
	// of a row in cols have in offsets. It panics for columns that were not counted together.
	CountTo func(counts []int64, cols []int, offsets [][]int32)
	Sum     func(q engine.Question) ([]int64, error) // over the rows
}

// Held keeps rows as a secret of its own, as shards, once in a session; or, if it returns a schema,
// has the session go over to that and to the table. Each of its rows must be made of one of the
// rows before, by a public rule.
type Held func(from *schema.Schema, rows Rows) (to *schema.Schema, t *table.Table, err error)

// Bound returns the rows to keep, in increasing order: a random few of each unit.
type Bound func(units []uint32) []int

// Run makes a call, see [Runner].
type Run func(c Call) ([]byte, error)

// Ints is [Run] for answers of n whole numbers.
func (run Run) Ints(c Call, n int, draw func(rows Rows) ([]int64, error)) ([]int64, error) {
	c.Draw = func(rows Rows, _ func(accountant.Charge) error) ([]byte, error) {
		xs, err := draw(rows)
		return Bytes(xs...), err
	}
	b, err := run(c)
	if err != nil {
		return nil, err
	}
	return Ints(b, n)
}

// Index is [Run] for an answer that is one of n.
func (run Run) Index(c Call, n int, draw func(rows Rows) (int, error)) (int, error) {
	xs, err := run.Ints(c, 1, func(rows Rows) ([]int64, error) {
		i, err := draw(rows)
		return []int64{int64(i)}, err
	})
	if err != nil {
		return 0, err
	}
	if i := xs[0]; i < 0 || i >= int64(n) {
		return 0, fmt.Errorf("privacy: %s: number %d of %d: %w", c.What, i, n, ErrResume)
	}
	return int(xs[0]), nil
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

// Deaf is a context that ends with ctx and that nobody can count the looks at.
func Deaf(ctx context.Context) (quiet context.Context, stop func()) {
	quiet, cancel := context.WithCancelCause(context.Background())
	release := context.AfterFunc(ctx, func() { cancel(ctx.Err()) })
	return quiet, func() {
		release()
		cancel(nil)
	}
}
