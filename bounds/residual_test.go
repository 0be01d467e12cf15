package bounds

import (
	"math"
	"testing"

	"github.com/decoy-dp/decoy/privacy/accountant"
)

// The residual of a hidden unit that is always on is nothing but roundings, of the predictor's
// entries and of x̂, and those are allowed for and not much more: here all entries are nearly half
// a step off in the same direction.
func TestRoundingsOfThePredictor(t *testing.T) {
	const blocks, f = 15, 0x1p-8
	sizes := make([]int, blocks)
	weights := make([]float32, 0, 2*blocks)
	for k := range sizes {
		sizes[k] = 2
		weights = append(weights, (10+.49)*f, -(10+.49)*f)
	}
	in := oneHot(t, sizes...)
	n := Network{Slope: .2, Layers: []Layer{{weights, []float32{2}},
		{[]float32{1}, []float32{0}}}}
	c := newCritic[float64]("", n, in, f)
	config := Config{Mode: Residual, Adjacency: accountant.AddRemove}
	b, cert := c.measure(config), certify(t, c, config)
	k := in.size + len(weights) + 1 // the weight of the output layer
	for _, x := range []row{make(row, blocks), repeatCell(1, blocks)} {
		v := encoded(c, cert, []row{x}, forwards)
		if part := math.Abs(float64(v[k])) * b.grid / b.scales[k]; part > 1 || part < .85 {
			t.Errorf("cell %v: the residual is %v of its half-width %v", x[0], part, b.scales[k])
		}
	}
}

func repeatCell(c float64, n int) row {
	x := make(row, n)
	for k := range x {
		x[k] = c
	}
	return x
}

// Hidden units whose branch the whole domain decides cost no noise but that of the inputs' sum:
// their gradient is linear in the inputs.
func TestDecidedUnitsAreFree(t *testing.T) {
	in := oneHot(t, 4, 3)
	n := randomNetwork(in, .2, 3, 6)
	for j := range n.Layers[0].Bias {
		n.Layers[0].Bias[j] = []float32{5, -5}[j%2]
	}
	c := newCritic[float64]("", n, in, 0x1p-20)
	b := c.measure(Config{Mode: Residual, Adjacency: accountant.AddRemove})
	for k := in.size; k < len(b.scales); k++ {
		if b.scales[k] > 16*b.f {
			t.Errorf("coordinate %d has half-width %v", k, b.scales[k])
		}
	}
	sums, all := 0., 0.
	for _, u := range b.units {
		size := u.e * math.Sqrt(u.q)
		if all += size; u.stride == 1 {
			sums += size
		}
	}
	if sums < .99*all {
		t.Errorf("the sum of the inputs has %v of a size %v", sums, all)
	}
}
