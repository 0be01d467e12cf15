package bounds

import (
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/privacy/accountant"
)

// finestPenalty is the finest factor grid F: coarser than the default, as the scales are larger.
const finestPenalty = 0x1p-12

// PenaltyConfig says what to certify of a gradient penalty.
type PenaltyConfig struct {
	Adjacency accountant.Adjacency // required
	UnitRows  int                  // most rows of one privacy unit; 0 means 1
	// of the norm bound, in (0, 1]: rows beyond are clipped. 1 clips none, but for rounding
	Reach float64
	// Z ≥ 0: the grid is made coarser than finestPenalty's if noise of Z times the scales would
	// have standard deviations of more than 2⁴⁷ steps.
	NoiseMultiplier float64
}

// PenaltyCertificate is an ellipsoid for the contributions of a row to the gradient, with respect
// to the weights W¹, W², ..., of the gradient penalty at a point that touches the row. The
// contribution is a product for each layer,
//
//	∇_{W^l} (‖∇_x D‖₂ − 1)² = t^{l−1}·(δ^l)ᵀ,
//	t⁰ = 2(‖∇_x D‖₂ − 1)·∇_x D/‖∇_x D‖₂,   t^l = φ'(s^l) ⊙ (W^l)ᵀt^{l−1},
//
// of norm at most B_l ([factors]). With n_l weights in layer l, ρ the reach and S = Σ_l
// √n_l·B_l the scales
//
//	c_l² = ρ²·B_l·S/√n_l    (all weights of a layer alike)
//
// give Σ_l (ρB_l)²/c_l² = 1 and of all scales that do so the least total variance, Σ_l n_l·c_l² =
// ρ²S², by the inequality of Cauchy and Schwarz.
//
// What a row contributes are the factors t and δ, rounded to multiples of F and multiplied exactly,
// times the weight that [PenaltyCertificate.Weight] gives for these very factors: the norm in the
// ellipsoid is then at most 1/n for n = UnitRows, half of that under replace-one, whatever
// arithmetic the factors were computed in, so that neighbouring batches have sums at most 1 apart
// in the norm ‖v/c‖₂. The bound decides how large the scales are, never whether this holds.
//
// Only [CertifyPenalty] makes one; it is immutable.
type PenaltyCertificate struct {
	sizes  []int
	factor float64
	scales []float64 // of each layer's weights
	limit  float64   // of a row's norm ‖v/c‖₂
	total  float64
}

// CertifyPenalty computes the ellipsoid of a network, whose first layer says how many inputs it
// has. Errors wrap errConfig, or [ErrNetwork] for a network that [Certify] would refuse by its
// shape or weights, for one with a bound of t or δ beyond 2²⁶·F, and for one of which a sum might
// overflow at a point whose inputs lie in [−1, 1] (see the package comment).
func CertifyPenalty(n Network, c PenaltyConfig) (*PenaltyCertificate, error) {
	if c.Adjacency != accountant.AddRemove && c.Adjacency != accountant.ReplaceOne {
		return nil, fmt.Errorf("a penalty: %w: adjacency must be add-remove or replace-one",
			errConfig)
	}
	if c.UnitRows < 0 || !(c.Reach > 0 && c.Reach <= 1) || !(c.NoiseMultiplier >= 0 &&
		c.NoiseMultiplier <= math.MaxFloat64) {
		return nil, fmt.Errorf(
			"a penalty: %w: %d rows a unit, reach %v of (0, 1], noise multiplier %v",
			errConfig,
			c.UnitRows, c.Reach, c.NoiseMultiplier)
	}
	sizes, err := n.Sizes(firstInputs(n))
	if err != nil {
		return nil, err
	}
	if err := checkSum(penaltySum(n, sizes)); err != nil {
		return nil, err
	}
	t, delta := factors(n, sizes)
	out := &PenaltyCertificate{sizes: sizes, factor: finestPenalty, scales: make([]float64, len(t)),
		limit: 1 / float64(max(c.UnitRows, 1))}
	if c.Adjacency == accountant.ReplaceOne {
		out.limit /= 2
	}
	weights := func(l int) float64 { return math.Sqrt(float64(len(n.Layers[l].Weights))) }
	for l := range t {
		if !(max(t[l], delta[l]) <= limit*finestPenalty) {
			return nil, fmt.Errorf("a penalty: %w: factors of the penalty's gradient may exceed %v",
				ErrNetwork, limit*finestPenalty)
		}
		t[l] = max(t[l]*delta[l], finestPenalty) // B_l; no scale is 0
		out.total += weights(l) * t[l]
	}
	reach := c.Reach / out.limit
	for l, b := range t {
		out.scales[l] = reach * math.Sqrt(b*out.total/weights(l))
	}
	out.total *= reach
	for largest := slices.Max(out.scales); out.factor < 1 &&
		c.NoiseMultiplier*largest > mostSteps*out.Grid(); {
		out.factor *= 4
	}
	return out, nil
}

