package accountant

import (
	"fmt"
	"slices"
)

// Runs returns one summary for each reservation, in order.
func (l *Ledger) Runs() []RunSummary {
	var runs []RunSummary
	at := map[string]int{}
	for _, e := range l.Entries {
		switch e.Kind {
		case EntryReserve:
			r := RunSummary{Run: e.Run, Method: e.Method, Time: e.Time, Reserved: e.Composition, Status: StatusUnfinished}
			if e.Budget != nil {
				r.Budget = *e.Budget
			}
			at[e.Run] = len(runs)
			runs = append(runs, r)
		case EntryCharge:
			if i, ok := at[e.Run]; ok && e.Event != nil {
				runs[i].Charged = runs[i].Charged.add(*e.Event)
			}
		case EntryClose:
			if i, ok := at[e.Run]; ok {
				runs[i].Status = e.Status
			}
		}
	}
	return runs
}

// add returns c with one more charge, merged with those of the same event.
func (c Composition) add(x Charge) Composition {
	for i := range c {
		if c[i].Event == x.Event {
			c[i].Count += x.Count
			return c
		}
	}
	return append(c, x)
}

// Spent returns the basic composition of all reservations: Σε and Σδ. Void runs are left out.
func (l *Ledger) Spent() Budget {
	var sum Budget
	for _, r := range l.Runs() {
		if r.Status != StatusVoid {
			sum.Epsilon += r.Budget.Epsilon
			sum.Delta += r.Budget.Delta
		}
	}
	return sum
}

// Limit returns the newest limit.
func (l *Ledger) Limit() (Entry, bool) {
	for _, e := range slices.Backward(l.Entries) {
		if e.Kind == EntryLimit && e.Budget != nil {
			return e, true
		}
	}
	return Entry{}, false
}

// sumTolerance forgives the rounding of a sum of decimal budgets: ten runs at ε = 0.1 fit a limit of 1.
const sumTolerance = 1e-12

// Allows returns ErrBudget if a reservation of c with budget b would exceed the limit. Under RuleBasic the sums of ε and of δ over
// all reservations must stay within the limit; under RuleZCDP the sum of ρ must stay within the ρ of the limit (an event without ρ is
// refused). Both are privacy filters: they hold although later runs are chosen after seeing earlier releases (Rogers, Roth, Ullman,
// Vadhan 2016; Feldman & Zrnic 2021; Whitehouse, Ramdas, Rogers, Wu 2023). Without a limit everything is allowed.
func (l *Ledger) Allows(b Budget, c Composition) error {
	limit, ok := l.Limit()
	if !ok {
		return nil
	}
	if limit.Rule == RuleZCDP {
		return l.allowsRho(limit, c)
	}
	spent := l.Spent()
	epsilon, delta := spent.Epsilon+b.Epsilon, spent.Delta+b.Delta
	if epsilon > limit.Budget.Epsilon*(1+sumTolerance) || delta > limit.Budget.Delta*(1+sumTolerance) {
		return fmt.Errorf("accountant: epsilon %v and delta %v are spent; %v and %v more would exceed the ledger's limit of %v and %v: %w",
			spent.Epsilon, spent.Delta, b.Epsilon, b.Delta, limit.Budget.Epsilon, limit.Budget.Delta, ErrBudget)
	}
	return nil
}

func (l *Ledger) allowsRho(limit Entry, c Composition) error {
	total := 0.0
	compositions := []Composition{c}
	for _, r := range l.Runs() {
		if r.Status != StatusVoid {
			compositions = append(compositions, r.Reserved)
		}
	}
	for _, c := range compositions {
		rho, err := c.Rho()
		if err != nil {
			return fmt.Errorf("accountant: the ledger's limit counts rho: %w: %w", err, ErrBudget)
		}
		total += rho
	}
	most, err := ZCDPRho(*limit.Budget)
	if err != nil {
		return err
	}
	if total > most {
		return fmt.Errorf("accountant: this run would bring rho to %v, the ledger's limit is %v (epsilon %v, delta %v): %w",
			total, most, limit.Budget.Epsilon, limit.Budget.Delta, ErrBudget)
	}
	return nil
}
