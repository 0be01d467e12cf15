package accountant

import (
	"errors"
	"fmt"
	"math"
)

// This file finds the noise that a budget allows. What it finds is a plan: a run that reserves it
// is priced again, so that no claim rests on this file.

// ScaleFor returns the smallest scale in (0, ∞), within a relative 1e-9 on the private side, at
// which the composition is within the budget by the last of prices; those before it are cheaper and
// guess. Without prices that is [Composition.Epsilon]. at must be monotone: a larger scale is more
// noise and costs less. It is called some 20 times for each. The errors are those of
// Budget.Validate and of the prices, ErrUnbounded if no scale up to 1e15 is within the budget, and
// ErrEvent if every scale down to 1e-15 is.
func ScaleFor(
	b Budget, adj Adjacency, at func(scale float64) Composition,
	prices ...Pricer,
) (float64, error) {
	if err := b.Validate(); err != nil {
		return 0, err
	}
	if len(prices) == 0 {
		prices = []Pricer{Composition.Epsilon}
	}
	scale := 1.0
	for i, price := range prices {
		tolerance := 1e-2
		if i == len(prices)-1 {
			tolerance = 1e-9
		}
		var err error
		scale, err = solve(b.Epsilon, scale, tolerance, func(scale float64) (float64, error) {
			bound, err := price(at(scale), b.Delta, adj)
			return bound.Epsilon, err
		})
		if err != nil {
			return 0, err
		}
	}
	return scale, nil
}

// solve returns an x > 0 with f(x) ≤ target and f(x/(1+tolerance)) > target, for a decreasing f
// that is close to a power of x near the target. An ErrUnbounded of f counts as +Inf.
func solve(target, start, tolerance float64, f func(float64) (float64, error)) (float64, error) {
	lo, hi := 0.0, math.Inf(1) // f(lo) > target ≥ f(hi)
	atLo, atHi := math.Inf(1), 0.0
	x := start
	for step := 1; ; step++ {
		value, err := f(x)
		switch {
		case errors.Is(err, ErrUnbounded):
			value = math.Inf(1)
		case err != nil:
			return 0, err
		}
		below := value <= target
		if below {
			hi, atHi = x, value
		} else {
			lo, atLo = x, value
		}
		switch {
		case hi <= lo*(1+tolerance):
			return hi, nil
		case lo > 1e15:
			return 0, fmt.Errorf("no scale up to 1e15 is within the budget: %w",
				ErrUnbounded)
		case hi < 1e-15:
			return 0, fmt.Errorf("the composition is within the budget at every scale: %w",
				ErrEvent)
		}
		// Aim half a tolerance beyond the root, on the side of the end that was not just moved, so that
		// both ends close in on it.
		aim := 1 + tolerance/2
		if below {
			aim = 1 / aim
		}
		ratio := math.Min(16, math.Max(1.0/16, value/target))
		switch {
		case lo == 0:
			x = hi * math.Min(ratio, 1/(1+tolerance)) * aim
		case math.IsInf(hi, 1):
			x = lo * math.Max(ratio, 1+tolerance) * aim
		case step%5 == 0 || math.IsInf(atLo, 1) || atHi <= 0:
			x = math.Sqrt(lo * hi)
		default:
			slope := math.Log(hi/lo) / math.Log(atHi/atLo)
			x = lo * math.Exp(slope*math.Log(target/atLo)) * aim
			x = math.Min(hi*(1-tolerance/4), math.Max(lo*(1+tolerance/4), x))
		}
	}
}

// MuFor returns the largest μ, within a relative 1e-12 on the private side, at which a μ-GDP
// mechanism is within the budget. A budget with δ = 0 has none: that is ErrUnbounded.
func MuFor(b Budget) (float64, error) {
	if err := forGauss(b); err != nil {
		return 0, err
	}
	return 1 / leastScale(func(scale float64) bool {
		// The two round differently: both must agree.
		return GDPDelta(1/scale, b.Epsilon) <= b.Delta &&
			GDPEpsilon(1/scale, b.Delta) <= b.Epsilon
	}), nil
}

// RhoFor returns the largest ρ, within a relative 1e-12 on the private side, at which a ρ-zCDP
// mechanism is within the budget. A budget with δ = 0 has none: that is ErrUnbounded.
func RhoFor(b Budget) (float64, error) {
	if err := forGauss(b); err != nil {
		return 0, err
	}
	return 1 / leastScale(func(scale float64) bool {
		return RhoEpsilon(1/scale, b.Delta) <= b.Epsilon
	}), nil
}

func forGauss(b Budget) error {
	if err := b.Validate(); err != nil {
		return err
	}
	if b.Delta == 0 {
		return fmt.Errorf("Gaussian noise needs delta > 0: %w", ErrUnbounded)
	}
	return nil
}

// ExponentialFor returns the largest ε, within a relative 1e-12 below, of an exponential mechanism
// that takes at most mu² from a filter ([FilterCost]); mu > 0, finite. It is 0 if mu² is
// 0.
func ExponentialFor(mu float64) float64 {
	return 1 / leastScale(func(scale float64) bool {
		cost, ok := FilterCost(Exponential{Epsilon: 1 / scale})
		return ok && cost <= mu*mu
	})
}

// leastScale returns a point of (0, ∞], at most a relative 1e-12 above the first, from which on ok
// is true.
func leastScale(ok func(float64) bool) float64 {
	hi := 1.0
	for !ok(hi) {
		if hi *= 2; math.IsInf(hi, 1) {
			return hi
		}
	}
	for ok(hi / 2) {
		hi /= 2
	}
	return bisectUp(hi/2, hi, ok)
}
