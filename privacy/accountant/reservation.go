package accountant

import (
	"fmt"
	"maps"
)

// Reservation is what is left of a composition while a run charges it. The gate takes every call
// from it before the call reads, and ledger.Verify takes every charge from it again. It is not safe
// for concurrent use.
//
// A reserved GDPFilter pays for any Gaussian-DP calls ([FilterCost]), and a reserved Laplace event
// of ε for one ε-DP step that may consist of several calls: what is left of the last such step pays
// first. docs/claims/gdpfilter.md has the proofs.
type Reservation struct {
	left   map[Event]int
	filter float64 // Σ Mu² over the reserved filters, rounded down
	spent  float64 // Σ μ² of what was taken from the filter, rounded up
	step   float64 // ε that is left of the pure step that was begun last, rounded down
}

// NewReservation returns the composition with nothing taken. Filters add up: Mu² each.
func NewReservation(c Composition) *Reservation {
	r := &Reservation{left: map[Event]int{}}
	for _, charge := range c {
		if p, ok := charge.Event.(GDPFilter); ok {
			r.filter = (r.filter + float64(charge.Count)*float64(p.Mu*p.Mu)/roundUp) / roundUp
			continue
		}
		r.left[charge.Event] += charge.Count
	}
	return r
}

// Clone is a reservation with the same left.
func (r *Reservation) Clone() *Reservation {
	return &Reservation{maps.Clone(r.left), r.filter, r.spent, r.step}
}

// Take removes the charge from what is reserved under its own name, or else from the filter, or
// else from pure steps; or it changes nothing and returns an error that wraps ErrBudget.
func (r *Reservation) Take(c Charge) error {
	if err := c.validate(); err != nil {
		return err
	}
	if r.left[c.Event] >= c.Count {
		r.left[c.Event] -= c.Count
		return nil
	}
	if cost, ok := FilterCost(c.Event); ok && r.filter > 0 {
		if after := (r.spent + float64(c.Count)*cost) * roundUp; after <= r.filter {
			r.spent = after
			return nil
		}
	}
	if r.takePure(c) {
		return nil
	}
	return fmt.Errorf("%s: more than is reserved: %w", c.Event.event(), ErrBudget)
}

// Account is what is left of a reservation, in currencies that add up. It follows from the charges
// so far, which are public.
type Account struct {
	// μ² in the filter, rounded down by a relative 1e-12 of the whole: a call of that [FilterCost] is
	// granted
	Mu2     float64
	Epsilon float64 // of a pure step, the largest if they differ: calls of that together are granted
	Steps   int     // that are left of it, and not begun
	// that is reserved by name, and how often: the noise of each call is settled
	Sampled SubsampledGaussian
	Samples int
}

// Left returns the account.
func (r *Reservation) Left() Account {
	a := Account{Mu2: max(0, r.filter-r.spent-1e-12*r.filter)}
	for e, n := range r.left {
		switch e := e.(type) {
		case Laplace:
			if n > 0 && e.Epsilon > a.Epsilon {
				a.Epsilon, a.Steps = e.Epsilon, n
			}
		case SubsampledGaussian:
			if n > 0 && e.NoiseMultiplier > a.Sampled.NoiseMultiplier {
				a.Sampled, a.Samples = e, n
			}
		}
	}
	return a
}
