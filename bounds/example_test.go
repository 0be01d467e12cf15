package bounds_test

import (
	"fmt"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// A critic of two columns, with 3 and 2 codes, and two hidden units.
func Example() {
	in, err := bounds.NewInput(bounds.Block(3), bounds.Block(2))
	if err != nil {
		fmt.Println(err)
		return
	}
	critic := bounds.Network{Slope: .25, Layers: []bounds.Layer{
		{Weights: []float32{.5, -1, 0, 1, -.5, .5, 1, .25, -1, 0}, Bias: []float32{0, .125}},
		{Weights: []float32{1, -.5}, Bias: []float32{0}},
	}}
	for _, mode := range []bounds.Mode{bounds.Thesis(), bounds.Box(), bounds.Residual} {
		c, err := bounds.Certify(critic, in, bounds.Config{Mode: mode,
			Adjacency: accountant.AddRemove})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%-8v %2d coordinates, √(total variance) = %.1f·z\n", mode, c.Coordinates(),
			c.TotalStd())
	}
	// Output:
	// thesis   15 coordinates, √(total variance) = 14.9·z
	// box      15 coordinates, √(total variance) = 6.3·z
	// residual 20 coordinates, √(total variance) = 4.4·z
}
