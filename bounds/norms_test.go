package bounds

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The gradient of the penalty by finite differences never exceeds its bound, comes within a factor
// of it for a linear critic, and is 0 for biases.
func TestNormsAgainstFiniteDifferences(t *testing.T) {
	in := blocks(3, 2)
	u := rand.New(rand.NewPCG(5, 5))
	for seed, hidden := range [][]int{{}, {4}, {5, 3}, {3, 4, 2}} {
		for _, scale := range []float64{.5, 1.5, 6} {
			n := penaltyNetwork(in, scale, uint64(seed), hidden...)
			x := make([]float64, size(in))
			for i := range x {
				x[i] = u.NormFloat64()
			}
			penalty := func() float64 {
				d := euclid(runReference(n, x, 0x1p-40).Input) - 1
				return d * d
			}
			bound := norms(n, size(in))
			for l, layer := range n.Layers {
				norm := 0.
				for i := range layer.Weights {
					d := difference(&layer.Weights[i], penalty)
					norm += d * d
				}
				for j := range layer.Bias {
					if d := difference(&layer.Bias[j], penalty); math.Abs(d) > 1e-6 {
						t.Errorf("%v, layer %d: bias gradient %v", hidden, l+1, d)
					}
				}
				if norm = math.Sqrt(norm); norm > bound[l]*(1+1e-6) {
					t.Errorf("%v, scale %v, layer %d: ‖∇penalty‖ = %v exceeds %v",
						hidden, scale, l+1, norm, bound[l])
				}
				if len(hidden) == 0 && scale == 6 && norm < .9*bound[l] {
					t.Errorf("linear critic: ‖∇penalty‖ = %v, bound %v", norm, bound[l])
				}
			}
		}
	}
}

// difference is the central finite difference of f in x.
func difference(x *float32, f func() float64) float64 {
	const step = 0x1p-16
	kept := *x
	*x = kept + step
	up, width := f(), float64(*x)
	*x = kept - step
	down := f()
	width -= float64(*x)
	*x = kept
	return (up - down) / width
}
