package bounds

import "math"

// PenaltyNorms bounds what one evaluation of the gradient penalty at a point that touches a private row may add to the gradient of
// each layer's weights: element l is
//
//	2·max(‖∇_x D‖₂ − 1, 1)·Π_{k≠l} ‖W^k‖_F ≥ ‖∇_{W^l} (‖∇_x D‖₂ − 1)²‖_F.
//
// ∇_x D = A·W^l·b with A = W¹Φ¹⋯Φ^{l−1} and b = Φ^l⋯W^L, Φ the diagonal matrices of φ', whose operator norm is at most 1. Where it exists, the
// derivative is 2(‖∇_x D‖ − 1)·Aᵀ(∇_x D/‖∇_x D‖)bᵀ, of Frobenius norm at most 2|‖∇_x D‖ − 1|·‖A‖·‖b‖. φ' is constant between kinks, so biases
// get nothing. (Pedersen's thesis, section on WGAN-GP.)
//
// gradient is a bound of ‖∇_x D‖₂ over the points that are used, at least 0; +Inf stands for none, and Π_k ‖W^k‖_F is used where it is less.
// At generated points the penalty touches no private row and needs no bound. It returns an error for a network that Certify would
// refuse, and panics if gradient is negative or NaN.
func PenaltyNorms[T Float](n Network[T], gradient float64) ([]float64, error) {
	if !(gradient >= 0) {
		panic("bounds: a gradient norm that is negative or NaN")
	}
	inputs := 0
	if len(n.Layers) > 0 && len(n.Layers[0].Bias) > 0 {
		inputs = len(n.Layers[0].Weights) / len(n.Layers[0].Bias)
	}
	net, err := load(n, inputs)
	if err != nil {
		return nil, err
	}
	norms := make([]float64, len(net.w))
	product := 1.
	for l, w := range net.w {
		sum := 0.
		for _, w := range w {
			sum += w * w
		}
		norms[l] = math.Sqrt(sum) * inflate
		product *= norms[l]
	}
	factor := 2 * max(min(gradient, product)-1, 1)
	out := make([]float64, len(norms))
	for l := range out {
		out[l] = factor
		for k, norm := range norms {
			if k != l {
				out[l] *= norm
			}
		}
	}
	return out, nil
}
