package synth_test

import (
	"fmt"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
)

// A plan is made from the public schema alone: here eight votes on fifty generated rows each, after
// a marginal model of two columns.
func ExamplePATEGAN() {
	s := &schema.Schema{Columns: []schema.Column{
		{Name: "sex", Kind: schema.Categorical, Categories: []string{"f", "m"}},
		{Name: "died", Kind: schema.Boolean},
	}}
	f, err := synth.Checked(&synth.PATEGAN{Target: "died", Rounds: 8, Questions: 50})
	if err != nil {
		panic(err)
	}
	plan, err := synth.NewPlan(f, s, privacy.NeighboursOf(s, 0),
		accountant.Budget{Epsilon: 1, Delta: 1e-9})
	if err != nil {
		panic(err)
	}
	noise := plan.Forecast(0).Noise
	votes := noise[len(noise)-1]
	fmt.Printf("%d × %s, standard deviation %.0f\n", votes.Count, votes.What, votes.Sigma)
	// Output: 400 × vote on a generated row, standard deviation 348
}
