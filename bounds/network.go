package bounds

import (
	"errors"
	"fmt"
	"slices"
)

// ErrNetwork is wrapped by every error about a network: a shape that does not fit, a weight that is
// not finite, bounds too large.
var ErrNetwork = errors.New("invalid network")

// Layer is one affine map s = Wᵀx + b. The slices stay the caller's and are only read.
type Layer struct {
	Weights []float32 // in × out, row-major: Weights[i*out+j] is W_ij, from input i to unit j
	Bias    []float32 // out
}

// Network is a fully connected critic: affine layers with φ between them, the last with one output.
type Network struct {
	Slope  float32 // α of LeakyReLU, 0 ≤ α ≤ 1; 0 is ReLU
	Layers []Layer // one or more; the last has one unit
}

// network is a Network that was checked. It shares the weights.
type network struct {
	slope  float64
	sizes  []int // inputs, units of each layer, the last 1
	layers []Layer
}

// Sums of more terms than widest, in float32, have no useful error bound; certificates allow in
// float64 for the rounding of sums over mostParameters terms.
const (
	widest         = 1 << 22
	mostParameters = 1 << 26
)

// Sizes checks the network for so many inputs and returns its sizes: the inputs, and the units of
// each layer. Errors wrap [ErrNetwork].
func (n Network) Sizes(inputs int) ([]int, error) {
	refuse := func(format string, args ...any) ([]int, error) {
		return nil, fmt.Errorf("%w: %s", ErrNetwork, fmt.Sprintf(format, args...))
	}
	if !(n.Slope >= 0 && n.Slope <= 1) {
		return refuse("slope %v is not in [0, 1]", n.Slope)
	}
	if len(n.Layers) == 0 {
		return refuse("no layers")
	}
	sizes, parameters := []int{inputs}, 0
	for l, layer := range n.Layers {
		in, units := sizes[l], len(layer.Bias)
		if units == 0 || len(layer.Weights) != in*units {
			return refuse("layer %d has %d weights and %d biases for %d inputs",
				l+1, len(layer.Weights), units, in)
		}
		if !finite(layer.Weights) || !finite(layer.Bias) {
			return refuse("layer %d has a weight that is not finite", l+1)
		}
		sizes, parameters = append(sizes, units), parameters+(in+1)*units
	}
	if last := sizes[len(n.Layers)]; last != 1 {
		return refuse("the last layer has %d units, a critic has 1", last)
	}
	if width := slices.Max(sizes); width > widest || parameters > mostParameters {
		return refuse("a layer of %d numbers (at most %d) or %d parameters (at most %d)",
			width, widest, parameters, mostParameters)
	}
	return sizes, nil
}

// finite reports whether all of x is: x·0 is NaN for what is not. In four chains, as one would wait
// for each addition.
func finite(x []float32) bool {
	var a, b, c, d float32
	for ; len(x) >= 4; x = x[4:] {
		a += x[0] * 0
		b += x[1] * 0
		c += x[2] * 0
		d += x[3] * 0
	}
	for _, x := range x {
		a += x * 0
	}
	return a+b+(c+d) == 0
}

// parameters is the number of weights and biases.
func (n *network) parameters() (total int) {
	for l, units := range n.sizes[1:] {
		total += (n.sizes[l] + 1) * units
	}
	return total
}

// first is W¹_ij.
func (n *network) first(i, j int) float64 { return float64(n.layers[0].Weights[i*n.sizes[1]+j]) }
