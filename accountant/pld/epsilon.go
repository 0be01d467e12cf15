// Package pld prices compositions by privacy-loss distributions: subsampled and mixed plans, and
// the last per cent of every other. It is the other [accountant.Pricer] beside closed formulas.
//
// Every event stands for a dominating pair (P, Q) of distributions, whose hockey-stick divergence
// is at least that of the mechanism on any neighbours, at every order (Zhu, Dong, Wang 2022,
// https://arxiv.org/abs/2106.08567). The pairs are composed on a grid, with every rounding,
// truncation, wrap-around and floating-point error on the private side: files pld.go and profile.go
// say how each is bounded. Under add-remove both orders of a pair are composed and the larger cost
// counts. Exponential events have no single pair that is tight in composition; the argument for
// them is in boundedrange.go. Beside it stand Rényi DP and the closed formulas; the least bound
// counts.
package pld

import (
	"errors"
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/accountant"
)

// The methods of a bound beside those of package accountant.
const (
	MethodPLD = "pld"
	MethodRDP = "rdp"
)

const ulp = 1.0 / (1 << 53) // the unit roundoff of float64

// Epsilon returns the best bound on ε at delta, 0 ≤ delta < 1: the closed form of GDP for Gaussian
// events alone, else the smallest of the numerical composition of privacy-loss distributions (PLD),
// Rényi DP (which includes zCDP) and the closed formulas. The errors are accountant.ErrBudgetRange
// (delta), ErrEvent (an invalid event or adjacency) and ErrUnbounded (no finite ε at this delta: a
// Gaussian at δ = 0, or Approx events that spend more).
func Epsilon(
	c accountant.Composition, delta float64, adj accountant.Adjacency,
) (accountant.Bound, error) {
	return epsilon(c, delta, adj, fine)
}

// Upper is Epsilon with no lower bound, for less work: its Slack is all of the ε.
func Upper(
	c accountant.Composition, delta float64, adj accountant.Adjacency,
) (accountant.Bound, error) {
	return epsilon(c, delta, adj, search)
}

func epsilon(
	c accountant.Composition, delta float64, adj accountant.Adjacency, acc accuracy,
) (accountant.Bound, error) {
	best, alpha, err := cheap(c, delta, adj)
	if err == nil && alpha > 0 {
		best = pldEpsilon(c, best, alpha-1, adj, acc)
	}
	return best, err
}

// RDP bounds ε by Rényi DP and the closed formulas, whichever is less. It is cheap, and tells where
// to look for more. Its errors are those of Epsilon.
func RDP(
	c accountant.Composition, delta float64, adj accountant.Adjacency,
) (accountant.Bound, error) {
	best, _, err := cheap(c, delta, adj)
	return best, err
}

// cheap is RDP with the best order, 0 if closed formulas alone are exact or best.
func cheap(
	c accountant.Composition, delta float64, adj accountant.Adjacency,
) (best accountant.Bound, alpha float64, err error) {
	best, err = c.Epsilon(delta, adj)
	switch {
	case errors.Is(err, accountant.ErrNoFormula), errors.Is(err, accountant.ErrUnbounded):
		best = accountant.Bound{Epsilon: math.Inf(1), Delta: delta, Method: accountant.MethodBasic}
	case err != nil:
		return accountant.Bound{}, 0, err
	}
	rest := (delta - leak(c)) / (1 - leak(c)) // what the Approx events leave
	if _, exact := gdp(c, adj); !exact && rest > 0 {
		r, order := rdpEpsilon(pure(c), rest, adj)
		alpha = order
		best = better(best, accountant.Bound{Epsilon: math.Max(0, r), Delta: delta, Method: MethodRDP})
		best.Slack = best.Epsilon // the true ε is not negative
	}
	if math.IsInf(best.Epsilon, 1) {
		return accountant.Bound{}, 0,
			fmt.Errorf("pld: the events have no finite epsilon at delta %v: %w", delta,
				accountant.ErrUnbounded)
	}
	return best, alpha, nil
}

// Delta returns the best bound on δ at epsilon, 0 ≤ epsilon < ∞. A δ of 1 says nothing. The errors
// are those of Epsilon.
func Delta(
	c accountant.Composition, epsilon float64, adj accountant.Adjacency,
) (accountant.Bound, error) {
	return delta(c, epsilon, adj, fine)
}

func delta(
	c accountant.Composition, epsilon float64, adj accountant.Adjacency, acc accuracy,
) (accountant.Bound, error) {
	if err := validate(c, adj); err != nil {
		return accountant.Bound{}, err
	}
	if !(epsilon >= 0) || math.IsInf(epsilon, 1) {
		return accountant.Bound{}, fmt.Errorf("pld: epsilon %v must be finite and not negative: %w",
			epsilon, accountant.ErrBudgetRange)
	}
	best := accountant.Bound{Epsilon: epsilon, Slack: epsilon}
	if mu, ok := gdp(c, adj); ok && mu > 0 {
		best.Delta, best.Method = accountant.GDPDelta(mu, epsilon), accountant.MethodGDP
		best.Slack = 1e-6 * epsilon // rounding only
		return best, nil
	}
	leak := leak(c)
	if sum := basic(c); sum <= epsilon {
		best.Delta, best.Method, best.Slack = leak, accountant.MethodBasic, epsilon-sum
		return best, nil
	}
	logDelta, alpha := rdpDelta(pure(c), epsilon, adj)
	rdp := math.Min(1, math.Exp(logDelta))
	best.Delta, best.Method = leak+(1-leak)*rdp, MethodRDP
	return pldDelta(c, best, alpha, adj, acc), nil
}

