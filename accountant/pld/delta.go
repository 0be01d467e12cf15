package pld

import (
	"errors"
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/accountant"
)

// This file is the other way to read a profile: no price is made of it.

// DeltaAt returns the best bound on δ at epsilon, 0 ≤ epsilon < ∞. A δ of 1 says nothing. The
// errors are those of Epsilon.
func DeltaAt(
	c accountant.Composition, epsilon float64, adj accountant.Adjacency,
) (accountant.Bound, error) {
	if err := errors.Join(adj.Validate(), c.Validate()); err != nil {
		return accountant.Bound{}, err
	}
	if !(epsilon >= 0) || math.IsInf(epsilon, 1) {
		return accountant.Bound{}, fmt.Errorf("pld: epsilon %v must be finite and not negative: %w",
			epsilon, accountant.ErrBudgetRange)
	}
	if mu, ok := gdp(c, adj); ok && mu > 0 {
		return bound(epsilon, accountant.GDPDelta(mu, epsilon), accountant.MethodGDP), nil
	}
	leak := leak(c)
	if closed, err := pure(c).Epsilon(0, adj); err == nil && closed.Epsilon <= epsilon {
		return bound(epsilon, leak, closed.Method), nil
	}
	logDelta, alpha := bestOrder(pure(c), adj, func(rdp, alpha float64) float64 {
		return (alpha-1)*(rdp-epsilon+math.Log1p(-1/alpha)) - math.Log(alpha) // conversion, solved
	})
	best := bound(epsilon, leak+(1-leak)*math.Min(1, math.Exp(logDelta)), methodRDP)
	if profiles, ok := composed(c, best.Delta, alpha, adj); ok {
		delta := 0.0
		for _, p := range profiles {
			delta = math.Max(delta, p.deltaAt(epsilon))
		}
		if delta < best.Delta {
			best.Delta, best.Method = delta, methodPLD
		}
	}
	return best, nil
}

// deltaAt returns a δ at which the composition is (epsilon, δ)-DP.
func (c profile) deltaAt(epsilon float64) float64 {
	epsilon -= c.shift
	delta := 1.0
	c.scan(func(loss, scale, a, b float64) bool {
		if loss > epsilon {
			return true
		}
		x := math.Min(c.h, epsilon-loss)
		delta = (c.inf + scale*(a-math.Exp(x)*b+c.err)) * math.Exp(c.grow)
		return false
	})
	return math.Min(1, delta)
}
