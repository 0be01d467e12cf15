package bounds

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// ErrNetwork is wrapped by every error about a network: a shape that does not fit, a weight that is not finite, bounds too large.
var ErrNetwork = errors.New("invalid network")

// Float is the type that the critic computes in. It sets the unit roundoff that a certificate allows for.
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

// network is a Network in float64, checked.
type network struct {
	slope, u float64
	sizes    []int       // inputs, units of each layer, the last 1
	w, b     [][]float64 // of layer l = 0..len(sizes)-2
	slab     *[]float64  // what w and b are cut from
}

// slabs are reused: a copy of the weights is made and dropped at every step of a training run.
var slabs = sync.Pool{New: func() any { return new([]float64) }}

// drop gives the copy of the weights back. The network must not be used after it.
func (n *network) drop() { slabs.Put(n.slab) }

// load checks n against the number of inputs and copies it into float64.
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
	total := 0
	for _, layer := range n.Layers {
		total += len(layer.Weights) + len(layer.Bias)
	}
	out.slab = slabs.Get().(*[]float64)
	*out.slab = slices.Grow((*out.slab)[:0], total)[:total]
	rest := *out.slab
	for l, layer := range n.Layers {
		in, units := out.sizes[l], len(layer.Bias)
		if units == 0 || len(layer.Weights) != in*units {
			return nil, fmt.Errorf("bounds: %w: layer %d has %d weights and %d biases for %d inputs", ErrNetwork, l+1, len(layer.Weights), units, in)
		}
		w, b := rest[:in*units:in*units], rest[in*units:(in+1)*units:(in+1)*units]
		rest = rest[(in+1)*units:]
		if !convert(w, layer.Weights) || !convert(b, layer.Bias) {
			return nil, fmt.Errorf("bounds: %w: layer %d has a weight that is not finite", ErrNetwork, l+1)
		}
		out.w, out.b, out.sizes = append(out.w, w), append(out.b, b), append(out.sizes, units)
	}
	if last := out.sizes[len(n.Layers)]; last != 1 {
		return nil, fmt.Errorf("bounds: %w: the last layer has %d units, a critic has 1", ErrNetwork, last)
	}
	return out, nil
}

// convert copies src to dst and reports whether all of it is finite.
func convert[T Float](dst []float64, src []T) bool {
	dst = dst[:len(src)]
	var bad [4]T // x·0 is NaN for what is not finite; in four chains, as one would wait for each addition
	for ; len(src) >= 4; src, dst = src[4:], dst[4:] {
		a, b, c, d := src[0], src[1], src[2], src[3]
		bad[0] += a * 0
		bad[1] += b * 0
		bad[2] += c * 0
		bad[3] += d * 0
		dst[0], dst[1], dst[2], dst[3] = float64(a), float64(b), float64(c), float64(d)
	}
	for i, x := range src {
		dst[i] = float64(x)
		bad[0] += x * 0
	}
	return bad[0]+bad[1]+bad[2]+bad[3] == 0
}

// parameters is the number of weights and biases.
func (n *network) parameters() int {
	total := 0
	for l := range n.w {
		total += len(n.w[l]) + len(n.b[l])
	}
	return total
}
