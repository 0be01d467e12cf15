package bounds

import (
	"math"
	"slices"
)

// factors bounds the norms of the two factors of the penalty's gradient in each layer's weights, at
// any point: 2(‖∇_x D‖₂ − 1)·‖A‖₂ and ‖b‖ of
//
//	2·max(‖∇_x D‖₂ − 1, 1)·Π_{k≠l} ‖W^k‖₂ ≥ ‖∇_{W^l} (‖∇_x D‖₂ − 1)²‖_F.
//
// ∇_x D = A·W^l·b with A = W¹Φ¹⋯Φ^{l−1} and b = Φ^l⋯W^L, Φ the diagonal matrices of φ', whose
// operator norm is at most 1. Where it exists, the derivative is 2(‖∇_x D‖ − 1)·Aᵀ(∇_x D/‖∇_x
// D‖)bᵀ, of Frobenius norm at most 2|‖∇_x D‖ − 1|·‖A‖₂·‖b‖. φ' is constant between kinks, so biases
// get nothing. ‖∇_x D‖₂ is at most Π_k ‖W^k‖₂. (Pedersen's thesis, section on WGAN-GP, has
// Frobenius norms in the place of operator norms.)
func factors(n Network, sizes []int) (t, delta []float64) {
	norms := make([]float64, len(n.Layers))
	product := 1.
	for l, layer := range n.Layers {
		w := make([]float64, len(layer.Weights))
		for i, x := range layer.Weights {
			w[i] = float64(x)
		}
		norms[l] = spectralNorm(w, sizes[l], sizes[l+1])
		product *= norms[l]
	}
	t, delta = make([]float64, len(norms)), make([]float64, len(norms))
	below, above := 2*max(product-1, 1), 1.
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

// firstInputs is the number of inputs that the first layer says it has.
func firstInputs(n Network) int {
	if len(n.Layers) == 0 || len(n.Layers[0].Bias) == 0 {
		return 0
	}
	return len(n.Layers[0].Weights) / len(n.Layers[0].Bias)
}

// penaltySum is the largest Σ|terms| of any sum that a critic computes for the penalty at a point
// with inputs in [−1, 1]: for s, for δ, for ∇_x D, which is the first δ with one more layer, and
// for t, which begins with at most twice that or 2.
func penaltySum(n Network, sizes []int) (largest float64) {
	weight := func(l, i, j int) float64 {
		return math.Abs(float64(n.Layers[l].Weights[i*sizes[l+1]+j]))
	}
	forward := func(x []float64, bias float64) {
		for l, layer := range n.Layers {
			next := make([]float64, sizes[l+1])
			for j := range next {
				next[j] = bias * math.Abs(float64(layer.Bias[j]))
			}
			for i, x := range x {
				for j := range next {
					next[j] += x * weight(l, i, j)
				}
			}
			x, largest = next, max(largest, slices.Max(next))
		}
	}
	forward(slices.Repeat([]float64{1}, sizes[0]), 1)
	delta := []float64{1}
	for l := len(n.Layers) - 1; l >= 0; l-- {
		next := make([]float64, sizes[l])
		for i := range next {
			for j, d := range delta {
				next[i] += weight(l, i, j) * d
			}
		}
		delta, largest = next, max(largest, slices.Max(next))
	}
	for i := range delta {
		delta[i] = 2 * max(delta[i], 1)
	}
	forward(delta, 0)
	return largest
}
