// Package query has the questions beyond marginals that counting answers, as values of
// privacy.Query: the number of rows, of rows for which an expression holds, rows in the cells of a
// rule, units by their number of rows (docs/claims/measure.md).
package query

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/internal/engine"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// Total is the number of rows.
type Total struct{}

// Kind is that of one count.
func (Total) Kind() access.Kind { return access.OneCount }

// Compile is for the gate.
func (q Total) Compile(sizes []int, units bool) (access.Compiled, error) {
	return access.Seal(access.Counted{Kind: q.Kind(), Key: "total", What: "number of rows", Cells: 1,
		Count: func(rows access.Rows) []int64 {
			if rows.Joint == nil {
				return []int64{int64(rows.Table().Rows())}
			}
			n := make([]int64, 1) // a marginal over no column
			rows.Joint.CountTo(n, nil, nil)
			return n
		},
	}, sizes, units), nil
}

// Where is the number of rows for which an expression holds.
type Where struct{ Expr table.Expr }

// Kind is that of one count.
func (Where) Kind() access.Kind { return access.OneCount }

// Compile is for the gate.
func (q Where) Compile(sizes []int, units bool) (access.Compiled, error) {
	set, err := table.CompileExprs(sizes, []table.Expr{q.Expr}) // a copy
	if err != nil {
		return access.Compiled{}, err
	}
	return access.Seal(access.Counted{Kind: q.Kind(), Key: "where" + set.Key(), What: "a count",
		Cells: 1, Count: func(rows access.Rows) []int64 { return rows.Table().CountExprs(set) },
	}, sizes, units), nil
}

// MaxUnitRanges is the most ranges of a [ContributionHistogram].
const MaxUnitRanges = 1 << 16

// ContributionHistogram is how many units have how many rows in the file, before the gate bounds
// them to MaxRowsPerUnit: entry i counts the units with more than UpTo[i−1] (0 for i = 0) and at
// most UpTo[i] rows, the last of len(UpTo)+1 entries those with more. It needs an id column.
type ContributionHistogram struct {
	UpTo []int // increasing, from 1 or more; 1 to MaxUnitRanges of them
}

// Kind is that of a count of units.
func (ContributionHistogram) Kind() access.Kind { return access.UnitCells }

// Compile is for the gate.
func (q ContributionHistogram) Compile(sizes []int, units bool) (access.Compiled, error) {
	var none access.Compiled
	if !units {
		return none, fmt.Errorf("the schema names no unit, so each is one row: %w", schema.ErrInvalid)
	}
	upTo := slices.Clone(q.UpTo)
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
	return access.Seal(access.Counted{Kind: q.Kind(), Key: string(key), What: "rows per unit",
		Cells: len(upTo) + 1,
		Count: func(rows access.Rows) []int64 {
			if rows.Joint != nil {
				return engine.Must(rows.Joint.Sum(engine.AskUnits(upTo)))
			}
			return countUnits(rows.Units(), upTo)
		},
	}, sizes, units), nil
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
