package privacy

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

const MaxUnitRanges = 1 << 16 // of a [ContributionHistogram]

// Query is a question that counting answers: [Total], [Marginal], [Where], [Cells] or
// [ContributionHistogram]. It is a value and all of it is public. A mechanism copies it, checks the
// copy, derives its sensitivity from its kind and the session's relation, and counts it on the
// rows.
type Query interface{ query() }

// Total is the number of rows.
type Total struct{}

// Where is the number of rows for which an expression holds.
type Where struct{ Expr table.Expr }

// Cells counts rows in the cells of a rule.
type Cells struct{ Rule Rule }

// ContributionHistogram is how many units have how many rows in the file, before the gate bounds
// them to MaxRowsPerUnit: entry i counts the units with more than UpTo[i−1] (0 for i = 0) and at
// most UpTo[i] rows, the last of len(UpTo)+1 entries those with more. It needs an id column.
type ContributionHistogram struct {
	UpTo []int // increasing, from 1 or more; 1 to MaxUnitRanges of them
}

func (Total) query()                 {}
func (Marginal) query()              {}
func (Where) query()                 {}
func (Cells) query()                 {}
func (ContributionHistogram) query() {}

// sensitivity is how far one unit moves the counts of a query: each of them, and all of them in
// the norms L1 and L2, the last rounded up. It follows from the kind of the query (see
// [Neighbours]) and is infinite for a type of another package.
func (nb Neighbours) sensitivity(q Query) (each, l1, l2 float64) {
	k := nb.k()
	switch q.(type) {
	case Total, Where:
		return k, k, k
	case Marginal, Cells:
	case ContributionHistogram:
		k = 1 // a unit is counted once, however many rows it has
	default:
		return math.Inf(1), math.Inf(1), math.Inf(1)
	}
	if nb.Adjacency == accountant.ReplaceOne {
		return k, 2 * k, math.Nextafter(math.Sqrt2*k, math.Inf(1))
	}
	return k, k, k
}

// compiled is a query that fits the schema. It shares no memory with the caller.
type compiled struct {
	kind  Query  // of the same kind, for sensitivities
	key   string // all that the caller chose, but the inside of code
	what  string // in a few public words, for the ledger
	cells int
	code  bool       // the caller's code counts: its counts are not remembered
	where table.Expr // of a Where, which are counted together; else nil
	count func(s *session, t *table.Table) []int64
}

// compile copies a query and then checks the copy, without reading a row. The type switch is what
// seals Query: a type of another package that embeds one has the method too.
func (s *session) compile(q Query) (compiled, error) {
	switch q := q.(type) {
	case Total:
		return compiled{kind: q, key: "total", what: "number of rows", cells: 1,
			count: func(_ *session, t *table.Table) []int64 { return []int64{int64(t.Rows())} }}, nil
	case Marginal:
		return compileMarginal(s.schema.Sizes(), q)
	case Where:
		sizes, nodes := s.schema.Sizes(), 0
		x, key, err := copyExpr(q.Expr, sizes, []byte("where"), 1, &nodes)
		return compiled{kind: Where{}, key: string(key), what: "a count", cells: 1, where: x}, err
	case Cells:
		return compileCells(q.Rule)
	case ContributionHistogram:
		return s.compileContributions(slices.Clone(q.UpTo))
	}
	return compiled{}, fmt.Errorf("%T is none of this package's queries", q)
}

// compileAll compiles queries, of which there is at least one.
func (s *session) compileAll(qs []Query) ([]compiled, error) {
	if len(qs) == 0 {
		return nil, fmt.Errorf("there is no query")
	}
	out := make([]compiled, len(qs))
	for i, q := range qs {
		var err error
		if out[i], err = s.compile(q); err != nil {
			return nil, fmt.Errorf("query %d: %w", i, err)
		}
	}
	return out, nil
}

// compileContributions checks the ranges of a contribution histogram.
func (s *session) compileContributions(upTo []int) (compiled, error) {
	var none compiled
	if s.schema.Unit == "" {
		return none, fmt.Errorf("the schema names no unit, so each is one row: %w", schema.ErrInvalid)
	}
	if len(upTo) < 1 || len(upTo) > MaxUnitRanges {
		return none, fmt.Errorf("%d ranges of rows per unit, 1 to %d are possible",
			len(upTo), MaxUnitRanges)
	}
	last, key := 0, []byte("contributions")
	for _, n := range upTo {
		if n <= last {
			return none, fmt.Errorf("the ranges of rows per unit must increase from 1 or more")
		}
		last = n
		key = binary.LittleEndian.AppendUint64(key, uint64(n))
	}
	return compiled{kind: ContributionHistogram{}, key: string(key), what: "rows per unit",
		cells: len(upTo) + 1,
		count: func(s *session, _ *table.Table) []int64 { return countUnits(s.units(), upTo) }}, nil
}

// countUnits counts the units by their number of rows.
func countUnits(units []uint32, upTo []int) []int64 {
	rows := map[uint32]int{}
	for _, u := range units {
		rows[u]++
	}
	counts := make([]int64, len(upTo)+1)
	for _, n := range rows {
		at, _ := slices.BinarySearch(upTo, n)
		counts[at]++
	}
	return counts
}

// Limits of one expression.
const (
	maxExprDepth = 200
	maxExprNodes = 1 << 20
)

// copyExpr copies an expression, checks the copy against the numbers of codes of the columns, and
// appends all of it to key.
func copyExpr(
	x table.Expr, sizes []int, key []byte, depth int, nodes *int,
) (table.Expr, []byte, error) {
	if *nodes++; depth > maxExprDepth || *nodes > maxExprNodes {
		return nil, nil, fmt.Errorf("an expression has more than %d nested parts, or %d in all",
			maxExprDepth, maxExprNodes)
	}
	parts := func(kind byte, xs []table.Expr) ([]table.Expr, error) {
		key = binary.LittleEndian.AppendUint32(append(key, kind), uint32(len(xs)))
		out := make([]table.Expr, len(xs))
		var err error
		for i := range out {
			if out[i], key, err = copyExpr(xs[i], sizes, key, depth+1, nodes); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	switch x := x.(type) {
	case table.Condition:
		x.Allow = slices.Clone(x.Allow)
		if x.Column < 0 || x.Column >= len(sizes) || len(x.Allow) != sizes[x.Column] {
			return nil, nil, fmt.Errorf("a condition does not fit column %d of the schema", x.Column)
		}
		key = binary.LittleEndian.AppendUint32(append(key, 'c'), uint32(x.Column))
		for _, ok := range x.Allow {
			if ok {
				key = append(key, 1)
			} else {
				key = append(key, 0)
			}
		}
		return x, key, nil
	case table.And:
		xs, err := parts('a', x)
		return table.And(xs), key, err
	case table.Or:
		xs, err := parts('o', x)
		return table.Or(xs), key, err
	case table.Not:
		xs, err := parts('n', []table.Expr{x.Of})
		if err != nil {
			return nil, nil, err
		}
		return table.Not{Of: xs[0]}, key, nil
	}
	return nil, nil, fmt.Errorf("%T is not a Condition, And, Or or Not", x)
}
