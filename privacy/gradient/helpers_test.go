package gradient

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/accountant/pld"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
	"github.com/decoy-dp/decoy/table"
)

var (
	testSchema = gatetest.Schema
	testTable  = gatetest.Table
	someRows   = gatetest.SomeRows
)

var relations = []privacy.Neighbours{
	{Adjacency: accountant.AddRemove, MaxRowsPerUnit: 1},
	{Adjacency: accountant.AddRemove, MaxRowsPerUnit: 4},
	{Adjacency: accountant.ReplaceOne, MaxRowsPerUnit: 1},
	{Adjacency: accountant.ReplaceOne, MaxRowsPerUnit: 4},
}

// wide is a budget for tests that are not about the budget.
var wide = accountant.Budget{Epsilon: 1e12, Delta: 1e-9}

// openAs opens a session on the table under an adjacency.
func openAs(
	t testing.TB, tab *table.Table, adj accountant.Adjacency, plan accountant.Composition,
) *privacy.Session {
	t.Helper()
	s, err := privacy.Open(context.Background(), privacy.FromTable(tab),
		privacy.Options{Budget: wide, Plan: plan, Adjacency: adj, Price: pld.Upper, Method: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// open opens a session on the table under add/remove.
func open(t testing.TB, tab *table.Table, plan accountant.Composition) *privacy.Session {
	t.Helper()
	return openAs(t, tab, accountant.AddRemove, plan)
}

// pairOf draws two neighbouring tables.
func pairOf(u *rand.Rand, nb privacy.Neighbours) (a, b [][3]uint8) {
	return gatetest.PairOf(u, nb.Adjacency, nb.MaxRowsPerUnit)
}

func columnsOf(tab *table.Table) (cols []table.Codes) {
	for i := range tab.Schema().Columns {
		cols = append(cols, tab.Column(i))
	}
	return cols
}
