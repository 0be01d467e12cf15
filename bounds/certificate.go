package bounds

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/privacy/accountant"
)

// defaultFactor is the factor grid F when a Config has none.
const defaultFactor = 0x1p-16

// mostSteps is the largest standard deviation of noise, in steps of its grid, for which a grid is
// made.
const mostSteps = 0x1p47

// errConfig is wrapped by every error about a Config.
var errConfig = errors.New("invalid certificate configuration")

// Config says what to certify. The zero value with an Adjacency is valid.
type Config struct {
	Mode      Mode
	Adjacency accountant.Adjacency // required
	UnitRows  int                  // most rows of one privacy unit; 0 means 1
	// F, a power of two in [2⁻²⁶, 1]; 0 means defaultFactor, or what NoiseMultiplier needs
	Factor float64
	// Z ≥ 0: without a Factor the grid is made coarser than defaultFactor's if noise of Z times the
	// scales would have standard deviations of more than 2⁴⁷ steps, which noise.RoundedGaussian does
	// not draw.
	NoiseMultiplier float64
}

// Certificate is an ellipsoid for the contributions of a row to a released vector, whose
// coordinates are, in order, the sum of the inputs (mode Residual only) and the gradients of W¹
// (row-major, inputs × units), b¹, W², b², ...
//
// Let v(x) be a row's part of the released vector after [Certificate.EncodeTo] (less the centre,
// and in mode Residual less what is predicted). For every row x of the domain, every rounding that
// the package comment allows, and the scales c:
//
//	add/remove:   Σ_k (v_k(x)/c_k)² ≤ 1/n²,
//	replace-one:  Σ_k ((v_k(x) − v_k(x'))/c_k)² ≤ 1/n²   for any two rows,
//	              and Σ_k (v_k(x)/c_k)² ≤ 1/n²,
//
// n = Config.UnitRows. So neighbouring batches, which differ in a unit of up to n rows, have
// encoded sums at most 1 apart in the norm ‖v/c‖₂ (of a replaced unit with i rows for one with j ≤
// i, j differences of two and i − j single rows). Noise with standard deviation z·c_k on coordinate
// k is a Gaussian mechanism of noise multiplier z, of a subsample if rows are drawn. In modes
// that clip this holds for clipped rows only.
//
// Only [Certify] makes one; it is immutable.
type Certificate struct {
	mode     Mode
	unitRows int
	factor   float64
	sizes    []int // inputs, units of each layer
	fields   []Field

	scales   []float64 // c
	centre   []int64   // μ in steps of F²
	norm     float64   // bound of ‖v(x)/c‖·n for one row
	total    float64
	residual *residual
}

// Certify computes the certificate of a network over an input domain. It costs O(weights). Errors
// wrap errConfig, or [ErrNetwork] for a shape that does not fit or is too large, weights that are
// not finite, activations or gradients that may exceed 2²⁶·F, and sums that may overflow (see the
// package comment).
func Certify(n Network, in *Input, c Config) (*Certificate, error) {
	sizes, err := n.Sizes(in.size)
	if err != nil {
		return nil, err
	}
	net := &network{slope: float64(n.Slope), sizes: sizes, layers: n.Layers}
	coarser := c.Factor == 0
	if c, err = c.checked(); err != nil {
		return nil, err
	}
	for ; ; c.Factor *= 4 {
		b, err := measure(net, in, c)
		if err != nil {
			return nil, err
		}
		out := b.certificate(in, c)
		if err = out.drawn(c.NoiseMultiplier); err == nil || !coarser || c.Factor == 1 {
			return out, err
		}
	}
}

// drawn refuses noise of z times the scales that is too large to be drawn on the grid.
func (c *Certificate) drawn(z float64) error {
	if most := z * slices.Max(c.scales) / c.Grid(); !(most <= mostSteps) {
		return fmt.Errorf("%w: noise of %.3g steps, at most %.3g", errConfig, most, mostSteps)
	}
	return nil
}

// checked fills in the defaults.
func (c Config) checked() (Config, error) {
	if c.Adjacency != accountant.AddRemove && c.Adjacency != accountant.ReplaceOne {
		return c, fmt.Errorf("%w: adjacency must be add-remove or replace-one", errConfig)
	}
	if err := c.Mode.way().err; err != nil {
		return c, fmt.Errorf("%w: %w", errConfig, err)
	}
	if c.UnitRows < 0 {
		return c, fmt.Errorf("%w: %d rows a unit", errConfig, c.UnitRows)
	}
	c.UnitRows = max(c.UnitRows, 1)
	c.Factor = cmp.Or(c.Factor, defaultFactor)
	if f, _ := math.Frexp(c.Factor); f != .5 || c.Factor < 0x1p-26 || c.Factor > 1 {
		return c, fmt.Errorf("%w: factor %v is not a power of two in [2^-26, 1]", errConfig,
			c.Factor)
	}
	if !(c.NoiseMultiplier >= 0 && c.NoiseMultiplier <= math.MaxFloat64) {
		return c, fmt.Errorf("%w: noise multiplier %v", errConfig, c.NoiseMultiplier)
	}
	return c, nil
}

// Factor is F: implementations round x and δ to multiples of it before they multiply them.
func (c *Certificate) Factor() float64 { return c.factor }

// Coordinates is the length of the released vector.
func (c *Certificate) Coordinates() int { return len(c.scales) }

// Inputs is the number of leading coordinates that hold the sum of the inputs: 0 unless the mode is
// Residual.
func (c *Certificate) Inputs() int {
	if c.residual == nil {
		return 0
	}
	return c.sizes[0]
}

// Sizes are the number of inputs and of the units of each layer, the last 1.
func (c *Certificate) Sizes() []int { return slices.Clone(c.sizes) }

// Parameters is the number of weights and biases of the network.
func (c *Certificate) Parameters() int { return len(c.scales) - c.Inputs() }

// ScalesTo sets dst to z·c, the standard deviations of the noise for noise multiplier z > 0. It
// panics unless dst has one element a coordinate.
func (c *Certificate) ScalesTo(dst []float64, z float64) {
	length("scales", len(dst), len(c.scales))
	for k, scale := range c.scales {
		dst[k] = z * scale
	}
}

// Scales returns a copy of c.
func (c *Certificate) Scales() []float64 { return slices.Clone(c.scales) }

// Centre returns μ, one row's centre, in units of the data: EncodeTo takes it off.
func (c *Certificate) Centre() []float64 {
	out := make([]float64, len(c.centre))
	for k, mu := range c.centre {
		out[k] = float64(mu) * c.factor * c.factor
	}
	return out
}
