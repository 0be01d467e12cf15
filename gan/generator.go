package gan

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/internal/kernels"
	"github.com/decoy-dp/decoy/internal/matrix"
)

// GeneratorOptions sets the size of a generator. Zero values are the defaults.
type GeneratorOptions struct {
	Latent int // latent numbers, default 16
	Hidden int // units of either hidden layer, default 128
}

const (
	defaultLatent = 16
	defaultHidden = 128
)

// Limits of the networks' sizes.
const (
	maxLatent = 1 << 12
	maxHidden = 1 << 12
	maxCells  = 1 << 22
)

// Generator is a residual network from latent noise to the cells of a row: with z ~ N(0, I),
//
//	x¹ = φ(zᵀW¹ + b¹),  x² = x¹ + φ(x¹ᵀW² + b²),  logits = x²ᵀW³ + b³,  φ = ReLU,
//
// and each block of cells is a draw from the softmax of its logits. Given z the columns are
// independent.
//
// It is safe for concurrent use as long as nobody writes its parameters.
type Generator struct {
	encoder        *critic.Encoder
	offsets        []int // first cell of each column, one more than columns
	latent, hidden int
	parameters     []float32
	layers         [3]matrix.Affine // views of parameters
}

// NewGenerator returns a generator with random weights from u: N(0, 2/in) in the hidden layers,
// N(0, 1/in) in the last; biases 0.
func NewGenerator(e *critic.Encoder, o GeneratorOptions, u *rand.Rand) (*Generator, error) {
	g, err := newGenerator(e, cmp.Or(o.Latent, defaultLatent), cmp.Or(o.Hidden, defaultHidden))
	if err != nil {
		return nil, err
	}
	for l, gain := range []float64{2, 2, 1} {
		w := g.layers[l].W
		sd := math.Sqrt(gain / float64(w.Rows))
		for i := range w.Data {
			w.Data[i] = float32(sd * u.NormFloat64())
		}
	}
	return g, nil
}

// newGenerator returns a generator with zero parameters.
func newGenerator(e *critic.Encoder, latent, hidden int) (*Generator, error) {
	if latent < 1 || latent > maxLatent || hidden < 1 || hidden > maxHidden ||
		e.Cells() > maxCells {
		return nil, fmt.Errorf(
			"a generator of %d latent numbers (1 to %d), %d units (1 to %d), %d cells (to %d)",
			latent, maxLatent, hidden, maxHidden, e.Cells(), maxCells)
	}
	g := &Generator{encoder: e, latent: latent, hidden: hidden}
	for k := range e.Columns() + 1 {
		g.offsets = append(g.offsets, e.Offset(k))
	}
	g.parameters = make([]float32, g.count())
	g.layers = g.views(g.parameters)
	return g, nil
}

// shapes are the inputs and outputs of the layers.
func (g *Generator) shapes() [3][2]int {
	return [3][2]int{{g.latent, g.hidden}, {g.hidden, g.hidden}, {g.hidden, g.encoder.Cells()}}
}

func (g *Generator) count() int {
	n := 0
	for _, s := range g.shapes() {
		n += (s[0] + 1) * s[1]
	}
	return n
}

// views cuts parameters, or a gradient, into W¹, b¹, W², b², W³, b³, in this order.
func (g *Generator) views(p []float32) (out [3]matrix.Affine) {
	for l, s := range g.shapes() {
		n := s[0] * s[1]
		out[l] = matrix.Affine{W: matrix.Dense(s[0], s[1], p[:n:n]), B: p[n : n+s[1] : n+s[1]]}
		p = p[n+s[1]:]
	}
	return out
}

// Encoder is the encoder of the generator's rows.
func (g *Generator) Encoder() *critic.Encoder { return g.encoder }

// Parameters is the generator's own slice of W¹, b¹, W², b², W³, b³, row-major: an optimiser writes
// it.
func (g *Generator) Parameters() []float32 { return g.parameters }

// setMarginals makes the last bias the logarithm of given probabilities of every cell, and the last
// weights smaller by factor, in [0, 1]: a start at independent columns. Probabilities are raised to
// at least 1e-4.
func (g *Generator) setMarginals(cells []float32, factor float32) {
	last := g.layers[2]
	if len(cells) != len(last.B) {
		panic(fmt.Sprintf("gan: %d marginal probabilities of %d cells", len(cells), len(last.B)))
	}
	for i, p := range cells {
		last.B[i] = float32(math.Log(max(float64(p), 1e-4)))
	}
	for i := range last.W.Data {
		last.W.Data[i] *= factor
	}
}

// Head says how a pass turns logits into cells. The zero value makes a relaxed draw, at temperature
// ½ (Jang, Gu, Poole 2017, arXiv 1611.01144).
type Head struct {
	// straight-through: cells are 0 or 1 and the gradient is that of the relaxed draw
	Hard bool
	// no draw: cells are their probabilities given the latent noise, at temperature 1
	Mean bool
}

// temperature is that of the softmax.
func (h Head) temperature() float32 {
	if h.Mean {
		return 1
	}
	return .5
}

