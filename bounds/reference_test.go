package bounds

import (
	"math"
	"math/rand/v2"
)

// This file has the critic written for the eye, in float64.

// referenceNetwork is a random critic: weights of standard deviation scale/√inputs in each layer.
func referenceNetwork(seed uint64, inputs int, scale float64, hidden ...int) Network {
	u := rand.New(rand.NewPCG(seed, 0))
	n := Network{Slope: .2}
	for _, units := range append(append([]int(nil), hidden...), 1) {
		l := Layer{Weights: make([]float32, inputs*units), Bias: make([]float32, units)}
		for i := range l.Weights {
			l.Weights[i] = float32(scale * u.NormFloat64() / math.Sqrt(float64(inputs)))
		}
		for j := range l.Bias {
			l.Bias[j] = float32(.1 * scale * u.NormFloat64())
		}
		n.Layers = append(n.Layers, l)
		inputs = units
	}
	return n
}

// reference is what the critic computes of a row x.
type reference struct {
	S     [][]float64 // of hidden layers
	X     [][]float64 // X[0] is x; X[l] the activations of hidden layer l, rounded
	Delta [][]float64 // Delta[l] is ∇_{s} D of layer l+1, rounded
	Input []float64   // ∇_x D
}

// runReference computes with activations and ∇_s D rounded to multiples of f, but goes on
// unrounded.
func runReference(n Network, x []float64, f float64) reference {
	p := reference{X: [][]float64{x}}
	last := len(n.Layers) - 1
	for _, layer := range n.Layers[:last] {
		h := len(layer.Bias)
		s, next := make([]float64, h), make([]float64, h)
		for j := range s {
			s[j] = float64(layer.Bias[j])
			for i, x := range x {
				s[j] += x * float64(layer.Weights[i*h+j])
			}
			next[j] = max(s[j], float64(n.Slope)*s[j])
		}
		x = next
		p.S, p.X = append(p.S, s), append(p.X, gridded(x, f))
	}
	p.Delta = make([][]float64, last+1)
	delta := []float64{1}
	for l := last; ; l-- {
		p.Delta[l] = gridded(delta, f)
		layer, h := n.Layers[l], len(delta)
		down := make([]float64, len(layer.Weights)/h)
		for i := range down {
			for j, d := range delta {
				down[i] += d * float64(layer.Weights[i*h+j])
			}
		}
		if l == 0 {
			p.Input = down
			return p
		}
		for i, s := range p.S[l-1] {
			if s < 0 {
				down[i] *= float64(n.Slope)
			}
		}
		delta = down
	}
}

// Gradient is that of D, in the order W¹, b¹, W², ...
func (p reference) Gradient() (g []float64) {
	for l, delta := range p.Delta {
		for _, x := range append(append([]float64(nil), p.X[l]...), 1) {
			for _, d := range delta {
				g = append(g, x*d)
			}
		}
	}
	return g
}

func gridded(x []float64, f float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = f * math.RoundToEven(x[i]/f)
	}
	return out
}
