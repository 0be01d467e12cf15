package accountant

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
)

// Runs returns one summary for each reservation, in order.
func (l *Ledger) Runs() []RunSummary {
	var runs []RunSummary
	at := map[string]int{}
	strict := false
	for _, e := range l.Entries {
		switch e.Kind {
		case EntryLimit:
			if e.Budget != nil {
				strict = e.Strict
			}
		case EntryReserve:
			r := RunSummary{Run: e.Run, Method: e.Method, Time: e.Time, Reserved: e.Composition, Status: StatusUnfinished, Strict: strict}
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

// Spent returns the basic composition of all reservations that count ([RunSummary.Counts]): Σε and Σδ.
func (l *Ledger) Spent() Budget {
	epsilon, delta := l.spent()
	var sum Budget
	sum.Epsilon, _ = epsilon.Float64()
	sum.Delta, _ = delta.Float64()
	return sum
}

// spent is Spent in exact decimals: three runs at 0.1 fit a limit of 0.3, and one ulp more does not.
func (l *Ledger) spent() (epsilon, delta *big.Rat) {
	epsilon, delta = new(big.Rat), new(big.Rat)
	for _, r := range l.Runs() {
		if r.Counts() {
			epsilon.Add(epsilon, decimal(r.Budget.Epsilon))
			delta.Add(delta, decimal(r.Budget.Delta))
		}
	}
	return epsilon, delta
}

// decimal is the number that the shortest decimal form of x, its form in JSON, says. NaN and the infinities, which Validate refuses, count as 0.
func decimal(x float64) *big.Rat {
	if r, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64)); ok {
		return r
	}
	return new(big.Rat)
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

// Allows returns ErrBudget if a reservation of c with budget b would exceed the limit. Under RuleBasic the sums of ε and of δ over
// all reservations that count must stay within the limit; under RuleZCDP the sum of ρ must stay within the ρ of the limit (an event without ρ is
// refused). Both are privacy filters: they hold although later runs are chosen after seeing earlier releases (Rogers, Roth, Ullman,
// Vadhan 2016; Feldman & Zrnic 2021; Whitehouse, Ramdas, Rogers, Wu 2023). Without a limit every valid budget is allowed.
func (l *Ledger) Allows(b Budget, c Composition) error {
	if err := b.Validate(); err != nil {
		return err
	}
	limit, ok := l.Limit()
	if !ok {
		return nil
	}
	if limit.Rule == RuleZCDP {
		return l.allowsRho(limit, c)
	}
	epsilon, delta := l.spent()
	epsilon.Add(epsilon, decimal(b.Epsilon))
	delta.Add(delta, decimal(b.Delta))
	if epsilon.Cmp(decimal(limit.Budget.Epsilon)) > 0 || delta.Cmp(decimal(limit.Budget.Delta)) > 0 {
		spent := l.Spent()
		return fmt.Errorf("accountant: epsilon %v and delta %v are spent; %v and %v more would exceed the ledger's limit of %v and %v: %w",
			spent.Epsilon, spent.Delta, b.Epsilon, b.Delta, limit.Budget.Epsilon, limit.Budget.Delta, ErrBudget)
	}
	return nil
}

func (l *Ledger) allowsRho(limit Entry, c Composition) error {
	total := 0.0
	compositions := []Composition{c}
	for _, r := range l.Runs() {
		if r.Counts() {
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
