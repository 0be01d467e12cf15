// Package gatetest has what the tests of package privacy and of its subpackages share.
package gatetest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// SmallTable is its units: the cells, 2·first code + second, of each one's rows.
type SmallTable [][]uint8

// Small is one table in the hands of a mechanism, under a relation of type N.
type Small[N any] struct {
	T     *testing.T
	Units SmallTable
	NB    N
	Rows  int // of a unit, at most
	Table *table.Table
}

// Value is what noise is added to. Entry i is for the i-th way in which secret coins may have
// fallen that do not depend on the rows: between neighbours, entries are compared one by one.
type Value [][]float64

// SmallRow is a mechanism with its arguments.
type SmallRow[N any] struct {
	Mechanism, With string
	Of              func(s *Small[N]) Value
	// Claim is how far the value may move between neighbours, in which norm, by the event.
	Claim func(nb N) float64
	Norm  func(change []float64) float64
	// Most is the share of the claim that some pair attains, in a relation; 1 if nil.
	Most func(nb N) float64
}

// L1 is a norm.
func L1(x []float64) (sum float64) {
	for _, v := range x {
		sum += math.Abs(v)
	}
	return sum
}

// L2 is a norm.
func L2(x []float64) (sum float64) {
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum)
}

// RangeOf is how far apart the changes of two scores are: of a selection, twice the change of one.
func RangeOf(x []float64) float64 { return slices.Max(x) - slices.Min(x) }

// sets are the sorted lists of n of the numbers from 0 to below of, each as often as it may be.
func sets(n, of int) (out [][]int) {
	if n == 0 {
		return [][]int{nil}
	}
	for _, s := range sets(n-1, of) {
		first := 0
		if len(s) > 0 {
			first = s[len(s)-1]
		}
		for x := first; x < of; x++ {
			out = append(out, append(slices.Clone(s), x))
		}
	}
	return out
}

// smallUnits are all units of up to k rows.
func smallUnits(k int) (out [][]uint8) {
	for n := 1; n <= k; n++ {
		for _, set := range sets(n, 4) {
			unit := make([]uint8, n)
			for i, c := range set {
				unit[i] = uint8(c)
			}
			out = append(out, unit)
		}
	}
	return out
}

// neighbours calls f for all tables of up to four rows and their neighbours: both have the same
// units, but the last.
func neighbours(adj accountant.Adjacency, k int, f func(a, b SmallTable)) {
	units := smallUnits(k)
	for n := range 4 {
		for _, set := range sets(n, len(units)) {
			shared, rows := SmallTable{}, 0
			for _, u := range set {
				shared, rows = append(shared, units[u]), rows+len(units[u])
			}
			with := func(u []uint8) SmallTable { return append(slices.Clone(shared), u) }
			for i, u := range units {
				switch {
				case rows+len(u) > 4:
				case adj == accountant.AddRemove:
					f(shared, with(u))
				default:
					for _, v := range units[:i] {
						if rows+len(v) <= 4 {
							f(with(u), with(v))
						}
					}
				}
			}
		}
	}
}

// smallOf is the table of these units; without an id column every unit is one row.
func smallOf[N any](t *testing.T, units SmallTable, nb N, k int, id bool) *Small[N] {
	sch := &schema.Schema{}
	if id {
		sch.Unit, sch.MaxRowsPerUnit = "id", k
	}
	for _, c := range Schema("", 0).Columns[:2] {
		c.Categories = c.Categories[:2]
		sch.Columns = append(sch.Columns, c)
	}
	cols, numbers := []table.Codes{{U8: []uint8{}}, {U8: []uint8{}}}, []uint32(nil)
	if id {
		numbers = []uint32{}
	}
	for i, u := range units {
		for _, c := range u {
			cols[0].U8, cols[1].U8 = append(cols[0].U8, c/2), append(cols[1].U8, c%2)
			if id {
				numbers = append(numbers, uint32(i))
			}
		}
	}
	tab := stattest.Must(table.FromColumns(sch, cols, numbers))
	return &Small[N]{t, units, nb, k, tab}
}

