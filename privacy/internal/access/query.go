package access

import (
	"errors"
	"fmt"
	"math"
	"slices"

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
	Key   string // all that is public about it, but the inside of code
	What  string // in a few public words, for the ledger
	Cells int
	Code  bool // the caller's code counts: its counts are not remembered
	Count func(rows Rows) []int64
}

// Compiled is a sealed Counted: whoever is given one without knowing its name, as a type parameter,
// can neither look into it nor make another.
type Compiled struct {
	counted *Counted
	sizes   []int // of the schema that it was made for
	units   bool
}

// Seal is for the Compile of queries, which hands on what it was given.
func Seal(c Counted, sizes []int, units bool) Compiled {
	return Compiled{&c, slices.Clone(sizes), units}
}

// CompileAll has queries, of which there is at least one, check themselves against the number of
// codes of each column; units says whether the schema names a unit. No row is read.
func CompileAll[Q interface {
	Compile(sizes []int, units bool) (Compiled, error)
}](sizes []int, units bool, qs []Q) ([]Counted, error) {
	if len(qs) == 0 {
		return nil, errors.New("there is no query")
	}
	out := make([]Counted, len(qs))
	for i, q := range qs {
		var c Compiled
		var err error
		if any(q) != nil {
			c, err = q.Compile(slices.Clone(sizes), units)
		}
		// A type that is made by inference can call the Compile of another with sizes of its own.
		if err == nil && (c.counted == nil || c.units != units || !slices.Equal(c.sizes, sizes)) {
			err = fmt.Errorf("%T is none of the gate's queries", q)
		}
		if err != nil {
			return nil, fmt.Errorf("query %d: %w", i, err)
		}
		out[i] = *c.counted
	}
	return out, nil
}
