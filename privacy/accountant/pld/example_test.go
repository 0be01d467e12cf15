package pld_test

import (
	"fmt"

	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
)

func ExampleEpsilon() {
	steps := accountant.Composition{
		{Event: accountant.SubsampledGaussian{Rate: .1, NoiseMultiplier: 2}, Count: 200},
	}
	for _, adj := range []accountant.Adjacency{accountant.AddRemove, accountant.ReplaceOne} {
		b, _ := pld.Epsilon(steps, 1e-5, adj)
		fmt.Printf("%v: %.3f\n", adj, b.Epsilon)
	}
	// Output:
	// add-remove: 3.360
	// replace-one: 6.536
}
