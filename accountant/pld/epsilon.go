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
	methodPLD = "pld"
	methodRDP = "rdp"
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
	best, alpha, err := cheap(c, delta, adj)
	if err != nil || alpha == 0 || best.Epsilon == 0 {
		return best, err
	}
	if profiles, ok := composed(c, best.Delta, alpha, adj); ok {
		epsilon := 0.0
		for _, p := range profiles {
			epsilon = math.Max(epsilon, p.upper(best.Delta))
		}
		best = better(best, bound(epsilon, best.Delta, methodPLD))
	}
	return best, nil
}

// composed returns the profiles of a composition, for a δ and the best Rényi order there.
func composed(
	c accountant.Composition, delta, alpha float64, adj accountant.Adjacency,
) ([]profile, bool) {
	p, ok := newPlan(c, delta, adj)
	if !ok {
		return nil, false
	}
	return p.profiles(p.grid(rdp(pure(c), 2, adj)), alpha-1)
}

// bound has no slack: the true ε may be anything from 0.
func bound(epsilon, delta float64, method string) accountant.Bound {
	return accountant.Bound{Epsilon: epsilon, Delta: delta, Method: method, Slack: epsilon}
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
		best = bound(math.Inf(1), delta, accountant.MethodBasic)
	case err != nil:
		return accountant.Bound{}, 0, err
	}
	rest := (delta - leak(c)) / (1 - leak(c)) // what the Approx events leave
	if _, exact := gdp(c, adj); !exact && rest >= accountant.MinDelta && leak(c) < 1 {
		var r float64
		r, alpha = bestOrder(pure(c), adj, func(rdp, alpha float64) float64 {
			return conversion(rdp, alpha, rest)
		})
		best = better(best, bound(math.Max(0, r), delta, methodRDP))
	}
	if math.IsInf(best.Epsilon, 1) {
		return accountant.Bound{}, 0,
			fmt.Errorf("pld: the events have no finite epsilon at delta %v: %w", delta,
				accountant.ErrUnbounded)
	}
	return best, alpha, nil
}

// better returns the bound with the smaller ε, the first if they are equal.
func better(a, b accountant.Bound) accountant.Bound {
	if b.Epsilon < a.Epsilon {
		return b
	}
	return a
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
