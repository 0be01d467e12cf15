package privacy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// This file has the questions beyond marginals that counting answers: the number of rows, of rows
// for which an expression holds, rows by a public score, units by their number of rows
// (docs/claims/measure.md).

// Total is the number of rows.
type Total struct{}

func (Total) kind() access.Kind { return access.OneCount }

func (q Total) compile([]int, bool) (access.Counted, error) {
	return access.Counted{Kind: q.kind(), Key: "total", What: "number of rows", Cells: 1}, nil
}

// Where is the number of rows for which an expression holds.
type Where struct{ Expr table.Expr }

func (Where) kind() access.Kind { return access.OneCount }

func (q Where) compile(sizes []int, _ bool) (access.Counted, error) {
	set, err := table.CompileExprs(sizes, []table.Expr{q.Expr}) // a copy
	if err != nil {
		return access.Counted{}, err
	}
	return access.Counted{Kind: q.kind(), Key: "where" + set.Key(), What: "a count",
		Cells: 1, Count: func(rows access.Rows) []int64 { return rows.Table().CountExprs(set) },
	}, nil
}

// Scores counts rows by the bin of a public score and by whether they have a code in one column:
// cell 2·bin + 1 is those of a bin that have it. The score of a row is the sum of a number for each
// of its codes, in the order of the columns.
type Scores struct {
	Numbers [][]float64 // of each column: nil, or one for each code, finite
	// increasing: a row is in the bin of the number of edges that its score reaches
	Edges  []float64
	Column int
	Code   uint16
}

// Of is the score of a row whose code in column c is code(c).
func (q Scores) Of(code func(column int) uint16) (score float64) {
	for c, numbers := range q.Numbers {
		if numbers != nil {
			score += numbers[code(c)]
		}
	}
	return score
}

func (Scores) kind() access.Kind { return access.RowCells }

func (q Scores) compile(sizes []int, _ bool) (access.Counted, error) {
	own := Scores{Edges: slices.Clone(q.Edges), Column: q.Column, Code: q.Code}
	key := fmt.Appendf(nil, "scores %d %d %d", own.Column, own.Code, len(own.Edges))
	bad := len(q.Numbers) != len(sizes) || own.Column < 0 || own.Column >= len(sizes) ||
		2*(len(own.Edges)+1) > MaxCells
	last := math.Inf(-1)
	for _, e := range own.Edges {
		bad = bad || !(e > last)
		last = e
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(e))
	}
	for c := 0; c < len(sizes) && !bad; c++ {
		numbers := slices.Clone(q.Numbers[c])
		bad = numbers != nil && len(numbers) != sizes[c]
		key = fmt.Appendf(key, "column %d", len(numbers))
		for _, x := range numbers {
			bad = bad || !(math.Abs(x) < 1<<40)
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(x))
		}
		own.Numbers = append(own.Numbers, numbers)
	}
	if bad {
		return access.Counted{},
			errors.New("scores are not of these columns, or their edges do not rise")
	}
	return access.Counted{Kind: q.kind(), Key: string(key), What: "histogram of scores",
		Cells: 2 * (len(own.Edges) + 1),
		Count: func(rows access.Rows) []int64 { return own.count(rows.Table()) },
	}, nil
}

// count counts the rows of a table by cell.
func (q Scores) count(t *table.Table) []int64 {
	counts := make([]int64, 2*(len(q.Edges)+1))
	for r := range t.Rows() {
		score := q.Of(func(c int) uint16 { return t.Column(c).At(r) })
		cell := 2 * sort.Search(len(q.Edges), func(k int) bool { return q.Edges[k] > score })
		if t.Column(q.Column).At(r) == q.Code {
			cell++
		}
		counts[cell]++
	}
	return counts
}

// maxUnitRanges is the most ranges of a [ContributionHistogram].
const maxUnitRanges = 1 << 16

// ContributionHistogram is how many units have how many rows in the file, before the gate bounds
// them to MaxRowsPerUnit: entry i counts the units with more than UpTo[i−1] (0 for i = 0) and at
// most UpTo[i] rows, the last of len(UpTo)+1 entries those with more. It needs an id column.
type ContributionHistogram struct {
	UpTo []int // increasing, from 1 or more; 1 to maxUnitRanges of them
}

func (ContributionHistogram) kind() access.Kind { return access.UnitCells }

func (q ContributionHistogram) compile(_ []int, units bool) (access.Counted, error) {
	var none access.Counted
	if !units {
		return none, fmt.Errorf("the schema names no unit, so each is one row: %w", schema.ErrInvalid)
	}
	upTo := slices.Clone(q.UpTo)
	if len(upTo) < 1 || len(upTo) > maxUnitRanges {
		return none, fmt.Errorf("%d ranges of rows per unit, 1 to %d are possible",
			len(upTo), maxUnitRanges)
	}
	last, key := 0, []byte("contributions")
	for _, n := range upTo {
		if n <= last {
			return none, fmt.Errorf("the ranges of rows per unit must increase from 1 or more")
		}
		last = n
		key = binary.LittleEndian.AppendUint64(key, uint64(n))
	}
	return access.Counted{Kind: q.kind(), Key: string(key), What: "rows per unit",
		Cells: len(upTo) + 1,
		Count: func(rows access.Rows) []int64 {
			if rows.Joint != nil {
				return engine.Must(rows.Joint.Sum(engine.AskUnits(upTo)))
			}
			return countUnits(rows.Units(), upTo)
		},
	}, nil
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

// LaplaceEvent is the event of [Session.MeasureLaplace] with noise of the given scale: ε-DP with
// the L1 sensitivity of the kind of query, whatever is in it.
func (nb Neighbours) LaplaceEvent(q Query, scale float64) accountant.Event {
	return nb.laplace(q.kind(), scale)
}

func (nb Neighbours) laplace(kind access.Kind, scale float64) accountant.Event {
	_, l1, _ := kind.Sensitivity(nb.MaxRowsPerUnit, nb.Adjacency)
	return accountant.Laplace{Epsilon: access.Up(l1, scale)}
}

// MeasureLaplace returns the counts of a query, each plus independent discrete Laplace noise,
// P(x) ∝ exp(−|x|/scale): ε-DP with ε = Δ₁/scale (docs/claims/measurelaplace.md), which needs no δ.
// Event: [Neighbours.LaplaceEvent].
func (s *session) MeasureLaplace(q Query, scale float64) ([]int64, error) {
	l, err := noise.NewDiscreteLaplace(scale)
	if err != nil {
		return nil, err
	}
	m, err := s.sumOf([]Query{q}, access.Ask("measure laplace").Floats(scale),
		func(kind access.Kind) accountant.Event { return s.nb.laplace(kind, scale) })
	if err != nil {
		return nil, err
	}
	m.Noise = l
	return access.Numbers(s, m)
}
