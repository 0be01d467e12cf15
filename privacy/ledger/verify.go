package ledger

import (
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/privacy/accountant"
)

// This file holds a ledger to its rules as a whole. A run that appends holds it to all but two of
// them: that charges are of what is reserved, and that a reservation costs no more than its budget,
// as far as closed formulas cannot tell. Its own charges are taken from its reservation before it
// reads, and its own cost is found before it reserves; what another run spends is its budget.

// Verify recomputes what the ledger claims: the chain; one opening entry, at the start; every run's
// units those of the opening; every reservation's composition within its budget, and of at most 128
// different events; every charge within its reservation, its filter included; nothing after a run
// is closed; no limit exceeded when a run was reserved. Errors wrap
// ErrInvalid and name the entry by its sequence number. A chain shows that a line was changed,
// removed or moved; it cannot show that whole lines are missing at the end, or that all of it was
// made up.
//
// Reservations are priced by price; nil is accountant.Composition.Epsilon, closed formulas. A
// ledger with runs that were reserved by another Pricer needs one that is as tight, such as
// pld.Epsilon.
func (l *Ledger) Verify(price accountant.Pricer) error {
	if len(l.Entries) == 0 {
		return fmt.Errorf("ledger: %w: it has no entries", ErrInvalid)
	}
	s, left := newState(), map[string]*accountant.Reservation{}
	costs := map[string]accountant.Bound{}
	for i, e := range l.Entries {
		err := s.link(e)
		if err == nil {
			err = s.rules(e)
		}
		if err == nil && e.Kind == EntryReserve {
			reserved := slices.Clone(e.Composition)
			for i, c := range reserved {
				if p, ok := c.Event.(accountant.GDPFilter); ok {
					reserved[i].Event = accountant.GDPFilter{Mu: p.Mu * (1 + platformTolerance/2)}
				}
			}
			left[e.Run] = accountant.NewReservation(reserved)
			err = checkCost(e, price, costs)
		}
		if err == nil && e.Kind == EntryCharge {
			if short := left[e.Run].Take(*e.Event); short != nil {
				err = fmt.Errorf("run %q charges more of an event than it reserved: %w", e.Run, short)
			}
		}
		if err != nil {
			return fmt.Errorf("ledger: entry %d: %w: %w", i, ErrInvalid, err)
		}
	}
	return nil
}

// These bound the events of a reservation, and so the time that their composition takes: some
// milliseconds each, tenths of a second for a subsampled one.
const (
	maxDistinct   = 128
	maxSubsampled = 8
)

// checkCost holds a reservation to its budget. Costs are of the compositions seen, which repeat.
func checkCost(e Entry, price accountant.Pricer, costs map[string]accountant.Bound) error {
	subsampled := 0
	for _, c := range e.Composition {
		if _, ok := c.Event.(accountant.SubsampledGaussian); ok {
			subsampled++
		}
	}
	if n := len(e.Composition); n > maxDistinct || subsampled > maxSubsampled {
		return fmt.Errorf("a reservation of %d different events, %d of them subsampled; %d and %d are "+
			"the most", n, subsampled, maxDistinct, maxSubsampled)
	}
	key := fmt.Sprintf("%v %v %#v", e.Adjacency, e.Budget.Delta, e.Composition)
	cost, ok := costs[key]
	if !ok {
		var err error
		if cost, err = price.Epsilon(e.Composition, e.Budget.Delta, e.Adjacency); err != nil {
			return err
		}
		costs[key] = cost
	}
	tolerance := platformTolerance
	if cost.Epsilon > 1e4 { // which promises nothing: numeric prices differ so much
		tolerance = 1e-5
	}
	if !(cost.Epsilon <= e.Budget.Epsilon*(1+tolerance)) {
		return tooCheap(e, cost)
	}
	return nil
}
