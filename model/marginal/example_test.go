package marginal_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/model/marginal"
)

// Two noisy pairs of three columns are fitted, asked about a pair that was never measured, and
// sampled.
func Example() {
	sizes := []int{2, 3, 2}
	ms := []marginal.Measurement{
		{Cols: []int{0, 1}, Counts: []float64{412, 196, 3, -2, 205, 391}, Sigma: 4},
		{Cols: []int{1, 2}, Counts: []float64{380, 30, 201, 203, 38, 351}, Sigma: 4},
	}
	m, err := marginal.Fit(context.Background(), sizes, ms, marginal.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("cliques", m.Cliques())
	fmt.Printf("about %.0f rows\n", m.Total())
	pair := make([]float64, 4)
	if err := m.MarginalTo(pair, []int{0, 2}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("columns 0 and 2: %.0f\n", pair)
	rows := m.Sample(5, rand.New(rand.NewPCG(1, 2)))
	fmt.Println("a sample, by column:", rows)
	// Output:
	// cliques [[0 1] [1 2]]
	// about 1204 rows
	// columns 0 and 2: [479 132 139 454]
	// a sample, by column: [[0 1 0 1 0] [1 2 0 2 0] [1 0 0 1 0]]
}
