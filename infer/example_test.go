package infer_test

import (
	"fmt"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/infer"
	"github.com/decoy-dp/decoy/privacy"
)

// What a schema of 15 columns needs.
func ExamplePlan_Needs() {
	plan, err := infer.NewPlan(15, privacy.Neighbours{Adjacency: accountant.AddRemove},
		accountant.Budget{Epsilon: .5, Delta: 1e-9})
	if err != nil {
		panic(err)
	}
	n := plan.Needs()
	fmt.Printf("a column needs %.0f values, bounds %.0f numbers, a category %.0f rows\n",
		n.Kind, n.Bounds, n.Category)
	// Output:
	// a column needs 401 values, bounds 764 numbers, a category 467 rows
}
