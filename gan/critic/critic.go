// Package critic is the part of a GAN that runs on private rows: the critic, and the exact sums
// over rows of the gradients of its score and of its gradient penalty. It keeps nothing of what it
// sees, adds no noise and cannot see the gate. Its arithmetic is the premise of the certificates of
// package bounds: what a row adds depends on that row and the weights alone.
package critic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/internal/kernels"
)

// Limits of a critic's size.
const (
	maxHidden = 1 << 12
	maxCells  = 1 << 22
	maxLayers = 16
)

// Options sets the shape of a critic. Zero values are the defaults.
type Options struct {
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
	layers     []kernels.Affine // views of parameters
	passes     *sync.Pool       // of pass, cleared; the critic's clones use it too
}

// New returns a critic with random weights from u: N(0, 1/(4·columns)) in the first layer,
// N(0, 2/in) in hidden ones after it, and N(0, 1/in) in the last; biases 0.
func New(e *Encoder, o Options, u *rand.Rand) (*Critic, error) {
	hidden := o.Hidden
	if hidden == nil {
		hidden = []int{64}
	}
	c, err := newCritic(e, hidden, o.Slope)
	if err != nil {
		return nil, err
	}
	for l, layer := range c.layers {
		sd := math.Sqrt(2 / float64(layer.W.Rows))
		if l == 0 {
			sd = .5 / math.Sqrt(float64(e.Columns()))
		} else if l == len(c.layers)-1 {
			sd = 1 / math.Sqrt(float64(layer.W.Rows))
		}
		for i := range layer.W.Data {
			layer.W.Data[i] = float32(sd * u.NormFloat64())
		}
	}
	return c, nil
}

// newCritic returns a critic with zero parameters.
func newCritic(e *Encoder, hidden []int, slope float32) (*Critic, error) {
	if !(slope >= 0 && slope <= 1) || len(hidden) == 0 || len(hidden) > maxLayers ||
		e.Cells() > maxCells {
		return nil, fmt.Errorf(
			"critic: %d hidden layers (1 to %d), slope %v (0 to 1), %d cells (to %d)",
			len(hidden), maxLayers, slope, e.Cells(), maxCells)
	}
	c := &Critic{encoder: e, slope: slope, sizes: []int{e.Inputs()}}
	total := 0
	for _, h := range append(append([]int(nil), hidden...), 1) {
		if h < 1 || h > maxHidden {
			return nil, fmt.Errorf("critic: a layer of %d units, not 1 to %d", h, maxHidden)
		}
		total += (c.sizes[len(c.sizes)-1] + 1) * h
		c.sizes = append(c.sizes, h)
	}
	c.parameters = make([]float32, total)
	c.layers = c.Views(c.parameters)
	c.passes = &sync.Pool{New: func() any { return c.newPass() }}
	return c, nil
}

// Views cuts parameters, or a gradient, into W¹, b¹, W², b², ...
func (c *Critic) Views(p []float32) (out []kernels.Affine) {
	for l := 1; l < len(c.sizes); l++ {
		in, units := c.sizes[l-1], c.sizes[l]
		n := in * units
		out = append(out, kernels.Affine{W: kernels.Dense(in, units, p[:n:n]),
			B: p[n : n+units : n+units]})
		p = p[n+units:]
	}
	return out
}

// Encoder is the encoder of the rows that the critic scores.
func (c *Critic) Encoder() *Encoder { return c.encoder }

// Slope is that of LeakyReLU.
func (c *Critic) Slope() float32 { return c.slope }

// Sizes are the number of inputs and of the units of each layer, the last 1.
func (c *Critic) Sizes() []int { return slices.Clone(c.sizes) }

// Network shows the weights, the critic's own.
func (c *Critic) Network() bounds.Network {
	n := bounds.Network{Slope: c.slope}
	for _, layer := range c.layers {
		n.Layers = append(n.Layers, bounds.Layer{Weights: layer.W.Data, Bias: layer.B})
	}
	return n
}

// Parameters is the critic's own slice of W¹, b¹, W², b², ...: an optimiser writes it.
func (c *Critic) Parameters() []float32 { return c.parameters }

// Clone returns a copy that shares no parameters.
func (c *Critic) Clone() *Critic {
	d := *c
	d.parameters = append([]float32(nil), c.parameters...)
	d.layers = d.Views(d.parameters)
	return &d
}

// forward runs the first n rows of the chunk. The first layer gathers one row of weights a column;
// each sum runs over the columns in order.
func (c *Critic) forward(p *pass, n int) {
	c.forwardFirst(p, n)
	c.forwardRest(p, n)
}

// forwardFirst sets s of the first layer.
func (c *Critic) forwardFirst(p *pass, n int) {
	first := c.layers[0]
	units := first.W.Cols
	for i := range n {
		s := p.s[0].Row(i)
		copy(s, first.B)
		for k, cell := range p.cells[i] {
			row := first.W.Data[int(cell)*units:][:len(s)]
			if c.encoder.IsScaled(k) {
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
func (c *Critic) forwardRest(p *pass, n int) {
	for l := range c.layers {
		if l > 0 {
			c.layers[l].To(p.s[l].Head(n), p.x[l-1].Head(n))
		}
		kernels.LeakyReLUTo(p.x[l].Head(n).Data, p.s[l].Head(n).Data, c.slope)
	}
}

// backward sets delta^l = ∇_{s^l} D of the first n rows.
func (c *Critic) backward(p *pass, n int) {
	last := len(c.layers) - 1
	for i := range n {
		p.delta[last].Data[i] = 1
	}
	for l := last - 1; l >= 0; l-- {
		d := p.delta[l].Head(n)
		kernels.MulTo(d, 1, p.delta[l+1].Head(n), c.layers[l+1].W.T(), 0)
		kernels.DescendTo(d.Data, p.s[l].Head(n).Data, c.slope)
	}
}
