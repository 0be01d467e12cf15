package gan_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/gan/critic"
)

// A generator of rows of two columns, of 2 and 3 codes, that starts at given marginals.
func Example() {
	e, err := critic.NewEncoderOf([]int{2, 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	u := rand.New(rand.NewPCG(1, 2)) // public: initial weights and samples take a seed
	g, err := gan.NewGenerator(e, gan.GeneratorOptions{}, u)
	if err != nil {
		fmt.Println(err)
		return
	}
	g.SetMarginals([]float64{.2, .8, 0, 1, 0}, 0)
	rows := g.Sample(10000, u)
	ones := 0
	for _, code := range rows[0] {
		ones += int(code)
	}
	fmt.Printf("%d columns, %.1f of the first are 1\n", len(rows), float64(ones)/10000)
	// Output: 2 columns, 0.8 of the first are 1
}
