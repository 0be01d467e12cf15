package accountant_test

import (
	"encoding/json"
	"fmt"

	"github.com/decoy-dp/decoy/privacy/accountant"
)

// The plan of a marginal mechanism: fifteen noisy counts, fourteen selections, fourteen more
// counts.
func Example() {
	budget := accountant.Budget{Epsilon: 1, Delta: 1e-9}
	plan := func(scale float64) accountant.Composition {
		return accountant.Composition{
			{Event: accountant.Gaussian{NoiseMultiplier: 40 * scale}, Count: 15},
			{Event: accountant.Exponential{Epsilon: .05 / scale}, Count: 14},
			{Event: accountant.Gaussian{NoiseMultiplier: 40 * scale}, Count: 14},
		}
	}
	scale, err := accountant.ScaleFor(budget, accountant.AddRemove, plan)
	if err != nil {
		fmt.Println(err)
		return
	}
	cost, _ := plan(scale).Epsilon(budget.Delta, accountant.AddRemove)
	fmt.Printf("scale %.4f: epsilon %.6f by %s\n", scale, cost.Epsilon, cost.Method)
	// Output: scale 0.9810: epsilon 1.000000 by gdp
}

func ExampleComposition_json() {
	b, _ := json.Marshal(accountant.Composition{{Event: accountant.Laplace{Epsilon: .1}, Count: 2}})
	fmt.Println(string(b))
	// Output: [{"event":"laplace","epsilon":0.1,"count":2}]
}

// A claim is about one patient; a family of three may expect less.
func ExampleGroup() {
	b := accountant.Group(accountant.Budget{Epsilon: .5, Delta: 1e-9}, 3)
	fmt.Printf("epsilon %.2f, delta %.2g\n", b.Epsilon, b.Delta)
	// Output: epsilon 1.50, delta 5.4e-09
}
