package gan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/decoy-dp/decoy/internal/kernels"
	"github.com/decoy-dp/decoy/table"
)

// CriticOptions sets the shape of a critic. Zero values are the defaults.
type CriticOptions struct {
	Hidden []int   // units of the hidden layers, default {64}
	Slope  float32 // of LeakyReLU, in [0, 1]; 0 is ReLU
}

// Critic is a fully connected network on the cells of a row: s^l = xᵀW^l + b^l, x^l = φ(s^l), φ =
// LeakyReLU, and D(x) = s^L is one number. It is safe for concurrent use as long as nobody writes
// its parameters.
type Critic struct {
	encoder    *Encoder
	slope      float32
	sizes      []int // inputs, units of every layer, the last 1
	parameters []float32
	layers     []affine   // views of parameters
	passes     *sync.Pool // of codePass, cleared; the critic's clones use it too
}

// NewCritic returns a critic with random weights from u: N(0, 1/(4·columns)) in the first layer,
// N(0, 2/in) in hidden ones after it, and N(0, 1/in) in the last; biases 0.
func NewCritic(e *Encoder, o CriticOptions, u *rand.Rand) (*Critic, error) {
	hidden := o.Hidden
	if hidden == nil {
		hidden = []int{64}
	}
	c, err := newCritic(e, hidden, o.Slope)
	if err != nil {
		return nil, err
	}
	for l, layer := range c.layers {
		sd := math.Sqrt(2 / float64(layer.w.Rows))
		if l == 0 {
			sd = .5 / math.Sqrt(float64(e.Columns()))
		} else if l == len(c.layers)-1 {
			sd = 1 / math.Sqrt(float64(layer.w.Rows))
		}
		for i := range layer.w.Data {
			layer.w.Data[i] = float32(sd * u.NormFloat64())
		}
	}
	return c, nil
}

// newCritic returns a critic with zero parameters.
func newCritic(e *Encoder, hidden []int, slope float32) (*Critic, error) {
	if !(slope >= 0 && slope <= 1) || len(hidden) == 0 || len(hidden) > maxLayers ||
		e.Cells() > maxCells {
		return nil, fmt.Errorf(
			"gan: a critic of %d hidden layers (1 to %d), slope %v (0 to 1) and %d cells (at most %d)", len(hidden), maxLayers, slope, e.Cells(), maxCells)
	}
	c := &Critic{encoder: e, slope: slope, sizes: []int{e.Inputs()}}
	total := 0
	for _, h := range append(append([]int(nil), hidden...), 1) {
		if h < 1 || h > maxHidden {
			return nil, fmt.Errorf("gan: a layer of %d units, not 1 to %d", h, maxHidden)
		}
		total += (c.sizes[len(c.sizes)-1] + 1) * h
		c.sizes = append(c.sizes, h)
	}
	c.parameters = make([]float32, total)
	c.layers = c.views(c.parameters)
	c.passes = &sync.Pool{New: func() any { return c.newCodePass() }}
	return c, nil
}

// views cuts parameters, or a gradient, into W¹, b¹, W², b², ...
func (c *Critic) views(p []float32) []affine {
	var out []affine
	for l := 1; l < len(c.sizes); l++ {
		in, units := c.sizes[l-1], c.sizes[l]
		n := in * units
		out = append(out, affine{kernels.Dense(in, units, p[:n:n]), p[n : n+units : n+units]})
		p = p[n+units:]
	}
	return out
}

// Encoder is the encoder of the rows that the critic scores.
func (c *Critic) Encoder() *Encoder { return c.encoder }

// Slope is that of LeakyReLU.
func (c *Critic) Slope() float32 { return c.slope }

// Layers is the number of layers, the last included.
func (c *Critic) Layers() int { return len(c.layers) }

// Layer gives the critic's own W^l, in × out row-major, and b^l; l from 0.
func (c *Critic) Layer(l int) (weights, bias []float32) { return c.layers[l].w.Data, c.layers[l].b }

// Parameters is the critic's own slice of W¹, b¹, W², b², ...: an optimiser writes it.
func (c *Critic) Parameters() []float32 { return c.parameters }

// Clone returns a copy that shares no parameters.
func (c *Critic) Clone() *Critic {
	d := *c
	d.parameters = append([]float32(nil), c.parameters...)
	d.layers = d.views(d.parameters)
	return &d
}

// forward runs the first n rows of the chunk. The first layer gathers one row of weights a column;
// each sum runs over the columns in order.
func (c *Critic) forward(p *codePass, n int) {
	c.forwardFirst(p, n)
	c.forwardRest(p, n)
}

// forwardFirst sets s of the first layer.
func (c *Critic) forwardFirst(p *codePass, n int) {
	first := c.layers[0]
	units := first.w.Cols
	for i := range n {
		s := p.s[0].Row(i)
		copy(s, first.b)
		for k, cell := range p.cells[i] {
			row := first.w.Data[int(cell)*units:][:len(s)]
			if c.encoder.isScaled(k) {
				v := p.values[i][k]
				for j, w := range row {
					s[j] += v * w
				}
				continue
			}
			kernels.AddTo(s, row)
		}
	}
}

// forwardRest goes on from s of the first layer.
func (c *Critic) forwardRest(p *codePass, n int) {
	for l := range c.layers {
		if l > 0 {
			c.layers[l].to(p.s[l].Head(n), p.x[l-1].Head(n))
		}
		kernels.LeakyReLUTo(p.x[l].Head(n).Data, p.s[l].Head(n).Data, c.slope)
	}
}

