package clipped

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/internal/kernels"
	"github.com/decoy-dp/decoy/table"
)

// AddPenaltySumTo adds to dst, in the order W¹, W², ... without biases, the sum over the selected
// rows (nil: all) of w·∇_W (‖∇_x D(x̂)‖₂ − 1)², in whole steps of factor² times that of a weight w.
// x̂ = αx + (1−α)g lies between the row and a generated row; α and which g it is are taken from one
// word of draw a row, in order (Gulrajani et al. 2017, arXiv 1704.00028, algorithm 1).
//
// For each layer the gradient is t·δᵀ, t⁰ = 2(‖∇_x D‖₂ − 1)·∇_x D/‖∇_x D‖₂ and t^l = φ'(s^l) ⊙
// (W^l)ᵀt^{l−1}. As in [critic.Critic.AddSumTo] both factors are computed in float32 from the row,
// its word and public numbers alone, rounded to whole multiples of factor and multiplied as
// integers. weight gets the rounded factors, t[l] and delta[l] those of layer l+1, valid during the
// call, and returns w, 0 to 256. factor is a power of two in [2⁻²⁶, 1]; no factor of the gradient
// may exceed 2³¹·factor.
func (c Critic) AddPenaltySumTo(
	dst []int64, factor float64, draw func() uint64, weight func(t, delta [][]float64) int64,
	columns []table.Codes, rows []int,
) {
	sizes := c.Sizes()
	if len(dst) != c.Weights() || len(c.Generated) == 0 || len(c.Generated)%sizes[0] != 0 {
		panic(fmt.Sprintf("clipped: a penalty's sum of %d numbers at %d generated inputs", len(dst),
			len(c.Generated)))
	}
	target := c.generated()
	var first []float32 // W¹ᵀ
	w, h := c.Network().Layers[0].Weights, sizes[1]
	for j := range h {
		for i := range sizes[0] {
			first = append(first, w[i*h+j])
		}
	}
	t := &factors{c: c, first: first, t: make([][]int64, len(sizes)-1)}
	// x̂ has s¹ between that of the row and that of g, as the first layer is affine.
	between := func(p *critic.Pass) {
		for i := range p.N {
			partner, rest := bits.Mul64(draw(), uint64(len(target)/h))
			alpha := float32(rest>>40) * 0x1p-24
			s, g := p.S[0][i*h:][:h], target[int(partner)*h:][:h]
			for j := range s {
				s[j] = alpha*s[j] + (1-alpha)*g[j]
			}
		}
	}
	c.Each(factor, columns, rows, between, func(p *critic.Pass) {
		t.compute(p)
		_, narrow := weigh(p.N, sizes, t.t, p.Delta, factor, weight)
		at := 0
		for l, delta := range p.Delta {
			in, units := sizes[l], sizes[l+1]
			if to := dst[at:][:in*units]; narrow {
				kernels.AddOuterTo(to, p.N, t.t[l], delta[:p.N*units])
			} else {
				for i := range p.N {
					addOuterTo(to, t.t[l][i*in:][:in], delta[i*units:][:units])
				}
			}
			at += in * units
		}
	})
}

// Weights is the number of weights, without biases.
func (c Critic) Weights() (n int) {
	for _, layer := range c.Network().Layers {
		n += len(layer.Weights)
	}
	return n
}

// generated is W¹ᵀg + b¹ of the generated rows, most of whose inputs are 0.
func (c Critic) generated() (out []float32) {
	first, inputs := c.Network().Layers[0], c.Sizes()[0]
	h := len(first.Bias)
	for g := c.Generated; len(g) > 0; g = g[inputs:] {
		s := append([]float32(nil), first.Bias...)
		for i, v := range g[:inputs] {
			if v != 0 {
				kernels.AddProductTo(s, g[i:i+1], first.Weights[i*h:][:h])
			}
		}
		out = append(out, s...)
	}
	return out
}

// factors are t⁰, t¹, ... of the rows of a pass.
type factors struct {
	c     Critic
	first []float32 // W¹ᵀ
	t     [][]int64 // in whole steps
}

// compute sets t of every layer.
func (f *factors) compute(p *critic.Pass) {
	sizes, layers := f.c.Sizes(), f.c.Network().Layers
	next := make([]float32, p.N*sizes[0])
	for i := range p.N {
		row := next[i*sizes[0]:][:sizes[0]] // ∇_x D
		kernels.AddProductTo(row, p.Delta1(i), f.first)
		var square float64
		for _, v := range row {
			square += float64(v) * float64(v)
		}
		factor := 0.
		if norm := math.Sqrt(square); norm > 0 {
			factor = 2 * (norm - 1) / norm
		}
		for j, v := range row {
			row[j] = float32(float64(v) * factor)
		}
	}
	for l := range f.t {
		f.t[l] = make([]int64, len(next))
		p.Round(f.t[l], next)
		if l == len(f.t)-1 {
			return
		}
		before, in, units := next, sizes[l], sizes[l+1]
		next = make([]float32, p.N*units)
		for i := range p.N {
			kernels.AddProductTo(next[i*units:][:units], before[i*in:][:in], layers[l].Weights)
		}
		kernels.DescendTo(next, p.S[l][:len(next)], f.c.Slope())
	}
}