func validate(c accountant.Composition, adj accountant.Adjacency) error {
	if err := adj.Validate(); err != nil {
		return err
	}
	return c.Validate()
}

// pldEpsilon returns the better of best and the bound by privacy-loss distributions, with its
// Slack. lambda is the tilt: the best Rényi order less 1.
func pldEpsilon(
	c accountant.Composition, best accountant.Bound, lambda float64, adj accountant.Adjacency,
	acc accuracy,
) accountant.Bound {
	if best.Epsilon == 0 {
		return best
	}
	p, ok := newPlan(c, best.Delta, adj, acc)
	if !ok {
		return best
	}
	h := p.grid(rdp(pure(c), 2, adj), acc)
	profiles, ok := p.profiles(h, lambda, above)
	if !ok {
		return best
	}
	upper := highest(profiles, best.Delta)
	best = better(best, accountant.Bound{Epsilon: upper, Delta: best.Delta, Method: MethodPLD})
	best.Slack = best.Epsilon
	if acc.lower {
		best.Slack = best.Epsilon - math.Min(best.Epsilon, p.lowest(profiles, h, lambda, best.Delta))
	}
	return best
}

// highest returns the largest of the profiles' ε at delta.
func highest(profiles []profile, delta float64) float64 {
	epsilon := 0.0
	for _, c := range profiles {
		epsilon = math.Max(epsilon, c.upper(delta))
	}
	return epsilon
}

// pldDelta returns the better of best and the bound by privacy-loss distributions.
func pldDelta(
	c accountant.Composition, best accountant.Bound, alpha float64, adj accountant.Adjacency,
	acc accuracy,
) accountant.Bound {
	p, ok := newPlan(c, best.Delta, adj, acc)
	if !ok {
		return best
	}
	h := p.grid(rdp(pure(c), 2, adj), acc)
	profiles, ok := p.profiles(h, alpha-1, above)
	if !ok {
		return best
	}
	upper := 0.0
	for _, c := range profiles {
		upper = math.Max(upper, c.delta(best.Epsilon))
	}
	if upper < best.Delta {
		best.Delta, best.Method = upper, MethodPLD
	}
	if acc.lower {
		best.Slack = best.Epsilon - math.Min(best.Epsilon, p.lowest(profiles, h, alpha-1, best.Delta))
	}
	return best
}

// lowest returns an ε below which the composition is not (ε, delta)-DP in the worst case.
func (p *plan) lowest(upper []profile, h, lambda, delta float64) float64 {
	if len(p.ranges) == 0 {
		return lowestOf(upper, delta)
	}
	lowest, tries := 0.0, shares
	if _, ok := p.ranges[p.adapts]; ok && len(p.ranges) == 1 {
		tries = shares[:1] // nothing keeps its t
	}
	for _, share := range tries {
		if profiles, ok := p.profiles(h, lambda, share); ok {
			lowest = math.Max(lowest, lowestOf(profiles, delta))
		}
	}
	return lowest
}

// lowestOf returns the largest of the profiles' lower ε at delta.
func lowestOf(profiles []profile, delta float64) float64 {
	epsilon := 0.0
	for _, c := range profiles {
		epsilon = math.Max(epsilon, c.lower(delta))
	}
	return epsilon
}

// better returns the bound with the smaller ε, the first if they are equal.
func better(a, b accountant.Bound) accountant.Bound {
	if b.Epsilon < a.Epsilon {
		return b
	}
	return a
}

// basic returns Σε if all events are pure or Approx; else +Inf.
func basic(c accountant.Composition) float64 {
	sum := 0.0
	for _, charge := range c {
		switch e := charge.Event.(type) {
		case accountant.Laplace:
			sum += float64(charge.Count) * e.Epsilon
		case accountant.Exponential:
			sum += float64(charge.Count) * e.Epsilon
		case accountant.Approx:
			sum += float64(charge.Count) * e.Epsilon
		default:
			return math.Inf(1)
		}
	}
	return sum
}

// leak returns 1 − ∏(1 − δ) over the Approx events: an (ε, δ)-DP mechanism is a post-processing of
// an event that tells all with probability δ and is else ε-DP (Kairouz, Oh, Viswanath 2017).
func leak(c accountant.Composition) float64 {
	sum := 0.0
	for _, charge := range c {
		if a, ok := charge.Event.(accountant.Approx); ok {
			sum += float64(charge.Count) * math.Log1p(-a.Delta)
		}
	}
	return -math.Expm1(sum)
}

// pure returns the composition with δ = 0 in its Approx events.
func pure(c accountant.Composition) accountant.Composition {
	pure := make(accountant.Composition, len(c))
	for i, charge := range c {
		if a, ok := charge.Event.(accountant.Approx); ok {
			charge.Event = accountant.Approx{Epsilon: a.Epsilon}
		}
		pure[i] = charge
	}
	return pure
}
