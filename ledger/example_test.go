package ledger_test

import (
	"fmt"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/ledger"
)

// A ledger refuses what its limit does not hold.
func ExampleLedger_Allows() {
	var last ledger.Entry
	l := &ledger.Ledger{}
	for _, e := range []ledger.Entry{
		{Kind: ledger.EntryOpen, Adjacency: accountant.AddRemove},
		{Kind: ledger.EntryLimit, Budget: &accountant.Budget{Epsilon: 1, Delta: 1e-9},
			Rule: ledger.RuleBasic},
	} {
		last = e.Seal(last)
		l.Entries = append(l.Entries, last)
	}
	fmt.Println(l.Allows(accountant.Budget{Epsilon: 1, Delta: 1e-9}, nil))
	fmt.Println(l.Allows(accountant.Budget{Epsilon: 1.5, Delta: 1e-9}, nil))
	// Output:
	// <nil>
	// ledger: epsilon 0 and delta 0 are spent; 1.5 and 1e-09 more would exceed the ledger's limit of 1 and 1e-09: privacy budget exhausted
}
