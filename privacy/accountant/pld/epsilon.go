// Package pld prices compositions by privacy-loss distributions: those with Poisson samples, and
// selections and pure steps of several kinds, for which closed formulas are coarse. It is the other
// [accountant.Pricer] beside these.
//
// Every event stands for a dominating pair (P, Q) of distributions, whose hockey-stick divergence
// is at least that of the mechanism on any neighbours, at every order (Zhu, Dong, Wang 2022,
// https://arxiv.org/abs/2106.08567). The pairs are composed on a grid, with every rounding,
// truncation, wrap-around and floating-point error on the private side: files pld.go and profile.go
// say how each is bounded. Under add-remove both orders of a pair are composed and the larger cost
// counts. Exponential events have no single pair that is tight in composition; the argument for
// them is in boundedrange.go. Beside it stand
// Rényi DP and the closed formulas; the least bound counts.
package pld

import (
	"errors"
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/privacy/accountant"
)

const (
	ulp = 1.0 / (1 << 53) // the unit roundoff of float64
	// fineness is about the share of ε that the grid may add. Claims of all versions verify on this
	// grid: another must not cost more.
	fineness = .002
)

// Epsilon returns a bound on ε at delta, 0 ≤ delta < 1, the least of three: closed formulas, where
// there are no samples, Rényi DP, and what the privacy-loss distributions say. Gaussians alone have
// the first. The errors are accountant.ErrBudgetRange (delta), ErrEvent (an invalid event or
// adjacency) and ErrUnbounded (no finite ε at this delta: a Gaussian at δ = 0, or Approx events
// that spend more).
func Epsilon(
	c accountant.Composition, delta float64, adj accountant.Adjacency,
) (accountant.Bound, error) {
	return price(c, delta, adj, true)
}

// RDP is [Epsilon] without privacy-loss distributions: cheap, and never less. It tells where to
// look for more.
func RDP(
	c accountant.Composition, delta float64, adj accountant.Adjacency,
) (accountant.Bound, error) {
	return price(c, delta, adj, false)
}

func price(
	c accountant.Composition, delta float64, adj accountant.Adjacency, onGrid bool,
) (accountant.Bound, error) {
	best, err := c.Epsilon(delta, adj)
	switch {
	case errors.Is(err, accountant.ErrUnbounded), errors.Is(err, accountant.ErrNoFormula):
		best.Epsilon = math.Inf(1)
	case err != nil:
		return best, err
	}
	consider := func(epsilon float64, method string) {
		if epsilon < best.Epsilon {
			best = accountant.Bound{Epsilon: epsilon, Delta: delta, Method: method, Slack: epsilon}
		}
	}
	p := newPlan(c, adj)
	rest := (delta - p.leak) / (1 - p.leak) // what the leaks leave
	if !p.gaussian && rest >= accountant.MinDelta {
		lambda, rdp := p.bestTilt(func(logMGF, lambda float64) float64 {
			return conversion(logMGF, lambda, math.Log(rest))
		})
		consider(math.Max(0, rdp), "rdp")
		if onGrid && best.Epsilon > 0 {
			epsilon := 0.0
			for _, profile := range p.profiles(delta, lambda) {
				epsilon = math.Max(epsilon, profile.upper(delta))
			}
			consider(epsilon, "pld")
		}
	}
	if math.IsInf(best.Epsilon, 1) {
		return accountant.Bound{}, fmt.Errorf("the events have no finite epsilon at delta %v: %w",
			delta, accountant.ErrUnbounded)
	}
	return best, nil
}

// DeltaAt returns a bound on δ at epsilon, 0 ≤ epsilon < ∞: [accountant.GDPDelta] for Gaussians
// alone, else the less of Rényi DP and privacy-loss distributions. A δ of 1 says nothing. Its error
// is ErrEvent, of an invalid event or adjacency.
func DeltaAt(
	c accountant.Composition, epsilon float64, adj accountant.Adjacency,
) (accountant.Bound, error) {
	if _, err := c.Epsilon(.5, adj); errors.Is(err, accountant.ErrEvent) {
		return accountant.Bound{}, err
	}
	p := newPlan(c, adj)
	if p.gaussian {
		return accountant.Bound{Epsilon: epsilon, Delta: accountant.GDPDelta(p.mu, epsilon),
			Method: accountant.MethodGDP}, nil
	}
	lambda, logDelta := p.bestTilt(func(logMGF, lambda float64) float64 {
		return lambda * (conversion(logMGF, lambda, 0) - epsilon)
	})
	best := p.leak + (1-p.leak)*math.Exp(min(0, logDelta))
	delta := 0.0
	for _, profile := range p.profiles(best, lambda) {
		delta = math.Max(delta, profile.deltaAt(epsilon))
	}
	return accountant.Bound{Epsilon: epsilon, Delta: math.Min(best, delta), Method: "pld"}, nil
}
