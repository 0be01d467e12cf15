package ledger

import (
	"fmt"
	"time"

	"github.com/decoy-dp/decoy/privacy/accountant"
)

// This file is what a ledger tells: nothing in it decides whether a run may begin.

// Summary is one run of a ledger.
type Summary struct {
	Run      string                 `json:"run"`
	Time     time.Time              `json:"time"`
	Method   string                 `json:"method"`
	Budget   accountant.Budget      `json:"budget"`
	Reserved accountant.Composition `json:"reserved"`
	Charged  accountant.Composition `json:"charged,omitempty"` // calls of one event are joined
	Status   string                 `json:"status"`
}

// Runs returns one summary for each reservation, in order.
func (l *Ledger) Runs() []Summary {
	type place struct {
		run   string
		event accountant.Event
	}
	charged, at := map[string]accountant.Composition{}, map[place]int{}
	for _, e := range l.Entries {
		if e.Kind != EntryCharge || e.Event == nil {
			continue
		}
		p, c := place{e.Run, e.Event.Event}, charged[e.Run]
		k, ok := at[p]
		if !ok {
			k, c = len(c), append(c, accountant.Charge{Event: p.event})
			at[p], charged[e.Run] = k, c
		}
		c[k].Count += e.Event.Count
	}
	var out []Summary
	for _, r := range l.replayed().runs {
		e := r.reserve.Clone()
		one := Summary{Run: e.Run, Method: e.Method, Time: e.Time, Reserved: e.Composition,
			Charged: charged[e.Run], Status: r.status}
		if e.Budget != nil {
			one.Budget = *e.Budget
		}
		out = append(out, one)
	}
	return out
}

// Spent returns the basic composition of all reservations: Σε and Σδ.
func (l *Ledger) Spent() (sum accountant.Budget) {
	s := l.replayed()
	sum.Epsilon, _ = s.epsilon.Float64()
	sum.Delta, _ = s.delta.Float64()
	return sum
}

// LimitInForce returns the newest limit.
func (l *Ledger) LimitInForce() (Entry, bool) {
	s := l.replayed()
	return s.limit, s.limit.Budget != nil
}

// Allows returns accountant.ErrBudget if the limit in force refuses a reservation.
func (l *Ledger) Allows(b accountant.Budget, c accountant.Composition) error {
	return l.replayed().allows(b, c)
}

// replayed is the state after all entries.
func (l *Ledger) replayed() *state {
	s := newState()
	for _, e := range l.Entries {
		s.Entries = append(s.Entries, e)
		_ = s.rules(e)
	}
	return s
}

// Words is the relation in words.
func (u Units) Words() string {
	words := "1 row"
	if u.Unit != "" {
		words = fmt.Sprintf("all rows of one %q, of which at most %d are used", u.Unit,
			u.MaxRowsPerUnit)
	}
	return fmt.Sprintf("%v, unit = %s", u.Adjacency, words)
}
