package accountant

import (
	"errors"
	"fmt"
	"math"
	"math/big"
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
		return fmt.Errorf("accountant: %s: count %d must be from 1 to %d: %w", c.Event.event(),
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
		return Bound{}, fmt.Errorf("accountant: delta %v must be from 0 to below 1: %w", delta,
			ErrBudgetRange)
	}
	var mu2, selectionsMu2 float64
	var selections upward
	var steps pureSteps
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
				return Bound{}, fmt.Errorf("accountant: %s: its cost needs privacy-loss distributions "+
					"(package accountant/pld): %w", e.event(), ErrNoFormula)
			}
		case Laplace:
			steps.add(charge.Count, e.Epsilon, 0)
		case Approx:
			steps.add(charge.Count, e.Epsilon, e.Delta)
		case Exponential:
			selections.add(n, e.Epsilon)
			selectionsMu2 += n * square(rangeMu(e.Epsilon))
		}
	}
	best := Bound{Epsilon: math.Inf(1), Delta: delta}
	leak := steps.leak.sum()
	if leak > delta { // also where λ > 1, of which the next line knows nothing
		return Bound{}, unbounded(delta)
	}
	rest := (delta - leak) / (1 - leak)
	if rest < MinDelta {
		rest = 0
	}
	consider := func(mu2, pure float64) {
		e, method := GDPEpsilon(math.Sqrt(mu2), rest), MethodGDP
		if mu2 == 0 {
			method = methodBasic
		}
		if e > 0 && pure > 0 {
			e = math.Nextafter(e+pure, math.Inf(1))
		} else {
			e += pure
		}
		if e < best.Epsilon {
			best.Epsilon, best.Slack, best.Method = e, e, method
		}
	}
	var all upward
	all.Add(&steps.sum.Float, &selections.Float)
	consider(mu2, all.sum())
	if selectionsMu2 > 0 {
		consider(mu2+selectionsMu2, steps.sum.sum())
	}
	if steps.equal > 0 {
		e := responsesEpsilon(mu2+selectionsMu2, steps.n, steps.equal, rest, best.Epsilon)
		best.Epsilon, best.Slack = e, min(best.Slack, e)
	}
	switch {
	case math.IsInf(best.Epsilon, 1):
		return Bound{}, unbounded(delta)
	case mu2 > 0 && all.sum() == 0:
		best.Slack = gdpSlack * best.Epsilon
	case delta == 0:
		best.Slack = 0 // randomised response with each ε reaches the sum
	}
	return best, nil
}

func unbounded(delta float64) error {
	return fmt.Errorf("accountant: the events have no finite epsilon at delta %v: %w", delta,
		ErrUnbounded)
}

// square is x², and not zero.
func square(x float64) float64 { return math.Max(x*x, math.SmallestNonzeroFloat64) }

// upward adds exactly, and rounds the sum away from zero.
type upward struct{ big.Float }

func (u *upward) add(n, x float64) {
	const exact = 2200 // bits, of every sum of products of float64s
	product := new(big.Float).SetPrec(exact).Mul(big.NewFloat(n), big.NewFloat(x))
	u.SetPrec(exact).Add(&u.Float, product)
}

func (u *upward) sum() float64 {
	x, accuracy := u.Float64()
	if accuracy == big.Below {
		x = math.Nextafter(x, math.Inf(1))
	}
	return x
}
