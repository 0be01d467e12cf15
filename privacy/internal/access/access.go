// Package access is the door between package privacy and the mechanisms in its subpackages, which
// have proofs of their own. Only packages below privacy/ can import it. No method of an exported
// type takes one of its types: whoever cannot name a parameter's type can still have the compiler
// infer it.
package access

import (
	"context"
	"errors"
	"math"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// ErrPrivate is what encoding something private says.
var ErrPrivate = errors.New("private rows cannot be encoded")

// Call is one use of a mechanism: the one way from rows to a number that leaves.
type Call struct {
	What string                 // in public words, for the ledger
	Of   Key                    // everything that is public about it
	Cost accountant.Composition // charged before anything is read

	// The answer is that many whole numbers and, with Text, a text. Of the numbers it is known how far
	// one unit moves them, and they have noise: the counts of Queries, or what Exact returns. Or the
	// answer is what Draw returns.
	Length  int
	Text    bool
	Queries []Counted
	Exact   func(rows Rows) ([]int64, error)
	Noise   interface {
		AddTo(dst []int64, src *noise.Source)
	}
	// Draw reads the rows and returns the noisy answer. more charges further events that earlier
	// parts of the same answer, noised already, have decided on.
	Draw func(rows Rows, more func(accountant.Charge) error) (Released, error)
	// of an answer whose length, or whose further charges, the draw decides: see journal.put
	Room int
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

// load reads rows. It calls begin when it has found that nothing public is wrong, such as a table
// that is not there, and before it reads a row. A table is bounded to some rows of each unit when
// it is there; of rows in another form it drops all but those that bound keeps, given each row's
// unit, or they are bounded where they are counted.
type load func(ctx context.Context, begin func() error, bound Bound) (Loaded, error)

// Loaded is rows that were read: a table, rows that are counted elsewhere, or neither.
type Loaded struct {
	Table  *table.Table
	Report table.Report
	Joint  *Joint
}

// Loader is rows that are not read yet, for privacy.FromLoader.
type Loader struct {
	// what they are of; of texts without any columns, and the ledger names no schema
	Tables *schema.Linked
	Texts  bool
	Load   load
}

// Joint is rows that are counted elsewhere.
type Joint struct {
	// CountTo adds to each of some counts the number of rows in its cell: the sum of what the codes
	// of a row in cols have in offsets. It panics for columns that were not counted together.
	CountTo func(counts []int64, cols []int, offsets [][]int32)
	Sum     func(q engine.Question) ([]int64, error) // over the rows

	Views map[string]View // of linked tables, in place of the two
}

// View is a table that follows from linked ones: each of its rows from the rows of one unit, by a
// public rule, whatever their order.
type View struct {
	Schema *schema.Schema      // MaxRowsPerUnit: what the rows of a unit weigh together, at most
	Full   int                 // what a row of few weighs
	Table  func() *table.Table // with units
}

// Bound returns the rows to keep, in increasing order: a random few of each unit.
type Bound func(units []uint32) []int

// Once is the cost of one call of an event.
func Once(e accountant.Event) accountant.Composition {
	return accountant.Composition{{Event: e, Count: 1}}
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

// MaxCells is the most cells of a query.
const MaxCells = 1 << 27

// Kind says how a query divides rows among its counts, and so how far one unit moves them.
type Kind int

// The kinds.
const (
	OneCount  Kind = iota + 1 // the number of some rows
	RowCells                  // disjoint cells, each row in one
	UnitCells                 // disjoint cells, each unit in one
)

// Sensitivity is how far one unit of at most k rows moves the counts: each of them, and all of them
// in the norms L1 and L2, the last rounded up (see privacy.Neighbours). It is infinite for what is
// no kind.
func (kind Kind) Sensitivity(k int, adj accountant.Adjacency) (each, l1, l2 float64) {
	x := float64(max(1, k))
	switch kind {
	case OneCount:
		return x, x, x
	case RowCells:
	case UnitCells:
		x = 1 // a unit is counted once, however many rows it has
	default:
		return math.Inf(1), math.Inf(1), math.Inf(1)
	}
	if adj == accountant.ReplaceOne {
		return x, 2 * x, math.Nextafter(math.Sqrt2*x, math.Inf(1))
	}
	return x, x, x
}

// Counted is a query that fits a schema. It shares no memory with whoever asked it.
type Counted struct {
	Kind  Kind
	Key   string // all that is public about it
	What  string // in a few public words, for the ledger
	Cells int
	// the cell of a row is the sum of what its codes in these columns have in the offsets
	Cols    []int
	Offsets [][]int32
	Count   func(rows Rows) []int64 // in place of the two
}
