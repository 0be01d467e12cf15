package accountant

import (
	"fmt"
	"math"
)

// Event is one call of a mechanism, with the parameters that decide its privacy cost. The set is
// sealed and the meaning of an event never changes; every event is a comparable value. Whoever
// makes an event answers for its parameters: the sensitivity in a noise multiplier is that of the
// query under the adjacency in use.
type Event interface {
	event() string // its name in JSON
}

// Gaussian is the Gaussian mechanism: noise N(0, σ²I) on a vector whose Euclidean sensitivity is Δ,
// with z = σ/Δ. It is exactly (1/z)-GDP.
type Gaussian struct {
	NoiseMultiplier float64 `json:"noise_multiplier"` // z, above 0
}

// SubsampledGaussian is the Gaussian mechanism on the sum over a Poisson sample: each privacy unit
// is in the sample with probability q, independently, and adds a vector of Euclidean norm at most
// C; z = σ/C. C is the norm of one unit's part under both adjacencies: replace-one may move the sum
// by 2C, and the accountant knows that. A shuffled or fixed-size batch is not a Poisson sample.
type SubsampledGaussian struct {
	Rate            float64 `json:"rate"`             // q, 0 < q ≤ 1
	NoiseMultiplier float64 `json:"noise_multiplier"` // z, above 0
}

// Laplace is the Laplace mechanism with ε = Δ₁/scale, discrete or continuous, or any ε-DP step: its
// pair is randomised response, the largest of any ε-DP mechanism, which the discrete mechanism at
// sensitivity 1 is exactly (its privacy loss is ±ε and nothing between).
type Laplace struct {
	Epsilon float64 `json:"epsilon"` // above 0
}

// Exponential is the exponential mechanism P(t) ∝ exp(ε·u(t)/(2Δu)), or any other ε-bounded-range
// mechanism: the privacy losses of any two outcomes on a pair of neighbours differ by at most ε
// (Dong, Durfee, Rogers 2020, https://arxiv.org/abs/1909.13830).
type Exponential struct {
	Epsilon float64 `json:"epsilon"` // above 0
}

// Approx is any (ε, δ)-DP step.
type Approx struct {
	Epsilon float64 `json:"epsilon"` // 0 or more
	Delta   float64 `json:"delta"`   // 0 ≤ δ < 1
}

// GDPFilter is a budget of which μ_i-GDP calls are taken, chosen on the way, with Σμ_i² ≤ Mu². It
// costs what one Gaussian with noise multiplier 1/Mu does (docs/claims/gdpfilter.md). [FilterCost]
// says which events may be taken from it.
type GDPFilter struct {
	Mu float64 `json:"mu"` // above 0
}

func (Gaussian) event() string           { return "gaussian" }
func (SubsampledGaussian) event() string { return "subsampled-gaussian" }
func (Laplace) event() string            { return "laplace" }
func (Exponential) event() string        { return "exponential" }
func (Approx) event() string             { return "approx" }
func (GDPFilter) event() string          { return "pool" }

// validate reports a parameter out of its range, or an event that the accountant does not know, as
// ErrEvent.
func validate(e Event) error {
	positive := func(x float64) bool { return x > 0 && !math.IsInf(x, 1) }
	// the square of none is infinite, which would make the event free
	multiplier := func(z float64) bool { return z > 0 && z <= 1e150 }
	var ok bool
	var needs string
	switch e := e.(type) {
	case Gaussian:
		ok, needs = multiplier(e.NoiseMultiplier), "a noise multiplier above 0 and at most 1e150"
	case SubsampledGaussian:
		ok = e.Rate > 0 && e.Rate <= 1 && multiplier(e.NoiseMultiplier)
		needs = "a rate above 0 and at most 1, a noise multiplier above 0 and at most 1e150"
	case Laplace:
		ok, needs = positive(e.Epsilon), "a positive and finite epsilon"
	case Exponential:
		ok, needs = positive(e.Epsilon), "a positive and finite epsilon"
	case GDPFilter:
		ok, needs = positive(e.Mu), "a positive and finite mu"
	case Approx:
		ok = (e.Epsilon == 0 || positive(e.Epsilon)) && e.Delta >= 0 && e.Delta < 1
		needs = "a finite epsilon of 0 or more, a delta from 0 to below 1"
	default:
		return fmt.Errorf("unknown event: %w", ErrEvent)
	}
	if !ok {
		return fmt.Errorf("%s needs %s, not %v: %w", e.event(), needs, e, ErrEvent)
	}
	return nil
}
