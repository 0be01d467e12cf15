package mechtest

import (
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
)

// On is OpenAs with a plan of a few charges.
func On(
	t testing.TB, tab *table.Table, adj accountant.Adjacency, plan ...accountant.Charge,
) *privacy.Session {
	t.Helper()
	return OpenAs(t, tab, adj, plan)
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
