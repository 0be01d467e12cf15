package accountant

import (
	"fmt"
	"maps"
	"math"
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
	return fmt.Errorf("accountant: %s: more than is reserved: %w", c.Event.event(), ErrBudget)
}

// maxCalls bounds the calls of one charge that are taken from pure steps one by one.
const maxCalls = 1 << 16

// takePure takes calls that are ε-DP from the step that was begun last while they fit, and then
// from a new one: the smallest of those that are large enough.
func (r *Reservation) takePure(c Charge) bool {
	cost := pureCost(c.Event)
	if !(cost > 0) || c.Count > maxCalls {
		return false
	}
	after := r.Clone()
	for range c.Count {
		if cost > after.step {
			smallest := math.Inf(1)
			for e, n := range after.left {
				if l, ok := e.(Laplace); ok && n > 0 && l.Epsilon >= cost {
					smallest = min(smallest, l.Epsilon)
				}
			}
			if math.IsInf(smallest, 1) {
				return false
			}
			after.left[Laplace{smallest}]--
			after.step = smallest
		}
		rest := after.step - cost
		if after.step-rest < cost { // it was rounded up (Dekker 1971: the difference is exact)
			rest = math.Nextafter(rest, 0)
		}
		after.step = rest
	}
	*r = *after
	return true
}

// pureCost is the ε of a call that is ε-DP, and 0 of any other.
func pureCost(e Event) float64 {
	switch e := e.(type) {
	case Laplace:
		return e.Epsilon
	case Exponential:
		return e.Epsilon
	case Approx:
		if e.Delta == 0 {
			return e.Epsilon
		}
	}
	return 0
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
