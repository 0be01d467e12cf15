package accountant

import (
	"errors"
	"fmt"
)

// Calibrate returns the smallest scale in (0, ∞), within a relative 1e-12 on the private side, at
// which the composition is within the budget by [Composition.Epsilon]. at must be monotone: a
// larger scale is more noise and costs less. The errors are those of Budget.Validate and
// Composition.Epsilon, ErrUnbounded if no scale up to 1e15 is within the budget, and ErrEvent if
// every scale down to 1e-15 is.
func Calibrate(b Budget, adj Adjacency, at func(scale float64) Composition) (float64, error) {
	if err := b.Validate(); err != nil {
		return 0, err
	}
	var failed error
	within := func(scale float64) bool {
		bound, err := at(scale).Epsilon(b.Delta, adj)
		if err != nil && !errors.Is(err, ErrUnbounded) {
			failed = err
		}
		return err == nil && bound.Epsilon <= b.Epsilon
	}
	hi := 1.0
	for ; !within(hi) && failed == nil; hi *= 2 {
		if hi > 1e15 {
			return 0, fmt.Errorf("accountant: no scale up to 1e15 is within the budget: %w",
				ErrUnbounded)
		}
	}
	for ; failed == nil && within(hi/2); hi /= 2 {
		if hi < 1e-15 {
			return 0, fmt.Errorf("accountant: the composition is within the budget at every "+
				"scale: %w", ErrEvent)
		}
	}
	scale := bisectUp(hi/2, hi, within)
	return scale, failed
}
