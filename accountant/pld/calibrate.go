package pld

import (
	"errors"
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/accountant"
)

// Calibrate returns the smallest scale in (0, ∞), within a relative 1e-9 on the private side, at
// which the composition is within the budget: what Composition.Epsilon says of at(scale) at the
// budget's δ is never more than its ε, and what Composition.Delta says at its ε is never more than
// its δ. at must be monotone: a larger scale is more noise and costs less. It is called some 20
// times. The errors are those of Budget.Validate and Composition.Epsilon, ErrUnbounded if no scale
// up to 1e15 is within the budget, and ErrEvent if every scale down to 1e-15 is.
func Calibrate(
	b accountant.Budget, adj accountant.Adjacency, at func(scale float64) accountant.Composition,
) (float64, error) {
	if err := b.Validate(); err != nil {
		return 0, err
	}
	// From cheap to exact; each stage starts where the last one ended.
	scale, err := smallest(b.Epsilon, 1, 1e-2, func(scale float64) (float64, error) {
		return rough(at(scale), b.Delta, adj)
	})
	if err != nil {
		return 0, err
	}
	_, gdp := gdp(at(scale), adj)
	stages := []struct {
		tolerance float64
		acc       accuracy
	}{{1e-3, coarse}, {1e-9, search}}
	if gdp || b.Delta == 0 {
		stages = stages[1:]
	}
	for _, stage := range stages {
		scale, err = smallest(b.Epsilon, scale, stage.tolerance, func(scale float64) (float64, error) {
			bound, err := epsilon(at(scale), b.Delta, adj, stage.acc)
			return bound.Epsilon, err
		})
		if err != nil {
			return 0, err
		}
	}
	// Epsilon and Delta round differently. Move away from the edge until they agree; a step or two
	// suffice.
	for step := 1e-9; ; step *= 4 {
		c := at(scale)
		delta, err := delta(c, b.Epsilon, adj, search)
		if err != nil {
			return 0, err
		}
		epsilon, err := epsilon(c, b.Delta, adj, search)
		if err != nil {
			return 0, err
		}
		if delta.Delta <= b.Delta && epsilon.Epsilon <= b.Epsilon {
			return scale, nil
		}
		scale *= 1 + step
	}
}

// rough returns a cheap upper bound of ε.
func rough(c accountant.Composition, delta float64, adj accountant.Adjacency) (float64, error) {
	best := math.Inf(1)
	closed, err := c.Epsilon(delta, adj)
	switch {
	case err == nil:
		best = closed.Epsilon
	case !errors.Is(err, accountant.ErrNoFormula) && !errors.Is(err, accountant.ErrUnbounded):
		return 0, err
	}
	if leak := leak(c); leak < delta {
		rdp, _ := rdpEpsilon(pure(c), (delta-leak)/(1-leak), adj)
		best = math.Min(best, math.Max(0, rdp))
	}
	return best, nil
}

// smallest returns an x > 0 with f(x) ≤ target and f(x/(1+tolerance)) > target, for a decreasing f
// that is close to a power of x near the target. An ErrUnbounded of f counts as +Inf.
func smallest(target, start, tolerance float64, f func(float64) (float64, error)) (float64, error) {
	lo, hi := 0.0, math.Inf(1) // f(lo) > target ≥ f(hi)
	atLo, atHi := math.Inf(1), 0.0
	x := start
	for step := 1; ; step++ {
		value, err := f(x)
		switch {
		case errors.Is(err, accountant.ErrUnbounded):
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
			return 0, fmt.Errorf("pld: no scale up to 1e15 is within the budget: %w",
				accountant.ErrUnbounded)
		case hi < 1e-15:
			return 0, fmt.Errorf("pld: the composition is within the budget at every scale: %w",
				accountant.ErrEvent)
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
