package bounds

import (
	"errors"
	"fmt"
	"slices"
)

// ErrNetwork is wrapped by every error about a network: a shape that does not fit, a weight that is
// not finite, bounds too large.
var ErrNetwork = errors.New("invalid network")

// Float is the type that the critic computes in. It sets the unit roundoff that a certificate
// allows for.
type Float interface{ float32 | float64 }

// Layer is one affine map s = Wᵀx + b. The slices stay the caller's and are only read.
type Layer[T Float] struct {
	Weights []T // in × out, row-major: Weights[i*out+j] is W_ij, from input i to unit j
	Bias    []T // out
}

// Network is a fully connected critic: affine layers with φ between them, the last with one output.
type Network[T Float] struct {
	Slope  T          // α of LeakyReLU, 0 ≤ α ≤ 1; 0 is ReLU
	Layers []Layer[T] // one or more; the last has one unit
}

// network is a Network that was checked, of either type. It shares the weights.
type network struct {
	slope, u float64
	sizes    []int     // inputs, units of each layer, the last 1
	w        []weights // of layer l = 0..len(sizes)-2
	b        [][]float64
}

// weights are those of a layer, row-major, as they are: a copy in float64 would take as long as all
// else that is done with them.
type weights struct {
	single []float32 // one of the two is nil
	double []float64
}

func (w weights) len() int { return len(w.single) + len(w.double) }

// at is element i.
func (w weights) at(i int) float64 {
	if w.single != nil {
		return float64(w.single[i])
	}
	return w.double[i]
}

// copied is all of them.
func (w weights) copied() []float64 {
	out := make([]float64, w.len())
	for i := range out {
		out[i] = w.at(i)
	}
	return out
}

// Sums of more terms than widest, in float32, have no useful error bound; certificates allow in
// float64 for the rounding of sums over mostParameters terms.
const (
	widest         = 1 << 22
	mostParameters = 1 << 26
)

// load checks n against the number of inputs.
func load[T Float](n Network[T], inputs int) (*network, error) {
	out := &network{slope: float64(n.Slope), u: unit64, sizes: []int{inputs}}
	if _, single := any(n.Slope).(float32); single {
		out.u = 0x1p-24
	}
	if !(out.slope >= 0 && out.slope <= 1) {
		return nil, fmt.Errorf("bounds: %w: slope %v is not in [0, 1]", ErrNetwork, out.slope)
	}
	if len(n.Layers) == 0 {
		return nil, fmt.Errorf("bounds: %w: no layers", ErrNetwork)
	}
	for l, layer := range n.Layers {
		in, units := out.sizes[l], len(layer.Bias)
		if units == 0 || len(layer.Weights) != in*units {
			return nil, fmt.Errorf(
				"bounds: %w: layer %d has %d weights and %d biases for %d inputs", ErrNetwork, l+1,
				len(layer.Weights), units, in)
		}
		if !finite(layer.Weights) || !finite(layer.Bias) {
			return nil, fmt.Errorf("bounds: %w: layer %d has a weight that is not finite",
				ErrNetwork, l+1)
		}
		var w weights
		switch x := any(layer.Weights).(type) {
		case []float32:
			w.single = x
		case []float64:
			w.double = x
		}
		b := make([]float64, units)
		for j, x := range layer.Bias {
			b[j] = float64(x)
		}
		out.w, out.b, out.sizes = append(out.w, w), append(out.b, b), append(out.sizes, units)
	}
	if last := out.sizes[len(n.Layers)]; last != 1 {
		return nil, fmt.Errorf("bounds: %w: the last layer has %d units, a critic has 1",
			ErrNetwork, last)
	}
	if width, all := slices.Max(out.sizes), out.parameters(); width > widest ||
		all > mostParameters {
		return nil, fmt.Errorf(
			"bounds: %w: a layer of %d numbers (at most %d) or %d parameters (at most %d)",
			ErrNetwork, width, widest, all, mostParameters)
	}
	return out, nil
}

// finite reports whether all of x is: x·0 is NaN for what is not. In four chains, as one would wait
// for each addition.
func finite[T Float](x []T) bool {
	var a, b, c, d T
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
func (n *network) parameters() int {
	total := 0
	for l := range n.w {
		total += n.w[l].len() + len(n.b[l])
	}
	return total
}