// RunSmall takes every table of up to four rows over two columns of two codes, and every neighbour
// of it, and compares how far what a mechanism adds noise to moves with the sensitivity in the
// event that is charged for it. It must never be exceeded, and be attained by some pair. names are
// the mechanisms that must have a row; relation makes the caller's type of a relation.
//
// The mechanisms are called as anybody calls them, with noise so small that it is 0 but with a
// probability below exp(−1000): what they release is what they add noise to. Selections release no
// scores; these are had from inside. A row that is nil on a table is skipped.
func RunSmall[N any](
	t *testing.T, names []string, rows []SmallRow[N], relation func(adj accountant.Adjacency, k int) N,
) {
	have := map[string]bool{}
	for _, row := range rows {
		have[row.Mechanism] = true
	}
	for _, name := range names {
		if !have[name] {
			t.Errorf("the mechanism %s has no row here", name)
		}
	}
	for _, r := range []struct {
		adj accountant.Adjacency
		k   int
		id  bool
	}{
		{accountant.AddRemove, 1, false}, {accountant.ReplaceOne, 1, false},
		{accountant.AddRemove, 1, true}, {accountant.ReplaceOne, 1, true},
		{accountant.AddRemove, 2, true}, {accountant.ReplaceOne, 2, true},
	} {
		nb := relation(r.adj, r.k)
		for _, row := range rows {
			name := fmt.Sprintf("%v id %v %s %s", nb, r.id, row.Mechanism, row.With)
			t.Run(name, func(t *testing.T) {
				known := map[string]Value{}
				of := func(units SmallTable) Value {
					key := fmt.Sprint(units)
					if known[key] == nil {
						known[key] = row.Of(smallOf(t, units, nb, r.k, r.id))
					}
					return known[key]
				}
				if of(nil) == nil {
					t.Skip("refused")
				}
				claim, far, pairs := row.Claim(nb), 0., 0
				var at [2]SmallTable
				neighbours(r.adj, r.k, func(a, b SmallTable) {
					va, vb := of(a), of(b)
					for way := range va {
						change := slices.Clone(va[way])
						for i, x := range vb[way] {
							change[i] -= x
						}
						if d := row.Norm(change); d > far {
							far, at = d, [2]SmallTable{a, b}
						}
						pairs++
					}
				})
				if far > claim*(1+1e-12) {
					t.Errorf("between %v and %v it moves by %v, the event claims %v",
						at[0], at[1], far, claim)
				}
				most := 1.
				if row.Most != nil {
					most = row.Most(nb)
				}
				if far < most*claim*(1-1e-12) {
					t.Errorf("in %d pairs it moves by at most %v, the event claims %v", pairs, far, claim)
				}
			})
		}
	}
}

// GaussianClaim is Δ of a Gaussian event: its multiplier is σ/Δ.
func GaussianClaim[N any](sigma float64, event func(nb N) accountant.Event) func(N) float64 {
	return func(nb N) float64 { return sigma / event(nb).(accountant.Gaussian).NoiseMultiplier }
}

// LaplaceClaim is Δ of a Laplace event: its ε is Δ/scale.
func LaplaceClaim[N any](scale float64, event func(nb N) accountant.Event) func(N) float64 {
	return func(nb N) float64 { return scale * event(nb).(accountant.Laplace).Epsilon }
}

// One is the only entry of a value, of numbers that a mechanism released.
func One[T int64 | float64, N any](s *Small[N]) func(xs []T, err error) Value {
	return func(xs []T, err error) Value {
		s.T.Helper()
		stattest.Check(s.T, err)
		out := make([]float64, len(xs))
		for i, x := range xs {
			out[i] = float64(x)
		}
		return Value{out}
	}
}
