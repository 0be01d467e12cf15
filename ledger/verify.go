package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/accountant"
)

// Verify recomputes what the ledger claims: the chain; one opening entry, at the start; every run's
// units those of the opening; every reservation's composition within its budget, and of at most 128
// different events; every charge within its reservation, its filter included; nothing after a run
// is closed; no mechanism in a void run; no limit exceeded when a run was reserved. Errors wrap
// ErrInvalid and name the entry by its sequence number. A chain shows that a line was changed,
// removed or moved; it cannot show that whole lines are missing at the end, or that all of it was
// made up.
//
// Reservations are priced by price; nil is accountant.Composition.Epsilon, closed formulas. A
// ledger with runs that were reserved by another Pricer needs one that is as tight, such as
// pld.Upper.
func (l *Ledger) Verify(price accountant.Pricer) error {
	if len(l.Entries) == 0 {
		return fmt.Errorf("ledger: %w: it has no entries", ErrInvalid)
	}
	c := newChecker(price)
	for _, e := range l.Entries {
		if err := c.add(e); err != nil {
			return err
		}
	}
	return nil
}

// checker is [Ledger.Verify] one entry at a time: who appends to a ledger holds to the same rules
// as who verifies it.
type checker struct {
	ledger Ledger
	verifier
}

// newChecker returns a checker of a ledger without entries, which prices reservations by price (see
// [Ledger.Verify]).
func newChecker(price accountant.Pricer) *checker {
	return &checker{verifier: verifier{price: price, runs: map[string]*openRun{},
		costs: map[string]float64{}, past: newHistory()}}
}

// add checks that e, sealed, may follow the entries added before. After an error, which wraps
// ErrInvalid, the checker is of no further use.
func (c *checker) add(e Entry) error {
	c.ledger.Entries = append(c.ledger.Entries, e)
	i := len(c.ledger.Entries) - 1
	err := c.ledger.link(i)
	if err == nil {
		err = c.step(c.ledger.Entries[:i:i], e)
	}
	if err != nil {
		return fmt.Errorf("ledger: entry %d: %w: %w", i, ErrInvalid, err)
	}
	c.past.add(e)
	return nil
}

// addLines parses lines as [Parse] does and adds each. Every line must end in a newline.
func (c *checker) addLines(b []byte) error {
	for line := range bytes.Lines(b) {
		e, err := parseEntry(line)
		if err != nil {
			return fmt.Errorf("ledger: line %d: %w: %w", len(c.ledger.Entries)+1, ErrInvalid, err)
		}
		if err := c.add(e); err != nil {
			return err
		}
	}
	return nil
}

// verifier is what Verify knows of the runs so far.
type verifier struct {
	price accountant.Pricer
	runs  map[string]*openRun
	past  *history
	costs map[string]float64 // ε of the compositions seen, which repeat
}

type openRun struct {
	left    *accountant.Reservation
	charged int
	closed  bool
}

func (v verifier) step(before []Entry, e Entry) error {
	if (len(before) == 0) != (e.Kind == EntryOpen) {
		return errors.New("a ledger has one opening entry, its first")
	}
	switch e.Kind {
	case EntryOpen:
		return e.Adjacency.Validate()
	case EntryLimit:
		if e.Budget == nil {
			return errors.New("a limit without a budget")
		}
		if e.Rule != "" && e.Rule != RuleBasic && e.Rule != RuleZCDP {
			return fmt.Errorf("unknown rule %q", e.Rule)
		}
		return e.Budget.Validate()
	case EntryReserve:
		return v.reserve(before, e)
	}
	run, ok := v.runs[e.Run]
	if !ok {
		return fmt.Errorf("run %q was never reserved", e.Run)
	}
	if run.closed {
		return fmt.Errorf("run %q is closed already", e.Run)
	}
	switch e.Kind {
	case EntryCharge:
		return run.charge(e)
	case EntryResume:
		return nil
	}
	return run.close(e)
}

func (v verifier) reserve(before []Entry, e Entry) error {
	if e.Run == "" || v.runs[e.Run] != nil {
		return fmt.Errorf("run %q is empty or reserved twice", e.Run)
	}
	if e.Budget == nil {
		return errors.New("a reservation without a budget")
	}
	if err := e.Budget.Validate(); err != nil {
		return err
	}
	// MaxRowsPerUnit may differ: neighbours differ in all rows of a unit, whatever number of them a
	// run uses.
	if open := before[0]; e.Adjacency != open.Adjacency || e.Unit != open.Unit {
		return errors.New("the run counts other privacy units than its ledger")
	}
	if len(e.Composition) > maxDistinct {
		return fmt.Errorf("a reservation of %d different events; %d are the most", len(e.Composition),
			maxDistinct)
	}
	subsampled := 0
	for _, c := range e.Composition {
		if _, ok := c.Event.(accountant.SubsampledGaussian); ok {
			subsampled++
		}
	}
	if subsampled > maxSubsampled {
		return fmt.Errorf("a reservation of %d different subsampled events; %d are the most", subsampled,
			maxSubsampled)
	}
	cost, err := v.cost(e)
	if err != nil {
		return err
	}
	if cost > e.Budget.Epsilon*(1+platformTolerance) {
		return fmt.Errorf("the composition costs epsilon %v at delta %v, the budget says %v", cost,
			e.Budget.Delta, e.Budget.Epsilon)
	}
	if err := v.past.allows(*e.Budget, e.Composition); err != nil {
		return err
	}
	v.runs[e.Run] = &openRun{left: accountant.NewReservation(tolerant(e.Composition))}
	return nil
}

// These bound the events of a reservation, and so the time that their composition takes: some
// milliseconds each, tenths of a second for a subsampled one.
const (
	maxDistinct   = 128
	maxSubsampled = 8
)

// platformTolerance is how far, relatively, the ε of one composition or the cost of a charge may
// differ between machines: fused multiply-adds round differently.
const platformTolerance = 1e-9

// tolerant returns the composition with filters larger by the tolerance.
func tolerant(c accountant.Composition) accountant.Composition {
	out := slices.Clone(c)
	for i := range out {
		if p, ok := out[i].Event.(accountant.GDPFilter); ok {
			out[i].Event = accountant.GDPFilter{Mu: p.Mu * (1 + platformTolerance/2)}
		}
	}
	return out
}

func (v verifier) cost(e Entry) (float64, error) {
	text, err := json.Marshal(e.Composition)
	if err != nil {
		return 0, err
	}
	key := fmt.Sprint(e.Adjacency, e.Budget.Delta, string(text))
	if cost, ok := v.costs[key]; ok {
		return cost, nil
	}
	bound, err := v.price.Epsilon(e.Composition, e.Budget.Delta, e.Adjacency)
	if err != nil {
		return 0, err
	}
	v.costs[key] = bound.Epsilon
	return bound.Epsilon, nil
}

func (r *openRun) charge(e Entry) error {
	if e.Event == nil || e.Event.Count < 1 {
		return errors.New("a charge without an event")
	}
	if err := r.left.Take(*e.Event); err != nil {
		return fmt.Errorf("run %q charges more of an event than it reserved: %w", e.Run, err)
	}
	r.charged += e.Event.Count
	return nil
}

func (r *openRun) close(e Entry) error {
	switch e.Status {
	case StatusDone, StatusFailed, StatusCancelled:
	case StatusVoid:
		if r.charged > 0 {
			return fmt.Errorf("run %q is void after %d charges", e.Run, r.charged)
		}
	default:
		return fmt.Errorf("unknown status %q", e.Status)
	}
	r.closed = true
	return nil
}
