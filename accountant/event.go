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
	event()
}

// Gaussian is the Gaussian mechanism: noise N(0, σ²I) on a vector whose Euclidean sensitivity is Δ,
// with z = σ/Δ. It is exactly (1/z)-GDP.
type Gaussian struct {
	NoiseMultiplier float64 // z > 0
}

// SubsampledGaussian is the Gaussian mechanism on the sum over a Poisson sample: each privacy unit
// is in the sample with probability q, independently, and adds a vector of Euclidean norm at most
// C; z = σ/C. C is the norm of one unit's part under both adjacencies: replace-one may move the sum
// by 2C, and the accountant knows that. A shuffled or fixed-size batch is not a Poisson sample.
type SubsampledGaussian struct {
	Rate            float64 // q, 0 < q ≤ 1
	NoiseMultiplier float64 // z > 0
}

// DiscreteGaussian adds P(x) ∝ exp(−x²/2σ²) on the integers to one integer that moves by at most
// Sensitivity; σ = z·Sensitivity. A query whose neighbours differ in k coordinates is k of these
// events.
type DiscreteGaussian struct {
	NoiseMultiplier float64 // z > 0
	Sensitivity     int64   // 1 to 2⁵³
}

// Laplace is the Laplace mechanism with ε = Δ₁/scale, discrete or continuous. Its privacy-loss
// distribution here is that of randomised response, the largest of any ε-DP mechanism: the discrete
// mechanism at sensitivity 1, which is what decoy releases, is exactly that (its privacy loss is ±ε
// and nothing between; δ(0) = tanh(ε/2)), so the smaller distribution of the continuous one would
// not be a bound.
type Laplace struct {
	Epsilon float64 // > 0
}

// Exponential is the exponential mechanism P(t) ∝ exp(ε·u(t)/(2Δu)), or any other ε-bounded-range
// mechanism: the privacy losses of any two outcomes on a pair of neighbours differ by at most ε
// (Dong, Durfee, Rogers 2020, https://arxiv.org/abs/1909.13830).
type Exponential struct {
	Epsilon float64 // > 0
}

// Approx is any (ε, δ)-DP step.
type Approx struct {
	Epsilon float64 // ≥ 0
	Delta   float64 // 0 ≤ δ < 1
}

func (Gaussian) event()           {}
func (SubsampledGaussian) event() {}
func (DiscreteGaussian) event()   {}
func (Laplace) event()            {}
func (Exponential) event()        {}
func (Approx) event()             {}
func (GDPFilter) event()          {}

// maxMultiplier bounds noise multipliers, so that the square of none is infinite and the event
// free.
const maxMultiplier = 1e150

// validate reports a parameter out of its range, or an event that the accountant does not know, as
// ErrEvent.
func validate(e Event) error {
	positive := func(name string, x float64) error {
		if !(x > 0) || math.IsInf(x, 1) {
			return fmt.Errorf("accountant: %s: %s %v must be positive and finite: %w", eventName(e), name, x,
				ErrEvent)
		}
		return nil
	}
	multiplier := func(z float64) error {
		if z > maxMultiplier {
			return fmt.Errorf("accountant: %s: noise multiplier %v must be at most %v: %w", eventName(e), z,
				maxMultiplier, ErrEvent)
		}
		return positive("noise multiplier", z)
	}
	switch e := e.(type) {
	case Gaussian:
		return multiplier(e.NoiseMultiplier)
	case SubsampledGaussian:
		if !(e.Rate > 0 && e.Rate <= 1) {
			return fmt.Errorf("accountant: subsampled-gaussian: rate %v must be above 0 and at most 1: %w",
				e.Rate, ErrEvent)
		}
		return multiplier(e.NoiseMultiplier)
	case DiscreteGaussian:
		if e.Sensitivity < 1 || e.Sensitivity > 1<<53 {
			return fmt.Errorf("accountant: discrete-gaussian: sensitivity %d must be from 1 to 2^53: %w",
				e.Sensitivity, ErrEvent)
		}
		return multiplier(e.NoiseMultiplier)
	case Laplace:
		return positive("epsilon", e.Epsilon)
	case Exponential:
		return positive("epsilon", e.Epsilon)
	case GDPFilter:
		return positive("mu", e.Mu)
	case Approx:
		if !(e.Epsilon >= 0) || math.IsInf(e.Epsilon, 1) || !(e.Delta >= 0 && e.Delta < 1) {
			return fmt.Errorf("accountant: approx: epsilon %v must be finite and not negative, delta %v "+
				"from 0 to below 1: %w", e.Epsilon, e.Delta, ErrEvent)
		}
		return nil
	}
	return fmt.Errorf("accountant: unknown event: %w", ErrEvent)
}

// eventRho returns the zCDP parameter ρ of one event, or false if it has none: Bun & Steinke 2016
// (Gaussian 1/(2z²), pure DP ε²/2, proposition 1.4), Canonne, Kamath, Steinke 2020 (discrete
// Gaussian 1/(2z²)), Cesar & Rogers 2021 (bounded range ε²/8, lemma 3.4), a filter as one Gaussian.
func eventRho(e Event) (float64, bool) {
	switch e := e.(type) {
	case Gaussian:
		return 1 / (2 * e.NoiseMultiplier * e.NoiseMultiplier), true
	case DiscreteGaussian:
		return 1 / (2 * e.NoiseMultiplier * e.NoiseMultiplier), true
	case Laplace:
		return e.Epsilon * e.Epsilon / 2, true
	case Exponential:
		return e.Epsilon * e.Epsilon / 8, true
	case GDPFilter:
		return e.Mu * e.Mu / 2, true
	case Approx:
		return e.Epsilon * e.Epsilon / 2, e.Delta == 0
	}
	return 0, false
}
