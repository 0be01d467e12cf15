package bounds

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
)

// TestPredictorIsWhatEncodeTakesOff encodes random means by hand with PredictorTo and compares with
// EncodeMeanTo.
func TestPredictorIsWhatEncodeTakesOff(t *testing.T) {
	u := rand.New(rand.NewPCG(11, 12))
	in, err := OneHot([]int{2, 3})
	if err != nil {
		t.Fatal(err)
	}
	const inputs, h = 5, 4
	draw := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = u.NormFloat64()
		}
		return x
	}
	net := Network[float64]{Slope: .2, Layers: []Layer[float64]{{draw(inputs * h), draw(h)},
		{draw(h), draw(1)}}}
	for _, mode := range []Mode{Blocks, Residual} {
		c, err := Certify(net, in, Config{Mode: mode, Adjacency: accountant.AddRemove})
		if err != nil {
			t.Fatal(err)
		}
		m, l := make([]float64, inputs*h), make([]float64, inputs*h)
		c.PredictorTo(m, l)
		x, g := draw(inputs), draw(c.Parameters())
		want := make([]float64, c.Coordinates())
		c.EncodeMeanTo(want, x, g)
		got := append(append([]float64(nil), x[:c.Inputs()]...), g...)
		for i := range inputs {
			for j := range h {
				got[c.Inputs()+i*h+j] -= m[i*h+j] * x[i]
				got[c.Inputs()+inputs*h+h+j] -= l[i*h+j] * x[i]
			}
		}
		for k, mu := range c.Centre() {
			if math.Abs(got[k]-mu-want[k]) > 1e-9 {
				t.Errorf("%v: coordinate %d is %v, want %v", mode, k, got[k]-mu, want[k])
			}
		}
		if zero := mode == Blocks; zero != (m[0] == 0 && l[0] == 0) {
			t.Errorf("%v: predictor %v, %v", mode, m[0], l[0])
		}
	}
}
