package mechtest

import (
	"errors"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
	"github.com/decoy-dp/decoy/table"
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
