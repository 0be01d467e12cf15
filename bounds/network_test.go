package bounds

import (
	"math"
	"math/rand/v2"
)

// adult is the block sizes of the adult table as the prototype binned it: 15 blocks, 200 cells.
var adult = []int{16, 9, 16, 16, 16, 7, 15, 6, 5, 2, 16, 16, 16, 42, 2}

// randomNetwork is a critic with normal weights of standard deviation ½/√fields in the first layer
// and 1/√in after, and small biases.
func randomNetwork(in *Input, slope float32, seed uint64, hidden ...int) Network {
	u := rand.New(rand.NewPCG(seed, 0))
	n := Network{Slope: slope}
	size, scale := in.size, .5/math.Sqrt(float64(len(in.fields)))
	for _, h := range append(append([]int(nil), hidden...), 1) {
		l := Layer{Weights: make([]float32, size*h), Bias: make([]float32, h)}
		for i := range l.Weights {
			l.Weights[i] = float32(scale * u.NormFloat64())
		}
		for i := range l.Bias {
			l.Bias[i] = float32(.1 * u.NormFloat64())
		}
		n.Layers = append(n.Layers, l)
		size, scale = h, 1/math.Sqrt(float64(h))
	}
	return n
}
