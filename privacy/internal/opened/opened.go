// Package opened has what the tests of the gate's subpackages share: sessions that are open.
package opened

import (
	"context"
	"errors"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
	"github.com/decoy-dp/decoy/table"
)

// Small is one table in the hands of a mechanism.
type Small = gatetest.Small[privacy.Neighbours]

// SmallRow is a mechanism with its arguments.
type SmallRow = gatetest.SmallRow[privacy.Neighbours]

// Relations are the neighbouring relations that tests go through.
var Relations = []privacy.Neighbours{
	{Adjacency: accountant.AddRemove, MaxRowsPerUnit: 1},
	{Adjacency: accountant.AddRemove, MaxRowsPerUnit: 4},
	{Adjacency: accountant.ReplaceOne, MaxRowsPerUnit: 1},
	{Adjacency: accountant.ReplaceOne, MaxRowsPerUnit: 4},
}

// Wide is a budget for tests that are not about the budget.
var Wide = accountant.Budget{Epsilon: 1e18, Delta: 1e-9}

// On opens a session on the table under an adjacency, 0 for the default.
func On(
	t testing.TB, tab *table.Table, adj accountant.Adjacency, plan ...accountant.Charge,
) *privacy.Session {
	t.Helper()
	s, err := privacy.Open(context.Background(), privacy.FromTable(tab),
		privacy.Options{Budget: Wide, Plan: plan, Adjacency: adj, Method: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Under opens a session on rows that are a unit each, under a relation.
func Under(
	t testing.TB, rows [][3]uint8, nb privacy.Neighbours, plan ...accountant.Charge,
) *privacy.Session {
	t.Helper()
	units := make([]uint32, len(rows))
	for i := range units {
		units[i] = uint32(i)
	}
	tab := gatetest.Table(t, gatetest.Schema("id", nb.MaxRowsPerUnit), rows, units)
	return On(t, tab, nb.Adjacency, plan...)
}

// RunSmall runs the mechanisms of these names on all small tables.
func RunSmall(t *testing.T, rows []SmallRow, names ...string) {
	gatetest.RunSmall(t, names, rows, func(adj accountant.Adjacency, k int) privacy.Neighbours {
		return privacy.Neighbours{Adjacency: adj, MaxRowsPerUnit: k}
	})
}

// Reading is a query that counts how often it reads the rows.
type Reading struct {
	privacy.Query
	Reads *int
}

// Compile is for the gate.
func (r Reading) Compile(sizes []int, units bool) (access.Compiled, error) {
	qs, err := access.CompileAll(sizes, units, []privacy.Query{r.Query})
	if err != nil {
		return access.Compiled{}, err
	}
	q := qs[0]
	count := q.Count
	q.Code = true // not remembered
	q.Count = func(rows access.Rows) []int64 {
		*r.Reads++
		return count(rows)
	}
	return access.Seal(q, sizes, units), nil
}

// PaidOnce makes a call that is planned once: it reads once, and is charged once. One more is
// refused, and so is one after the end.
func PaidOnce(t testing.TB, s *privacy.Session, reads *int, call func() error) {
	t.Helper()
	if err := call(); err != nil || *reads != 1 {
		t.Errorf("the planned call: %v, %d reads", err, *reads)
	}
	if err := call(); !errors.Is(err, privacy.ErrPlan) || *reads != 1 {
		t.Errorf("a call beyond the plan: %v, %d reads", err, *reads)
	}
	s.Finish(nil, nil)
	if err := call(); !errors.Is(err, privacy.ErrClosed) {
		t.Errorf("a closed session: %v", err)
	}
	if got := s.Ledger().Runs()[0].Charged; len(got) != 1 || got[0].Count != 1 {
		t.Errorf("charges in the ledger %v, want 1", got)
	}
}
