package synthtest

import (
	"context"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/table"
)

// Open plans the method on a table held in memory and opens a session for it, for tests that fit by hand.
func Open(t testing.TB, f synth.Fitter, tab *table.Table, b accountant.Budget) (synth.Plan, *privacy.Session) {
	t.Helper()
	rows := privacy.FromTable(tab)
	p, err := f.Plan(rows.Schema(), privacy.NeighboursOf(rows.Schema(), accountant.AddRemove), b)
	if err != nil {
		t.Fatal(err)
	}
	s, err := privacy.Open(context.Background(), rows, privacy.Options{Budget: b, Plan: p.Composition(), Method: f.Name()})
	if err != nil {
		t.Fatal(err)
	}
	return p, s
}

// Charges is the number of charges in the session's ledger.
func Charges(s *privacy.Session) (n int) {
	for _, e := range s.Ledger().Entries {
		if e.Kind == accountant.EntryCharge {
			n++
		}
	}
	return n
}