// Pass runs a generator forward and backward on batches of one size. It is for one goroutine at a
// time.
type Pass struct {
	g              *Generator
	head           Head
	z              Matrix
	s1, x1, s2, x2 Matrix
	soft, out      Matrix
	noise          []float32
	down, side     Matrix // scratch for gradients of the hidden layers
	gradient       []float32
	parts          [3]matrix.Affine // views of gradient
}

// NewPass returns a pass of the given number of rows a batch, at least 1.
func (g *Generator) NewPass(batch int, head Head) *Pass {
	if batch < 1 {
		panic(fmt.Sprintf("gan: a pass of %d rows", batch))
	}
	hidden := func() Matrix { return matrix.New(batch, g.hidden) }
	p := &Pass{g: g, head: head, z: matrix.New(batch, g.latent), s1: hidden(), x1: hidden(),
		s2: hidden(), x2: hidden(), down: hidden(), side: hidden(),
		soft: matrix.New(batch, g.encoder.Cells()), gradient: make([]float32, g.count())}
	p.out = p.soft
	p.noise = make([]float32, len(p.soft.Data))
	if head.Mean {
		p.noise = nil
	}
	if head.Hard {
		p.out = matrix.New(batch, g.encoder.Cells())
	}
	p.parts = g.views(p.gradient)
	return p
}

// Forward draws latent and Gumbel noise from u and returns a batch of rows: relaxed one-hot cells,
// or hard ones. The matrix is the pass's own, valid until the next call.
func (p *Pass) Forward(u *rand.Rand) Matrix {
	for i := range p.z.Data {
		p.z.Data[i] = float32(u.NormFloat64())
	}
	if p.noise != nil {
		matrix.GumbelTo(p.noise, u)
	}
	return p.forward()
}

// forward runs on the latent and Gumbel noise that p holds.
func (p *Pass) forward() Matrix {
	l := &p.g.layers
	l[0].To(p.s1, p.z)
	kernels.LeakyReLUTo(p.x1.Data, p.s1.Data, 0)
	l[1].To(p.s2, p.x1)
	kernels.LeakyReLUTo(p.x2.Data, p.s2.Data, 0)
	kernels.AddTo(p.x2.Data, p.x1.Data)
	l[2].To(p.soft, p.x2)
	matrix.SoftmaxTo(p.soft, p.noise, p.g.offsets, p.head.temperature())
	if p.head.Hard {
		p.harden()
	}
	return p.out
}

// harden writes the hard draw, the largest cell of each block, to out.
func (p *Pass) harden() {
	clear(p.out.Data)
	for i := range p.soft.Rows {
		row, out := p.soft.Row(i), p.out.Row(i)
		for k, first := range p.g.offsets[:len(p.g.offsets)-1] {
			out[first+largest(row[first:p.g.offsets[k+1]])] = 1
		}
	}
}

// largest is the place of the largest of positive numbers, the first of equals: their bits are
// ordered as they are, and below them stands the place. No branches.
func largest(block []float32) int {
	top := uint64(0)
	for c, v := range block {
		top = max(top, uint64(math.Float32bits(v))<<32|uint64(^uint32(c)))
	}
	return int(^uint32(top))
}

// Backward takes the gradient of a loss with respect to the rows of the last Forward and returns
// that with respect to [Generator.Parameters]. It overwrites its argument; the result is the pass's
// own, valid until the next call.
func (p *Pass) Backward(rows Matrix) []float32 {
	l := &p.g.layers
	matrix.SoftmaxBackTo(rows, p.soft, p.g.offsets, p.head.temperature())
	collect(p.parts[2], p.x2, rows)
	matrix.MulTo(p.down, 1, rows, l[2].W.T(), 0) // ∇x²
	copy(p.side.Data, p.down.Data)
	kernels.DescendTo(p.side.Data, p.s2.Data, 0) // ∇s²
	collect(p.parts[1], p.x1, p.side)
	matrix.MulTo(p.down, 1, p.side, l[1].W.T(), 1) // ∇x¹
	kernels.DescendTo(p.down.Data, p.s1.Data, 0)   // ∇s¹
	collect(p.parts[0], p.z, p.down)
	return p.gradient
}

// collect sets a to the gradients of W and b from those of s = xW + b.
func collect(a matrix.Affine, x, s Matrix) {
	matrix.MulTo(a.W, 1, x.T(), s, 0)
	columnSums(a.B, s)
}

// Sample draws n rows, column-major codes, with randomness from u alone. Every row is valid.
func (g *Generator) Sample(n int, u *rand.Rand) [][]uint16 {
	codes := make([][]uint16, g.encoder.Columns())
	for k := range codes {
		codes[k] = make([]uint16, n)
	}
	const batch = 1024
	p := g.NewPass(batch, Head{})
	for first := 0; first < n; first += batch {
		x := p.Forward(u)
		for i := range min(batch, n-first) {
			for k := range codes {
				codes[k][first+i] = uint16(largest(x.Row(i)[g.offsets[k]:g.offsets[k+1]]))
			}
		}
	}
	return codes
}
