package access

import (
	"math"

	"github.com/decoy-dp/decoy/accountant"
)

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
	Count func(rows Rows) []int64
}
