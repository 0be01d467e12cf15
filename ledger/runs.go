package ledger

import (
	"fmt"
	"math/big"
	"strconv"

	"github.com/decoy-dp/decoy/accountant"
)

// history is what the entries so far say: their runs, and the newest limit.
type history struct {
	runs    []Run
	at      map[string]int   // where a run is in runs
	charges map[runEvent]int // where an event is in its run's Charged
	limit   Entry
	limited bool

	epsilon, delta big.Rat // of the runs that count
}

// runEvent is an event of a run, by the run's place.
type runEvent struct {
	run   int
	event accountant.Event
}

func newHistory() *history {
	return &history{at: map[string]int{}, charges: map[runEvent]int{}}
}

func (l *Ledger) history() *history {
	h := newHistory()
	for _, e := range l.Entries {
		h.add(e)
	}
	return h
}

// add takes the next entry in.
func (h *history) add(e Entry) {
	i, known := h.at[e.Run]
	switch e.Kind {
	case EntryLimit:
		if e.Budget != nil {
			h.limit, h.limited = e, true
		}
	case EntryReserve:
		r := Run{Run: e.Run, Method: e.Method, Time: e.Time, Reserved: e.Composition,
			Status: StatusUnfinished, Strict: h.limit.Strict}
		if e.Budget != nil {
			r.Budget = *e.Budget
		}
		h.at[e.Run] = len(h.runs)
		h.runs = append(h.runs, r)
		h.epsilon.Add(&h.epsilon, decimal(r.Budget.Epsilon))
		h.delta.Add(&h.delta, decimal(r.Budget.Delta))
	case EntryCharge:
		if !known || e.Event == nil {
			return
		}
		r, key := &h.runs[i], runEvent{i, e.Event.Event}
		if k, ok := h.charges[key]; ok {
			r.Charged[k].Count += e.Event.Count
			return
		}
		h.charges[key] = len(r.Charged)
		r.Charged = append(r.Charged, *e.Event)
	case EntryClose:
		if !known {
			return
		}
		counted := h.runs[i].Counts()
		h.runs[i].Status = e.Status
		if now := h.runs[i].Counts(); counted != now {
			sign := func(x float64) *big.Rat {
				if now {
					return decimal(x)
				}
				return new(big.Rat).Neg(decimal(x))
			}
			h.epsilon.Add(&h.epsilon, sign(h.runs[i].Budget.Epsilon))
			h.delta.Add(&h.delta, sign(h.runs[i].Budget.Delta))
		}
	}
}

// Runs returns one summary for each reservation, in order.
func (l *Ledger) Runs() []Run { return l.history().runs }

// Spent returns the basic composition of all reservations that count ([Run.Counts]): Σε and Σδ.
func (l *Ledger) Spent() accountant.Budget { return l.history().total() }

func (h *history) total() accountant.Budget {
	epsilon, delta := h.spent()
	var sum accountant.Budget
	sum.Epsilon, _ = epsilon.Float64()
	sum.Delta, _ = delta.Float64()
	return sum
}

// spent is the total in exact decimals: three runs at 0.1 fit a limit of 0.3, and one ulp more does
// not.
func (h *history) spent() (epsilon, delta *big.Rat) {
	return new(big.Rat).Set(&h.epsilon), new(big.Rat).Set(&h.delta)
}

// decimal is the number that the shortest decimal form of x, its form in JSON, says. NaN and the
// infinities, which Validate refuses, count as 0.
func decimal(x float64) *big.Rat {
	if r, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64)); ok {
		return r
	}
	return new(big.Rat)
}

// Limit returns the newest limit.
func (l *Ledger) Limit() (Entry, bool) {
	h := l.history()
	return h.limit, h.limited
}

// Allows returns accountant.ErrBudget if a reservation of c with budget b would exceed the limit.
// Under RuleBasic the sums of ε and of δ over all reservations that count must stay within the
// limit; under RuleZCDP the sum of ρ must stay within the ρ of the limit (an event without ρ is
// refused). Both are privacy filters: they hold although later runs are chosen after seeing earlier
// releases (Rogers, Roth, Ullman, Vadhan 2016; Feldman & Zrnic 2021; Whitehouse, Ramdas, Rogers, Wu
// 2023). Without a limit every valid budget is allowed.
func (l *Ledger) Allows(b accountant.Budget, c accountant.Composition) error {
	return l.history().allows(b, c)
}

func (h *history) allows(b accountant.Budget, c accountant.Composition) error {
	if err := b.Validate(); err != nil {
		return err
	}
	if !h.limited {
		return nil
	}
	limit := h.limit
	if limit.Rule == RuleZCDP {
		return h.allowsRho(c)
	}
	epsilon, delta := h.spent()
	epsilon.Add(epsilon, decimal(b.Epsilon))
	delta.Add(delta, decimal(b.Delta))
	if epsilon.Cmp(decimal(limit.Budget.Epsilon)) > 0 || delta.Cmp(decimal(limit.Budget.Delta)) > 0 {
		spent := h.total()
		return fmt.Errorf("ledger: epsilon %v and delta %v are spent; %v and %v more would exceed the "+
			"ledger's limit of %v and %v: %w",
			spent.Epsilon, spent.Delta, b.Epsilon, b.Delta, limit.Budget.Epsilon, limit.Budget.Delta,
			accountant.ErrBudget)
	}
	return nil
}

func (h *history) allowsRho(c accountant.Composition) error {
	rho := c.Rho()
	for _, r := range h.runs {
		if r.Counts() {
			rho += r.Reserved.Rho()
		}
	}
	limit := *h.limit.Budget
	if total := accountant.ZCDPEpsilon(rho, limit.Delta); !(total <= limit.Epsilon) {
		return fmt.Errorf("ledger: this run would bring rho to %v, which is epsilon %v at delta %v; the "+
			"ledger's limit is epsilon %v: %w", rho, total, limit.Delta, limit.Epsilon,
			accountant.ErrBudget)
	}
	return nil
}
