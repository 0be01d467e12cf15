package bounds

import (
	"math"
	"slices"
)

// PenaltyNorms bounds what one evaluation of the gradient penalty at a point that touches a private
// row may add to the gradient of each layer's weights: element l is
//
//	2·max(‖∇_x D‖₂ − 1, 1)·Π_{k≠l} ‖W^k‖₂ ≥ ‖∇_{W^l} (‖∇_x D‖₂ − 1)²‖_F.
//
// ∇_x D = A·W^l·b with A = W¹Φ¹⋯Φ^{l−1} and b = Φ^l⋯W^L, Φ the diagonal matrices of φ', whose
// operator norm is at most 1. Where it exists, the derivative is 2(‖∇_x D‖ − 1)·Aᵀ(∇_x D/‖∇_x
// D‖)bᵀ, of Frobenius norm at most 2|‖∇_x D‖ − 1|·‖A‖₂·‖b‖. φ' is constant between kinks, so biases
// get nothing. (Pedersen's thesis, section on WGAN-GP, has Frobenius norms in the place of operator
// norms; spectralNorm says how these are bounded.)
//
// gradient is a bound of ‖∇_x D‖₂ over the points that are used, at least 0; +Inf stands for none,
// and Π_k ‖W^k‖₂ is used where it is less. At generated points the penalty touches no private row
// and needs no bound. It returns an error for a network that Certify would refuse, and panics if
// gradient is negative or NaN.
func PenaltyNorms[T Float](n Network[T], gradient float64) ([]float64, error) {
	if !(gradient >= 0) {
		panic("bounds: a gradient norm that is negative or NaN")
	}
	net, err := load(n, inputsOf(n))
	if err != nil {
		return nil, err
	}
	t, delta := net.penaltyFactors(gradient)
	for l := range t {
		t[l] *= delta[l]
	}
	return t, nil
}

// inputsOf is the number of inputs that the first layer says it has.
func inputsOf[T Float](n Network[T]) int {
	if len(n.Layers) == 0 || len(n.Layers[0].Bias) == 0 {
		return 0
	}
	return len(n.Layers[0].Weights) / len(n.Layers[0].Bias)
}

// penaltySums is the largest Σ|terms| of any sum that a critic computes for the penalty at a point
// with inputs in [−1, 1]: for s, for δ, for ∇_x D, which is the first δ with one more layer, and
// for t, which begins with at most twice that or 2.
func (n *network) penaltySums() (largest float64) {
	last := len(n.w) - 1
	forward := func(x []float64, bias bool) {
		for l, w := range n.w {
			h := n.sizes[l+1]
			next := make([]float64, h)
			for i, x := range x {
				for j := range next {
					next[j] += x * math.Abs(w.at(i*h+j))
				}
			}
			for j, b := range n.b[l] {
				if bias {
					next[j] += math.Abs(b)
				}
			}
			x, largest = next, max(largest, slices.Max(next))
		}
	}
	ones := make([]float64, n.sizes[0])
	for i := range ones {
		ones[i] = 1
	}
	forward(ones, true)
	delta := []float64{1}
	for l := last; l >= 0; l-- {
		next := make([]float64, n.sizes[l])
		for i := range next {
			for j, d := range delta {
				next[i] += math.Abs(n.w[l].at(i*len(delta)+j)) * d
			}
		}
		delta, largest = next, max(largest, slices.Max(next))
	}
	for i := range delta {
		delta[i] = 2 * max(delta[i], 1)
	}
	forward(delta, false)
	return largest
}

// penaltyFactors bounds, for each layer, 2(‖∇_x D‖ − 1)·‖A‖₂ and ‖b‖.
func (n *network) penaltyFactors(gradient float64) (t, delta []float64) {
	norms := make([]float64, len(n.w))
	product := 1.
	for l, w := range n.w {
		norms[l] = spectralNorm(w.copied(), n.sizes[l], n.sizes[l+1])
		product *= norms[l]
	}
	t, delta = make([]float64, len(norms)), make([]float64, len(norms))
	below, above := 2*max(min(gradient, product)-1, 1), 1.
	for l := range norms {
		t[l] = below
		below *= norms[l]
	}
	for l := len(norms) - 1; l >= 0; l-- {
		delta[l] = above
		above *= norms[l]
	}
	return t, delta
}
