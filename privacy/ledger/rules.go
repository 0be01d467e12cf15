package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"github.com/decoy-dp/decoy/privacy/accountant"
)

// state is a ledger and what its entries say: the runs, the newest limit and what is spent.
type state struct {
	Ledger
	runs  []*spending
	named map[string]*spending
	limit Entry

	epsilon, delta big.Rat // of the runs
}

type spending struct {
	reserve Entry
	status  string
}

func newState() *state { return &state{named: map[string]*spending{}} }

// rules takes in what the last entry of the ledger says, and tells which rule of [Ledger.Verify] it
// breaks.
func (s *state) rules(e Entry) (broken error) {
	r := s.named[e.Run]
	first := len(s.Entries) == 1
	switch {
	case first != (e.Kind == EntryOpen):
		broken = errors.New("a ledger has one opening entry, its first")
	case e.Data != nil:
		broken = errors.New("an answer stands in it, as in a journal")
	case first:
		broken = e.Adjacency.Validate()
	case e.Kind == EntryLimit:
		broken = s.checkLimit(e)
	case e.Kind == EntryReserve:
		broken = s.checkReserve(e)
	case r == nil:
		broken = fmt.Errorf("run %q was never reserved", e.Run)
	case r.status != StatusUnfinished:
		broken = fmt.Errorf("run %q is closed already", e.Run)
	case e.Kind == EntryCharge:
		if e.Event == nil || e.Event.Count < 1 {
			broken = errors.New("a charge without an event")
		}
	case e.Kind == EntryClose:
		if !slices.Contains([]string{StatusDone, StatusFailed, StatusCancelled}, e.Status) {
			broken = fmt.Errorf("unknown status %q", e.Status)
		}
	}
	switch {
	case e.Kind == EntryLimit && e.Budget != nil:
		s.limit = e
	case e.Kind == EntryReserve:
		r = &spending{reserve: e, status: StatusUnfinished}
		s.runs, s.named[e.Run] = append(s.runs, r), r
		if b := e.Budget; b != nil {
			s.epsilon.Add(&s.epsilon, decimal(b.Epsilon))
			s.delta.Add(&s.delta, decimal(b.Delta))
		}
	case e.Kind == EntryClose && r != nil:
		r.status = e.Status
	}
	return broken
}

func (s *state) checkLimit(e Entry) error {
	switch {
	case e.Budget == nil:
		return errors.New("a limit without a budget")
	case e.Rule != "" && e.Rule != RuleBasic && e.Rule != RuleZCDP:
		return fmt.Errorf("unknown rule %q", e.Rule)
	}
	if key := cmp.Or(s.limit.Key, e.Key); key != "" {
		if err := CheckKey(e, key); err != nil {
			return err
		}
	}
	return e.Budget.Validate()
}

func (s *state) checkReserve(e Entry) error {
	open := s.Entries[0]
	switch {
	case e.Run == "" || s.named[e.Run] != nil:
		return fmt.Errorf("run %q is empty or reserved twice", e.Run)
	case e.Budget == nil:
		return errors.New("a reservation without a budget")
	// MaxRowsPerUnit may differ: neighbours differ in all rows of a unit, whatever number of them a
	// run uses.
	case e.Adjacency != open.Adjacency || e.Unit != open.Unit:
		return errors.New("the run is for other neighbours than its ledger")
	}
	if err := e.Budget.Validate(); err != nil {
		return err
	}
	// Closed formulas tell which runs cost more than they say. That a run does not was found before it
	// reserved, perhaps by tighter prices, and is found again by [Ledger.Verify].
	least, err := e.Composition.Epsilon(e.Budget.Delta, e.Adjacency)
	if err != nil && !errors.Is(err, accountant.ErrNoFormula) {
		return err
	}
	if !(least.Epsilon-least.Slack <= e.Budget.Epsilon*(1+platformTolerance)) {
		return tooCheap(e, least)
	}
	return s.allows(*e.Budget, e.Composition)
}

func tooCheap(e Entry, cost accountant.Bound) error {
	return fmt.Errorf("the composition costs epsilon %v at delta %v, the budget says %v", cost.Epsilon,
		e.Budget.Delta, e.Budget.Epsilon)
}

// platformTolerance is how far, relatively, the ε of one composition or the cost of a charge may
// differ between machines: fused multiply-adds round differently.
const platformTolerance = 1e-9

// decimal is the number that the shortest decimal form of x says: three runs at 0.1 fit a limit of
// 0.3, and one ulp more does not. NaN and the infinities, which Validate refuses, count as 0.
func decimal(x float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
	return cmp.Or(r, new(big.Rat))
}

// allows returns accountant.ErrBudget if a reservation of c with budget b would exceed the limit.
// Under RuleBasic the sums of ε and of δ over all reservations must stay within the
// limit; under RuleZCDP the ε of the sum of their ρ, at the limit's δ. Both are privacy filters:
// they hold although later runs are chosen after seeing earlier releases (package accountant). The
// number of runs has a limit too. Without a limit all is allowed.
func (s *state) allows(b accountant.Budget, c accountant.Composition) error {
	if s.limit.Budget == nil {
		return nil
	}
	limit := *s.limit.Budget
	if most := s.limit.MostRuns; most > 0 && len(s.runs) >= most {
		return fmt.Errorf("ledger: its limit of %d runs is reached: %w", most, accountant.ErrBudget)
	}
	if s.limit.Rule == RuleZCDP {
		rho := accountant.Rho(c)
		for _, r := range s.runs {
			rho += accountant.Rho(r.reserve.Composition)
		}
		if total := accountant.RhoEpsilon(rho, limit.Delta); !(total <= limit.Epsilon) {
			return fmt.Errorf("ledger: this run would bring epsilon to %v at delta %v, by rho; the "+
				"ledger's limit is %v: %w", total, limit.Delta, limit.Epsilon, accountant.ErrBudget)
		}
		return nil
	}
	epsilon := new(big.Rat).Add(&s.epsilon, decimal(b.Epsilon))
	delta := new(big.Rat).Add(&s.delta, decimal(b.Delta))
	if epsilon.Cmp(decimal(limit.Epsilon)) > 0 || delta.Cmp(decimal(limit.Delta)) > 0 {
		e, _ := s.epsilon.Float64()
		d, _ := s.delta.Float64()
		return fmt.Errorf("ledger: epsilon %v and delta %v are spent; %v and %v more would exceed the "+
			"ledger's limit of %v and %v: %w", e, d, b.Epsilon, b.Delta, limit.Epsilon, limit.Delta,
			accountant.ErrBudget)
	}
	return nil
}