// Coordinates is the length of the released vector: the number of weights, without biases.
func (p *PenaltyCertificate) Coordinates() (n int) {
	for l := range p.scales {
		n += p.sizes[l] * p.sizes[l+1]
	}
	return n
}

// Factor is F: implementations round t and δ to multiples of it before they multiply them.
func (p *PenaltyCertificate) Factor() float64 { return p.factor }

// Grid is the step of the released vector: F² times the step of a weight, 2⁻⁸.
func (p *PenaltyCertificate) Grid() float64 { return p.factor * p.factor * rowStep }

// ScalesTo sets dst to z·c, the standard deviations of the noise for noise multiplier z > 0. It
// panics unless dst has one element a coordinate.
func (p *PenaltyCertificate) ScalesTo(dst []float64, z float64) {
	length("scales", len(dst), p.Coordinates())
	for l, c := range p.scales {
		n := p.sizes[l] * p.sizes[l+1]
		for k := range dst[:n] {
			dst[k] = z * c
		}
		dst = dst[n:]
	}
}

// Weight returns the weight of a row, in steps of 2⁻⁸ from 0 to 256, by which its contribution is
// to be multiplied. t[l] and delta[l] hold the row's rounded factors of layer l+1: an element for
// each of its inputs and units. A row with a factor beyond 2³¹·F, which sums of int32 products
// would not hold, or that is not a number has weight 0. It panics if their lengths do not fit.
func (p *PenaltyCertificate) Weight(t, delta [][]float64) int64 {
	length("t", len(t), len(p.scales))
	length("delta", len(delta), len(p.scales))
	sum := 0.
	for l, c := range p.scales {
		length("t of a layer", len(t[l]), p.sizes[l])
		length("delta of a layer", len(delta[l]), p.sizes[l+1])
		sum += p.squares(t[l]) / c * (p.squares(delta[l]) / c)
	}
	norm := math.Sqrt(sum) * (1 + 0x1p-20) // more than the rounding of sums of 2²⁶ terms
	if !(norm <= math.MaxFloat64) {
		return 0
	}
	return int64(min(1, p.limit/norm) / rowStep)
}

// squares is +Inf if an element is beyond 2³¹·F or not a number.
func (p *PenaltyCertificate) squares(x []float64) (sum float64) {
	most := 0.
	for _, v := range x {
		sum += v * v
		most = max(most, math.Abs(v))
	}
	if !(most < 0x1p31*p.factor) {
		return math.Inf(1)
	}
	return sum
}

// DecodeTo sets gradient, in the order W¹, b¹, W², b², ..., to what a released vector, in steps of
// Grid, says of the sum; biases get 0. All of it is public. It panics on lengths that do not fit.
func (p *PenaltyCertificate) DecodeTo(gradient []float64, released []int64) {
	length("released", len(released), p.Coordinates())
	parameters := 0
	for l := range p.scales {
		parameters += (p.sizes[l] + 1) * p.sizes[l+1]
	}
	length("gradient", len(gradient), parameters)
	clear(gradient)
	for l := range p.scales {
		n := p.sizes[l] * p.sizes[l+1]
		for k, v := range released[:n] {
			gradient[k] = float64(v) * p.Grid()
		}
		gradient, released = gradient[n+p.sizes[l+1]:], released[n:]
	}
}

// TotalStd is the root of the total variance of the noise, per unit of z.
func (p *PenaltyCertificate) TotalStd() float64 { return p.total }
