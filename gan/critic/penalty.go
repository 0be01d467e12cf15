package critic

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/kernels"
)

// AddPenaltySumTo adds to dst, in the order W¹, W², ... without biases, the sum over the selected
// rows (nil: all) of w·∇_W (‖∇_x D(x̂)‖₂ − 1)², in whole steps of factor² times that of a weight w.
// x̂ = αx + (1−α)g lies between the row and one of the generated rows, whose cells follow each
// other in generated; α and which g it is are taken from one word of draw a row, in order
// (Gulrajani et al. 2017, arXiv 1704.00028, algorithm 1). The critic has a hidden layer.
//
// For each layer the gradient is t·δᵀ, t⁰ = 2(‖∇_x D‖₂ − 1)·∇_x D/‖∇_x D‖₂ and t^l = φ'(s^l) ⊙
// (W^l)ᵀt^{l−1}. As in [Critic.AddSumTo] both factors are computed in float32 from the row, its
// word and public numbers alone, rounded to whole multiples of factor and multiplied as integers.
// weight gets the rounded factors, t[l] and delta[l] those of layer l+1, and returns w, 0 to 256.
// factor is a power of two in [2⁻²⁶, 1]; no factor of the gradient may exceed 2³¹·factor.
func (c *Critic) AddPenaltySumTo(
	dst []int64, factor float64, generated []float32, draw func() uint64, weight rowWeight,
	columns []table.Codes, rows []int,
) {
	if len(c.sizes) < 3 || len(dst) != c.countWeights() || len(generated) == 0 ||
		len(generated)%c.sizes[0] != 0 {
		panic(fmt.Sprintf("critic: a penalty's sum of %d numbers, of %d layers, at %d generated cells",
			len(dst), len(c.layers), len(generated)))
	}
	target, h := c.firstOf(generated), c.sizes[1]
	first := make([]float32, len(c.layers[0].Weights)) // W¹ᵀ
	transpose(first, c.layers[0].Weights, h)
	// x̂ has s¹ between that of the row and that of g, as the first layer is affine.
	between := func(p *pass) {
		for i := range p.rows {
			partner, rest := bits.Mul64(draw(), uint64(len(target)/h))
			alpha := float32(rest>>40) * 0x1p-24
			s, g := row(p.s[0], i, h), row(target, int(partner), h)
			for j := range s {
				s[j] = alpha*s[j] + (1-alpha)*g[j]
			}
		}
	}
	c.each(factor, columns, rows, between, func(p *pass) {
		t := p.penaltyFactors(first)
		_, narrow := p.weigh(t, weight)
		rest := dst
		for l, delta := range p.deltas {
			in, units := c.sizes[l], c.sizes[l+1]
			to := rest[:in*units]
			rest = rest[len(to):]
			if narrow {
				kernels.AddOuterTo(to, p.rows, t[l], delta[:p.rows*units])
				continue
			}
			for i := range p.rows {
				addOuterTo(to, row(t[l], i, in), row(delta, i, units))
			}
		}
	})
}

// countWeights is the number of weights, without biases.
func (c *Critic) countWeights() (n int) {
	for _, layer := range c.layers {
		n += len(layer.Weights)
	}
	return n
}

// firstOf is W¹ᵀg + b¹ of the generated rows, most of whose cells are 0.
func (c *Critic) firstOf(generated []float32) (out []float32) {
	first, inputs := c.layers[0], c.sizes[0]
	h := len(first.Bias)
	for g := generated; len(g) > 0; g = g[inputs:] {
		s := append([]float32(nil), first.Bias...)
		for i, v := range g[:inputs] {
			if v != 0 {
				kernels.AddProductTo(s, g[i:i+1], row(first.Weights, i, h))
			}
		}
		out = append(out, s...)
	}
	return out
}

// penaltyFactors is t⁰, t¹, ... of the rows, in whole steps. first is W¹ᵀ.
func (p *pass) penaltyFactors(first []float32) (t [][]int64) {
	sizes := p.c.sizes
	next := make([]float32, p.rows*sizes[0])
	for i := range p.rows {
		x := row(next, i, sizes[0]) // ∇_x D
		kernels.AddProductTo(x, row(p.delta[0], i, sizes[1]), first)
		var square float64
		for _, v := range x {
			square += float64(v) * float64(v)
		}
		factor := 0.
		if norm := math.Sqrt(square); norm > 0 {
			factor = 2 * (norm - 1) / norm
		}
		for j, v := range x {
			x[j] = float32(float64(v) * factor)
		}
	}
	for l, layer := range p.c.layers {
		if l > 0 {
			before, units := next, sizes[l]
			next = make([]float32, p.rows*units)
			for i := range p.rows {
				kernels.AddProductTo(row(next, i, units), row(before, i, sizes[l-1]),
					p.c.layers[l-1].Weights)
			}
			kernels.DescendTo(next, p.s[l-1][:len(next)], p.c.slope)
		}
		t = append(t, make([]int64, p.rows*len(layer.Weights)/len(layer.Bias)))
		p.round(t[l], next)
	}
	return t
}
