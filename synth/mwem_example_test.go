package synth_test

import (
	"fmt"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
)

// A plan reads no rows: it says what a workload will cost and how noisy it will be.
func ExampleMWEM() {
	s, err := schema.Parse([]byte(`
decoy: 1
columns:
  - {name: sex, kind: categorical, categories: [F, M]}
  - {name: age, kind: integer, min: 0, max: 79, bins: 8}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := synth.Checked(&synth.MWEM{Rounds: 4, Workload: `
decoy_workload: 1
queries:
  - ranges: age
  - where: sex = F and age >= 40
`})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := synth.NewPlan(f, s, privacy.NeighboursOf(s, 0), accountant.Budget{Epsilon: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range p.Forecast(0).Noise {
		fmt.Printf("%d × %s: σ %.1f, ε %.3f\n", n.Count, n.What, n.Sigma, n.Eps)
	}
	// Output:
	// 1 × number of rows: σ 37.0, ε 0.000
	// 4 × query selection: σ 0.0, ε 0.121
	// 4 × count: σ 11.8, ε 0.000
}
