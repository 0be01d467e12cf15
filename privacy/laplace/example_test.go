package laplace_test

import (
	"context"
	"fmt"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/laplace"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// The posterior of a share by Laplace noise on sufficient statistics: with a Dirichlet prior (1, 1)
// the counts are all that it depends on, and what is noisy about them costs ε = 1. Counts below 0
// are taken as 0.
func Example_posterior() {
	s := &schema.Schema{Columns: []schema.Column{{Name: "ill", Kind: schema.Boolean}}}
	ill := table.NewCodes(2, 100_000)
	for i := range 30_000 {
		ill.Set(i, 1)
	}
	t, err := table.FromColumns(s, []table.Codes{ill}, nil)
	if err != nil {
		panic(err)
	}
	const scale = 1
	nb, q := privacy.NeighboursOf(s, accountant.AddRemove), privacy.Marginal{Cols: []int{0}}
	session, err := privacy.Open(context.Background(), privacy.FromTable(t), privacy.Options{
		Budget: accountant.Budget{Epsilon: 1},
		Plan:   accountant.Composition{{Event: laplace.Event(nb, q, scale), Count: 1}}})
	if err != nil {
		panic(err)
	}
	counts, err := laplace.Measure(session, q, scale)
	if err != nil {
		panic(err)
	}
	session.Finish(nil, nil)
	a, b := 1+max(0, float64(counts[1])), 1+max(0, float64(counts[0]))
	fmt.Printf("Beta(%.0f hundred, %.0f hundred), mean %.3f\n", a/100, b/100, a/(a+b))
	// Output: Beta(300 hundred, 700 hundred), mean 0.300
}
