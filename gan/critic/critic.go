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

	"github.com/decoy-dp/decoy/bounds"
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
	layers     []bounds.Layer // views of parameters
}

// New returns a critic with random weights from u: N(0, 1/(4·columns)) in the first layer,
// N(0, 2/in) in hidden ones after it, and N(0, 1/in) in the last; biases 0.
func New(e *Encoder, o Options, u *rand.Rand) (*Critic, error) {
	hidden := o.Hidden
	if hidden == nil {
		hidden = []int{64}
	} else if len(hidden) == 0 {
		return nil, fmt.Errorf("no hidden layer")
	}
	c, err := newCritic(e, hidden, o.Slope)
	if err != nil {
		return nil, err
	}
	for l, layer := range c.layers {
		sd := math.Sqrt(2 / float64(c.sizes[l]))
		if l == 0 {
			sd = .5 / math.Sqrt(float64(e.Columns()))
		} else if l == len(c.layers)-1 {
			sd = 1 / math.Sqrt(float64(c.sizes[l]))
		}
		for i := range layer.Weights {
			layer.Weights[i] = float32(sd * u.NormFloat64())
		}
	}
	return c, nil
}

// Of returns a critic with a copy of the weights of a network, which may have no hidden layer.
// Errors about weights and shapes wrap bounds.ErrNetwork.
func Of(e *Encoder, n bounds.Network) (*Critic, error) {
	sizes, err := n.Sizes(e.Cells())
	if err != nil {
		return nil, err
	}
	c, err := newCritic(e, sizes[1:len(sizes)-1], n.Slope)
	if err != nil {
		return nil, err
	}
	for l, layer := range n.Layers {
		copy(c.layers[l].Weights, layer.Weights)
		copy(c.layers[l].Bias, layer.Bias)
	}
	return c, nil
}

// newCritic returns a critic with zero parameters.
func newCritic(e *Encoder, hidden []int, slope float32) (*Critic, error) {
	if !(slope >= 0 && slope <= 1) || len(hidden) > maxLayers || e.Cells() > maxCells {
		return nil, fmt.Errorf(
			"%d hidden layers (to %d), slope %v (0 to 1), %d cells (to %d)",
			len(hidden), maxLayers, slope, e.Cells(), maxCells)
	}
	c := &Critic{encoder: e, slope: slope, sizes: []int{e.Cells()}}
	total := 0
	for _, h := range append(append([]int(nil), hidden...), 1) {
		if h < 1 || h > maxHidden {
			return nil, fmt.Errorf("a layer of %d units, not 1 to %d", h, maxHidden)
		}
		total += (c.sizes[len(c.sizes)-1] + 1) * h
		c.sizes = append(c.sizes, h)
	}
	c.parameters = make([]float32, total)
	c.layers = c.Views(c.parameters)
	return c, nil
}

// Views cuts parameters, or a gradient, into W¹, b¹, W², b², ...
func (c *Critic) Views(p []float32) (out []bounds.Layer) {
	for l := 1; l < len(c.sizes); l++ {
		n, units := c.sizes[l-1]*c.sizes[l], c.sizes[l]
		out = append(out, bounds.Layer{Weights: p[:n:n], Bias: p[n : n+units : n+units]})
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
	return bounds.Network{Slope: c.slope, Layers: slices.Clone(c.layers)}
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
