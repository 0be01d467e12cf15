package stats_test

import (
	"context"
	"fmt"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/stats"
)

func coins(n, heads int) *table.Table {
	s := &schema.Schema{Columns: []schema.Column{{Name: "coin", Kind: schema.Categorical,
		Categories: []string{"tails", "heads"}}}}
	c := table.NewCodes(2, n)
	for i := range heads {
		c.Set(i, 1)
	}
	t, err := table.FromColumns(s, []table.Codes{c}, nil)
	if err != nil {
		panic(err)
	}
	return t
}

// A synthetic table is asked the same question a hundred times, for the price of one comparison; a
// table that is wrong is corrected.
func ExampleHoldout() {
	private := privacy.FromTable(coins(10_000, 3_000))
	heads := table.Condition{Column: 0, Allow: []bool{false, true}}
	for _, synthetic := range []*table.Table{coins(1000, 310), coins(1000, 600)} {
		h, err := stats.OpenHoldout(context.Background(), private, synthetic,
			stats.HoldoutOptions{Options: privacy.Options{Budget: accountant.Budget{Epsilon: 2,
				Delta: 1e-9}}, Corrections: 2, Tolerance: .1})
		if err != nil {
			panic(err)
		}
		var a stats.Told
		for range 100 {
			if a, err = h.Ask(heads); err != nil || a.Corrected {
				break
			}
		}
		fmt.Printf("%.1f, corrected: %v, corrections left: %d\n", a.Share, a.Corrected, h.Left())
		h.Close()
	}
	// Output:
	// 0.3, corrected: false, corrections left: 2
	// 0.3, corrected: true, corrections left: 1
}

// A published evaluation carries the ledger that proves what it cost.
func ExamplePublish() {
	r, _, err := stats.Publish(context.Background(), privacy.FromTable(coins(100_000, 30_000)),
		coins(1000, 400), stats.Evaluation{},
		stats.Run[*stats.Published]{Options: privacy.Options{
			Budget: accountant.Budget{Epsilon: 1, Delta: 1e-9}}})
	if err != nil {
		panic(err)
	}
	v, err := release.Verify(r, nil)
	fmt.Printf("%s %.2f, epsilon %.1f, %v\n", r.Estimates[1].Name, r.Estimates[1].Value,
		v.Reserved.Epsilon, err)
	// Output: MarginalError 0.10, epsilon 1.0, <nil>
}
