package infer_test

import (
	"fmt"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/infer"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/text"
)

// The noise of a schema of 15 columns.
func ExamplePlan() {
	noise, _, err := infer.Plan(15, privacy.Neighbours{Adjacency: accountant.AddRemove},
		accountant.Budget{Epsilon: .5, Delta: 1e-9})
	if err != nil {
		panic(err)
	}
	nb := privacy.Neighbours{Adjacency: accountant.AddRemove}
	fmt.Printf("classes ±%.0f rows, magnitudes and texts ±%.0f; a category needs about %d rows\n",
		noise.Kinds, noise.Values.Sigma, text.SelectionThreshold(nb, noise.Values))
	// Output:
	// classes ±94 rows, magnitudes and texts ±47; a category needs about 310 rows
}
