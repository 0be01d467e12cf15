// Package mechtest has what the tests of the mechanisms in the subpackages of privacy share:
// sessions on tables of package gatetest, and a critic.
package mechtest

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
)

// Small is one table in the hands of a mechanism, SmallRow a mechanism with its arguments, Value
// what it releases.
type (
	Small    = gatetest.Small[privacy.Neighbours]
	SmallRow = gatetest.SmallRow[privacy.Neighbours]
	Value    = gatetest.Value
)

// Relations are both adjacencies, for single rows and for units of four.
var Relations = []privacy.Neighbours{
	{Adjacency: accountant.AddRemove, MaxRowsPerUnit: 1},
	{Adjacency: accountant.AddRemove, MaxRowsPerUnit: 4},
	{Adjacency: accountant.ReplaceOne, MaxRowsPerUnit: 1},
	{Adjacency: accountant.ReplaceOne, MaxRowsPerUnit: 4},
}

// Wide is a budget for tests that are not about the budget.
var Wide = accountant.Budget{Epsilon: 1e18, Delta: 1e-9}

// OpenAs opens a session on the table under an adjacency.
func OpenAs(
	t testing.TB, tab *table.Table, adj accountant.Adjacency, plan accountant.Composition,
) *privacy.Session {
	t.Helper()
	o := privacy.Options{Budget: Wide, Plan: plan, Adjacency: adj, Method: "test"}
	for _, charge := range plan {
		if _, sampled := charge.Event.(accountant.SubsampledGaussian); sampled {
			o.Price = pld.Epsilon // no closed formula has its cost
		}
	}
	s := stattest.Must(privacy.Open(context.Background(), privacy.FromTable(tab), o))
	return s
}

// Open opens a session on the table under add/remove.
func Open(t testing.TB, tab *table.Table, plan accountant.Composition) *privacy.Session {
	t.Helper()
	return OpenAs(t, tab, accountant.AddRemove, plan)
}

// RunSmall runs the mechanisms of these names on all small tables.
func RunSmall(t *testing.T, rows []SmallRow, names ...string) {
	gatetest.RunSmall(t, names, rows, func(adj accountant.Adjacency, k int) privacy.Neighbours {
		return privacy.Neighbours{Adjacency: adj, MaxRowsPerUnit: k}
	})
}

// Calls is the number of calls in a composition.
func Calls(c accountant.Composition) (n int) {
	for _, x := range c {
		n += x.Count
	}
	return n
}

// PairOf draws two neighbouring tables.
func PairOf(u *rand.Rand, nb privacy.Neighbours) (a, b [][3]uint8) {
	return gatetest.PairOf(u, nb.Adjacency, nb.MaxRowsPerUnit)
}

// ColumnsOf are the columns of a table.
func ColumnsOf(tab *table.Table) (cols []table.Codes) {
	for i := range tab.Schema().Columns {
		cols = append(cols, tab.Column(i))
	}
	return cols
}
