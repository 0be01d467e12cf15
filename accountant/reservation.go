package accountant

import (
	"fmt"
	"maps"
)

// Reservation is what is left of a composition while a run charges it. The gate takes every call
// from it before the call reads, and ledger.Verify takes every charge from it again. It is not safe
// for concurrent use.
type Reservation struct {
	left   map[Event]int
	filter float64 // Σ Mu² over the reserved filters, rounded down
	spent  float64 // Σ μ² of what was taken from the filter, rounded up
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
	return &Reservation{maps.Clone(r.left), r.filter, r.spent}
}

// Take removes the charge from what is reserved under its own name or else from the filter, or
// changes nothing and returns an error that wraps ErrBudget.
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
	return fmt.Errorf("accountant: %s: more than is reserved: %w", c.Event.event(), ErrBudget)
}

// FilterLeft returns the μ² that is left in the filter, rounded down by a relative 1e-12 of the
// whole: a call of that [FilterCost] is granted.
func (r *Reservation) FilterLeft() float64 {
	return max(0, r.filter-r.spent-1e-12*r.filter)
}
