package critic

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/decoy-dp/decoy/internal/kernels"
	"github.com/decoy-dp/decoy/table"
)

// Penalised is a critic and the generated rows, as it sees them, that its gradient penalty is taken
// towards.
type Penalised struct {
	*Critic
	Generated kernels.Matrix
}

// AddPenaltySumTo adds to dst, in the order W¹, W², ... without biases, the sum over the selected
// rows (nil: all) of w·∇_W (‖∇_x D(x̂)‖₂ − 1)², in whole steps of factor² times that of a weight w.
// x̂ = αx + (1−α)g lies between the row and a generated row; α and which g it is are taken from one
// word of draw a row, in order (Gulrajani et al. 2017, arXiv 1704.00028, algorithm 1).
//
// For each layer the gradient is t·δᵀ, t⁰ = 2(‖∇_x D‖₂ − 1)·∇_x D/‖∇_x D‖₂ and t^l = φ'(s^l) ⊙
// (W^l)ᵀt^{l−1}. As in [Critic.AddSumTo] both factors are computed in float32 from the row, its
// word and public numbers alone, rounded to whole multiples of factor and multiplied as integers.
// weight gets the rounded factors, t[l] and delta[l] those of layer l+1, valid during the call, and
// returns w, 0 to 256. factor is a power of two in [2⁻²⁶, 1]; no factor of the gradient may exceed
// 2³¹·factor.
func (c Penalised) AddPenaltySumTo(
	dst []int64, factor float64, draw func() uint64, weight func(t, delta [][]float64) int64,
	columns []table.Codes, rows []int,
) {
	total, one := c.selected(columns, rows), steps(factor)
	if len(dst) != c.Weights() || c.Generated.Rows == 0 || c.Generated.Cols != c.sizes[0] {
		panic(fmt.Sprintf("critic: a penalty's sum of %d numbers at %d generated rows of %d",
			len(dst), c.Generated.Rows, c.Generated.Cols))
	}
	p := c.newPenaltyPass(c.Generated)
	t := make([][]int64, len(c.layers))
	for l := range t {
		t[l] = make([]int64, chunk*c.sizes[l])
	}
	for first := 0; first < total; first += chunk {
		n := p.read(c.encoder, columns, rows, first, total)
		p.between(n, draw)
		p.factors(n)
		for l := range t {
			round(t[l], p.t[l].Head(n), one)
			round(p.delta64[l], p.delta[l].Head(n), one)
		}
		wide := make([]bool, len(t))
		c.weigh(wide, t, p.delta64, n, factor, weight)
		at := 0
		for l := range t {
			size := c.sizes[l] * c.sizes[l+1]
			addOuterTo(dst[at:][:size], n, t[l], p.delta64[l], wide[l])
			at += size
		}
	}
}

// Weights is the number of weights, without biases.
func (c *Critic) Weights() (n int) {
	for _, layer := range c.layers {
		n += len(layer.W.Data)
	}
	return n
}

// penaltyPass is a pass at points between its rows and generated ones.
type penaltyPass struct {
	*pass
	c      *Critic
	target kernels.Matrix   // W¹ᵀg + b¹ of the generated rows
	t      []kernels.Matrix // factors t⁰, t¹, ...
}

func (c *Critic) newPenaltyPass(generated kernels.Matrix) *penaltyPass {
	p := &penaltyPass{pass: c.newPass(), c: c, target: kernels.New(generated.Rows,
		c.sizes[1])}
	c.layers[0].To(p.target, generated)
	for _, units := range c.sizes[:len(c.sizes)-1] {
		p.t = append(p.t, kernels.New(chunk, units))
	}
	return p
}

// between runs the critic at x̂ for the first n rows of the chunk. The first layer is affine, so
// its s at x̂ lies between those at x and g.
func (p *penaltyPass) between(n int, draw func() uint64) {
	p.c.forwardFirst(p.pass, n)
	for i := range n {
		partner, rest := bits.Mul64(draw(), uint64(p.target.Rows))
		alpha := float32(rest>>40) * 0x1p-24
		s, g := p.s[0].Row(i), p.target.Row(int(partner))
		for j := range s {
			s[j] = alpha*s[j] + (1-alpha)*g[j]
		}
	}
	p.c.forwardRest(p.pass, n)
	p.c.backward(p.pass, n)
}

// factors computes t of every layer for the first n rows of the chunk.
func (p *penaltyPass) factors(n int) {
	c := p.c
	kernels.MulTo(p.t[0].Head(n), 1, p.delta[0].Head(n), c.layers[0].W.T(), 0)
	for i := range n {
		row := p.t[0].Row(i) // ∇_x D
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
	for l := 1; l < len(p.t); l++ {
		to := p.t[l].Head(n)
		kernels.MulTo(to, 1, p.t[l-1].Head(n), c.layers[l-1].W, 0)
		kernels.DescendTo(to.Data, p.s[l-1].Head(n).Data, c.slope)
	}
}
