package ledger_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// A ledger refuses what its limit does not hold.
func ExampleLedger_Verify() {
	var last ledger.Entry
	l := &ledger.Ledger{}
	day := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	for _, e := range []ledger.Entry{
		{Kind: ledger.EntryOpen, Adjacency: accountant.AddRemove},
		{Kind: ledger.EntryLimit, Budget: &accountant.Budget{Epsilon: 1, Delta: 1e-9},
			Rule: ledger.RuleBasic},
		{Kind: ledger.EntryReserve, Time: day, Run: "a", Adjacency: accountant.AddRemove,
			Budget: &accountant.Budget{Epsilon: 1, Delta: 1e-9}},
		{Kind: ledger.EntryReserve, Time: day, Run: "b", Adjacency: accountant.AddRemove,
			Budget: &accountant.Budget{Epsilon: .5, Delta: 1e-9}},
	} {
		last = e.Seal(last)
		l.Entries = append(l.Entries, last)
		err := l.Verify(nil)
		fmt.Println(errors.Is(err, accountant.ErrBudget))
	}
	// Output:
	// false
	// false
	// false
	// true
}
