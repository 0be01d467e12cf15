package gan_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/model/marginal"
)

// A generator of rows of two columns, of 2 and 3 codes, that is distilled from public rows: in four
// of five the first column has code 1 and the second has code 2.
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
	public := [][]uint16{{0, 1, 1, 1, 1}, {0, 2, 2, 2, 2}}
	distil := g.Distil(marginal.CountPairs(e.Sizes(), public))
	for k := range 1000 {
		distil.Step(float64(k)/1000, u)
	}
	distil.Settle()
	rows := g.Sample(10000, u)
	ones, both := 0, 0
	for i, code := range rows[0] {
		if code == 1 {
			ones++
			if rows[1][i] == 2 {
				both++
			}
		}
	}
	fmt.Printf("%.1f of the first are 1, %.1f of these have 2\n", float64(ones)/10000,
		float64(both)/float64(ones))
	// Output: 0.8 of the first are 1, 1.0 of these have 2
}
