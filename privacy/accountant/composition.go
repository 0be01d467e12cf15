package accountant

import (
	"errors"
	"fmt"
	"math"
)

// Charge is Count calls of one event.
type Charge struct {
	Event Event
	Count int // 1 to 2⁴⁰
}

// maxCount keeps sums of counts from overflowing.
const maxCount = 1 << 40

func (c Charge) validate() error {
	if err := validate(c.Event); err != nil {
		return err
	}
	if c.Count < 1 || c.Count > maxCount {
		return fmt.Errorf("%s: count %d must be from 1 to %d: %w", c.Event.event(),
			c.Count, maxCount, ErrEvent)
	}
	return nil
}

// Composition is a multiset of events. The program may choose the order in which it calls them, and
// their queries, from earlier outputs (docs/claims/session.md). The empty composition costs
// nothing. In JSON: [{"event":"gaussian","noise_multiplier":3.7,"count":15}, ...]; an unknown key
// or event is an error.
type Composition []Charge

// validate reports the first invalid charge as ErrEvent.
func (c Composition) validate() error {
	for _, charge := range c {
		if err := charge.validate(); err != nil {
			return err
		}
	}
	return nil
}

// Bound is a proven upper bound on the cost of a composition: it is (Epsilon, Delta)-DP.
type Bound struct {
	Epsilon float64
	Delta   float64
	Method  string // "gdp", "basic", or of package pld "pld" or "rdp"
	// Slack is proven too: Epsilon − Slack ≤ ε* ≤ Epsilon, where ε* is the smallest ε at this Delta
	// that holds for every choice of mechanisms with these events. It may be all of Epsilon.
	Slack float64
}

// The methods of a Bound by closed formulas.
const (
	MethodGDP   = "gdp"
	methodBasic = "basic"
)

// Pricer bounds the ε of a composition at delta, 0 ≤ delta < 1. One is [Composition.Epsilon], the
// default wherever a Pricer may be nil. That of package pld is tighter and knows every event.
type Pricer func(c Composition, delta float64, adj Adjacency) (Bound, error)

// Epsilon bounds ε by p, or by closed formulas if p is nil.
func (p Pricer) Epsilon(c Composition, delta float64, adj Adjacency) (Bound, error) {
	if p == nil {
		p = Composition.Epsilon
	}
	return p(c, delta, adj)
}

// gdpSlack is the relative slack of the closed form: rounding only, for μ ≥ 1e-6.
const gdpSlack = 1e-6

// Epsilon bounds ε at delta, 0 ≤ delta < 1, by closed formulas:
//
//	ε = ε_μ((δ − λ)/(1 − λ)) + Σ ε_i,   μ² = Σ μ_j²,   λ = Σ δ_i ≥ 1 − ∏(1 − δ_i)
//
// with ε_μ the curve of μ-GDP ([GDPEpsilon]). The first sum has the Laplace and Approx events
// (basic composition), the second the Gaussian ones and filters (Dong, Roth, Su 2022, corollary 2);
// Exponential events are in one of the two, whichever is cheaper ([FilterCost]). An (ε, δ)-DP step
// is one that tells all with probability δ_i and is else ε_i-DP (Kairouz, Oh, Viswanath 2017).
// Laplace and Approx events of one ε cost less than their sum where that is less
// ([responsesEpsilon]). With Gaussian events and filters, or with them and such steps, it is exact.
//
// The errors are ErrBudgetRange (delta), ErrEvent (an invalid event or adjacency), ErrUnbounded (no
// finite ε at this delta) and ErrNoFormula (an event that only package pld can price).
func (c Composition) Epsilon(delta float64, adj Adjacency) (Bound, error) {
	if err := errors.Join(adj.Validate(), c.validate()); err != nil {
		return Bound{}, err
	}
	if !(delta >= 0 && delta < 1) {
		return Bound{}, fmt.Errorf("delta %v must be from 0 to below 1: %w", delta,
			ErrBudgetRange)
	}
	mu2, steps := 0., pureSteps{}
	for _, charge := range c {
		n := float64(charge.Count)
		switch e := charge.Event.(type) {
		case Gaussian:
			mu2 += n / (e.NoiseMultiplier * e.NoiseMultiplier)
		case GDPFilter:
			mu2 += n * square(e.Mu)
		case SubsampledGaussian:
			scale := 1.0 // every unit is in the sample
			if adj == ReplaceOne {
				scale = 4 // its vector may turn round
			}
			mu2 += scale * n / (e.NoiseMultiplier * e.NoiseMultiplier)
			if e.Rate < 1 {
				return Bound{}, fmt.Errorf("%s: its cost needs privacy-loss distributions "+
					"(package privacy/accountant/pld): %w", e.event(), ErrNoFormula)
			}
		default:
			steps.add(charge)
		}
	}
	if steps.some {
		return steps.bound(mu2, delta)
	}
	rest := delta
	if rest < MinDelta {
		rest = 0
	}
	out := Bound{Epsilon: GDPEpsilon(math.Sqrt(mu2), rest), Delta: delta, Method: MethodGDP}
	if math.IsInf(out.Epsilon, 1) {
		return Bound{}, unbounded(delta)
	}
	if out.Slack = gdpSlack * out.Epsilon; mu2 == 0 {
		out.Method = methodBasic
	}
	return out, nil
}

func unbounded(delta float64) error {
	return fmt.Errorf("the events have no finite epsilon at delta %v: %w", delta,
		ErrUnbounded)
}

// square is x², and not zero.
func square(x float64) float64 { return math.Max(x*x, math.SmallestNonzeroFloat64) }