// backward sets delta^l = ∇_{s^l} D of the first n rows.
func (c *Critic) backward(p *codePass, n int) {
	last := len(c.layers) - 1
	for i := range n {
		p.delta[last].Data[i] = 1
	}
	for l := last - 1; l >= 0; l-- {
		d := p.delta[l].Head(n)
		kernels.MulTo(d, 1, p.delta[l+1].Head(n), c.layers[l+1].w.T(), 0)
		kernels.DescendTo(d.Data, p.s[l].Head(n).Data, c.slope)
	}
}

// selected is the number of rows selected; columns must be those of the encoder.
func (c *Critic) selected(columns []table.Codes, rows []int) int {
	if len(columns) != c.encoder.Columns() {
		panic(fmt.Sprintf("gan: %d columns for a critic of %d", len(columns), c.encoder.Columns()))
	}
	if rows != nil {
		return len(rows)
	}
	return columns[0].Len()
}

// ScoresTo sets dst to D of the selected rows of the columns; rows nil selects all. It panics on a
// code that its column does not have.
func (c *Critic) ScoresTo(dst []float32, columns []table.Codes, rows []int) {
	total := c.selected(columns, rows)
	if len(dst) != total {
		panic(fmt.Sprintf("gan: %d scores of %d rows", len(dst), total))
	}
	p := c.passes.Get().(*codePass)
	for first := 0; first < total; first += chunk {
		n := p.read(c.encoder, columns, rows, first, total)
		c.forward(p, n)
		copy(dst[first:first+n], p.s[len(c.layers)-1].Data)
	}
	p.clear(min(total, chunk))
	c.passes.Put(p)
}

// AddSumTo adds to dst the gradient Σ_rows ∇_θ D(x) over the selected rows (nil: all), in whole
// steps of factor², in the order of [Critic.Parameters]. If inputs is not nil it adds to it the sum
// of the rows' inputs: the number of rows with each cell active, and of a scaled column its sum in
// steps of factor.
//
// The sum is exact and does not depend on the order of rows: as package bounds asks, every factor
// of the gradient, the activations x^l and ∇_{s^l} D of hidden layers, is computed in float32 from
// its row alone and rounded to a whole multiple of factor before they are multiplied, and the
// products are summed as integers (which may wrap around). factor is a power of two in [2⁻²⁶, 1],
// and no factor of the gradient may exceed 2²⁶·factor; with scaled columns it is at most 2⁻¹⁶. It
// panics on a code that its column does not have.
func (c *Critic) AddSumTo(dst, inputs []int64, factor float64, columns []table.Codes, rows []int) {
	total := c.selected(columns, rows)
	if frac, _ := math.Frexp(factor); frac != .5 || factor < 0x1p-26 || factor > 1 {
		panic(fmt.Sprintf("gan: factor %v is not a power of two in [2^-26, 1]", factor))
	}
	if c.encoder.scaled != nil && factor > valueStep {
		panic(fmt.Sprintf("gan: factor %v is larger than the step of scaled inputs", factor))
	}
	if len(dst) != len(c.parameters) || inputs != nil && len(inputs) != c.sizes[0] {
		panic(fmt.Sprintf("gan: sums of %d and %d numbers for %d parameters and %d inputs",
			len(dst), len(inputs), len(c.parameters), c.sizes[0]))
	}
	p := c.passes.Get().(*codePass)
	one := int64(1 / factor)
	for first := 0; first < total; first += chunk {
		n := p.read(c.encoder, columns, rows, first, total)
		c.forward(p, n)
		c.backward(p, n)
		at := 0
		for l := range c.layers {
			in, units := c.sizes[l], c.sizes[l+1]
			delta := roundTo(p.delta64[:n*units], p.delta[l].Head(n).Data, one)
			if l == 0 {
				for i := range n {
					c.addInputs(dst, inputs, p, i, delta[i*units:][:units], one)
				}
			} else {
				x := roundTo(p.x64[:n*in], p.x[l-1].Head(n).Data, one)
				kernels.AddOuterTo(dst[at:][:in*units], n, x, delta)
			}
			at += in * units
			for i := range n {
				kernels.AddScaledTo(dst[at:][:units], int32(one), delta[i*units:][:units])
			}
			at += units
		}
	}
	p.clear(min(total, chunk))
	c.passes.Put(p)
}

// addInputs adds to the sums the first layer's weights of row i, of which delta is ∇_{s^1} D, and
// its inputs.
func (c *Critic) addInputs(dst, inputs []int64, p *codePass, i int, delta []int64, one int64) {
	for k, cell := range p.cells[i] {
		x, in := one, int64(1)
		if c.encoder.isScaled(k) {
			x = int64(p.values[i][k] * float32(one)) // exact
			in = x
		}
		kernels.AddScaledTo(dst[int(cell)*len(delta):][:len(delta)], int32(x), delta)
		if inputs != nil {
			inputs[cell] += in
		}
	}
}

// roundTo sets dst to x·one, rounded to the nearest integer, ties to even; one is a power of two.
func roundTo(dst []int64, x []float32, one int64) []int64 {
	kernels.RoundTo(dst, x, float64(one))
	return dst
}

func maxOf(x []int) int {
	m := 0
	for _, v := range x {
		m = max(m, v)
	}
	return m
}
