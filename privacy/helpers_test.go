package privacy

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
)

var (
	testSchema    = gatetest.Schema
	testTable     = gatetest.Table
	someRows      = gatetest.SomeRows
	follows       = gatetest.Follows
	roundedNormal = gatetest.RoundedNormal
)

// pairOf draws two neighbouring tables.
func pairOf(u *rand.Rand, nb Neighbours) (a, b [][3]uint8) {
	return gatetest.PairOf(u, nb.Adjacency, nb.MaxRowsPerUnit)
}

// counted is private rows that count how often they are read.
func counted(t *table.Table, reads *int) *Rows {
	return loaded(t, func(begin func() error) (*table.Table, error) {
		if err := begin(); err != nil {
			return nil, err
		}
		*reads++
		return t, nil
	})
}

// loaded is private rows like those of t, which load reads.
func loaded(t *table.Table, load func(begin func() error) (*table.Table, error)) *Rows {
	return FromLoader(access.Loader{Tables: schema.One(t.Schema()),
		Load: func(_ context.Context, begin func() error, _ access.Bound) (out access.Loaded, err error) {
			out.Table, err = load(begin)
			return out, err
		}})
}

// gaussian plans n calls of Counts or Total for single rows under add/remove.
func gaussian(sigma float64, n int) accountant.Composition {
	return accountant.Composition{{Event: accountant.Gaussian{NoiseMultiplier: sigma}, Count: n}}
}

// wide is a budget for tests that are not about the budget.
var wide = accountant.Budget{Epsilon: 1e6, Delta: 1e-9}

// open opens a session on the table with a wide budget.
func open(t testing.TB, tab *table.Table, plan accountant.Composition) *Session {
	t.Helper()
	return must(Open(context.Background(), FromTable(tab),
		Options{Budget: wide, Plan: plan, Price: pld.Epsilon, Method: "test"}))
}

// reading counts how often a session reads its rows.
func reading(s *Session) (reads *int) {
	data, reads := s.in.Table, new(int)
	s.recount(func() *table.Table {
		*reads++
		return data()
	})
	return reads
}

// recount takes another table in place of the session's.
func (s *session) recount(rows func() *table.Table) {
	s.in.Table = rows
	s.in.Counts = counter(s.in)
}

// laplaceOf releases a number for the event of Laplace noise, as package laplace does.
func laplaceOf(s *Session, scale float64) error {
	c := access.Call{What: "a count", Of: access.Ask("laplace"),
		Cost: access.Once(accountant.Laplace{Epsilon: 1 / scale})}
	_, err := access.ReleaseInts(s, c, 1, func(rows access.Rows) ([]int64, error) {
		return []int64{int64(rows.Table().Rows())}, nil
	})
	return err
}

// only is the one number of a release.
func only(xs []int64, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return xs[0], nil
}

// compiledOf are queries ready to be counted.
func compiledOf(t testing.TB, s *session, qs ...Query) []access.Counted {
	t.Helper()
	out := stattest.Must(s.compile(qs))
	return out
}

// firstIs1 is the question whether the first code is 1.
var firstIs1 = Where{Expr: table.Condition{Column: 0, Allow: []bool{false, true}}}

// k is how many rows a unit has.
func (nb Neighbours) k() float64 { return float64(max(1, nb.MaxRowsPerUnit)) }

// deltas are the sensitivities of disjoint counts.
func (nb Neighbours) deltas() (one, two float64) {
	_, one, two = access.RowCells.Sensitivity(nb.MaxRowsPerUnit, nb.Adjacency)
	return one, two
}

// countOn is what a query counts on a table.
func countOn(t *table.Table, q access.Counted) []int64 {
	return counter(access.Rows{Table: func() *table.Table { return t }})([]access.Counted{q})[0]
}
