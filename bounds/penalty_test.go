package bounds

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// inputGradient is ‖∇_x D‖₂ at a point of real numbers.
func inputGradient(n Network[float64], x []float64) float64 {
	p := run(n, x, 0x1p-40, forwards)
	down := widened(n.Layers[0].Weights) // ∇x⁰ = W¹δ¹, with φ' applied by hand
	back := make([]float64, len(n.Layers[0].Bias))
	for j := range back {
		back[j] = 1
		if len(n.Layers) > 1 {
			back[j] = p.down[0][j]
			if p.pre[0][j] < 0 {
				back[j] *= n.Slope
			}
		}
	}
	sum := 0.
	for i := range x {
		g := 0.
		for j, d := range back {
			g += down[i*len(back)+j] * d
		}
		sum += g * g
	}
	return math.Sqrt(sum)
}

// The gradient of the penalty by finite differences never exceeds its bound, comes within a factor
// of it for a linear critic, and is 0 for biases.
func TestPenaltyNormsAgainstFiniteDifferences(t *testing.T) {
	in := oneHot(t, 3, 2)
	u := rand.New(rand.NewPCG(5, 5))
	for seed, hidden := range [][]int{{}, {4}, {5, 3}, {3, 4, 2}} {
		for _, scale := range []float64{.3, 1, 4} {
			n := scaled(randomNetwork[float64](in, .2, uint64(seed), hidden...), scale)
			x := make([]float64, in.size)
			for i := range x {
				x[i] = u.NormFloat64()
			}
			penalty := func() float64 { d := inputGradient(n, x) - 1; return d * d }
			for name, gradient := range map[string]float64{"known": inputGradient(n, x),
				"unknown": math.Inf(1)} {
				bounds, err := PenaltyNorms(n, gradient)
				if err != nil {
					t.Fatal(err)
				}
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
					if norm = math.Sqrt(norm); norm > bounds[l]*(1+1e-6) {
						t.Errorf("%v, scale %v, ‖∇D‖ %s, layer %d: ‖∇penalty‖ = %v exceeds %v",
							hidden, scale, name, l+1, norm, bounds[l])
					}
					if len(hidden) == 0 && scale == 4 && norm < .9*bounds[l] {
						t.Errorf("linear critic: ‖∇penalty‖ = %v, bound %v", norm, bounds[l])
					}
				}
			}
		}
	}
}

// difference is the central finite difference of f in x.
func difference(x *float64, f func() float64) float64 {
	const step = 1e-5
	kept := *x
	*x = kept + step
	up := f()
	*x = kept - step
	down := f()
	*x = kept
	return (up - down) / (2 * step)
}

func TestPenaltyNormsByHand(t *testing.T) {
	n := Network[float32]{Layers: []Layer[float32]{{[]float32{3, 4}, []float32{0}},
		{[]float32{2}, []float32{1}}}}
	for _, c := range []struct {
		gradient float64
		want     []float64
	}{
		{math.Inf(1), []float64{2 * 9 * 2, 2 * 9 * 5}}, // ‖W¹‖‖W²‖ = 10
		{4, []float64{2 * 3 * 2, 2 * 3 * 5}},
		{.5, []float64{2 * 2, 2 * 5}},
	} {
		got, err := PenaltyNorms(n, c.gradient)
		if err != nil {
			t.Fatal(err)
		}
		for l := range c.want {
			if got[l] < c.want[l] || got[l] > c.want[l]*(1+1e-6) {
				t.Errorf("gradient %v, layer %d: %v, want %v", c.gradient, l+1, got[l], c.want[l])
			}
		}
	}
	if _, err := PenaltyNorms(Network[float32]{}, 1); !errors.Is(err, ErrNetwork) {
		t.Errorf("no layers: %v", err)
	}
}
