package privacy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/table"
)

// ErrSplit is returned when the units of a session were split before: a run has one partition, from
// its first query to its last.
var ErrSplit = errors.New("the session's units are already split into shards")

// ErrElsewhere is returned where more is asked of rows that another engine has counted than
// marginals over the columns that it was given. From a mechanism it ends the session.
var ErrElsewhere = errors.New("the rows are elsewhere, and were not counted for this")

// ErrForeign is returned when what works on the rows panicked or ended its goroutine. The session
// is of no further use, and that it is tells of a row.
var ErrForeign = errors.New("the code that was handed to it did not come back")

// release charges, reads, draws, keeps and returns. What the journal holds of an earlier process is
// returned in place of a draw. An error before the draw leaves no trace; after one behind it the
// session is dead (docs/claims/session.md).
func (s *session) release(c access.Call) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fail := func(err error) ([]byte, error) { return nil, fmt.Errorf("privacy: %s: %w", c.What, err) }
	switch {
	case s.closed:
		return fail(ErrClosed)
	case s.dead != nil:
		return fail(s.dead)
	case len(s.earlier) > 0:
		answer, err := s.repeat(c)
		if err != nil {
			if !errors.Is(err, ErrPlan) {
				s.dead = err
			}
			return fail(err)
		}
		return answer, nil
	}
	if err := s.take(c.Cost); err != nil {
		return fail(err)
	}
	var answer []byte
	charges := slices.Clone(c.Cost)
	more := func(ch accountant.Charge) error {
		err := s.take(accountant.Composition{ch})
		if err == nil {
			charges = append(charges, ch)
		}
		return err
	}
	err := ErrForeign
	if s.in.Joint != nil {
		err = ErrElsewhere
	}
	access.Guard(func() { answer, err = watched(s, c).Draw(s.in, more) })
	lines := charged(s.run, c.What, c.Of.Sum(), charges, answer)
	if err == nil {
		err = s.journal.put(lines)
	}
	if err == nil {
		err = s.append(paid(lines), false)
	}
	if err != nil {
		s.dead = err
		return fail(err)
	}
	return answer, nil
}

// repeat returns the answer that an earlier process was given to the same question.
func (s *session) repeat(c access.Call) ([]byte, error) {
	n := 1 + slices.IndexFunc(s.earlier, func(e ledger.Entry) bool { return e.Data != nil })
	last := s.earlier[n-1]
	if last.Answer != hashOf(c.Of.Sum(), last.Data) {
		if err := s.take(c.Cost); err != nil {
			return nil, err // it was refused then, and left no record
		}
		return nil, fmt.Errorf("the interrupted run asked something else here: %w", ErrResume)
	}
	var charges accountant.Composition
	for _, e := range paid(s.earlier[:n]) {
		charges = append(charges, *e.Event)
	}
	if err := s.take(charges); err != nil {
		return nil, fmt.Errorf("its charges are not in its reservation: %w: %v", ErrResume, err)
	}
	s.earlier = s.earlier[n:]
	return last.Data, nil
}

// take takes all of the charges from the reservation, or none.
func (s *session) take(cost accountant.Composition) error {
	left := s.left.Clone()
	for _, ch := range cost {
		if err := left.Take(ch); err != nil {
			return fmt.Errorf("the event %+v, called %d times, is %w", ch.Event, ch.Count, ErrPlan)
		}
	}
	s.left = left
	return nil
}

// Door is for the packages below this one, which have mechanisms with proofs of their own.
func (s *session) Door() access.Door {
	if s == nil {
		s = &session{closed: true}
	}
	return access.NewDoor(access.Inside{Release: s.release, Hold: s.hold, State: s.state,
		Compile: func(queries any) ([]access.Counted, error) { return s.compile(queries.([]Query)) }})
}

func (s *session) state() access.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return access.State{Closed: s.closed, Replaying: len(s.earlier) > 0}
}

// hold lends the rows (see access.Hold). It must not run at the same time as a mechanism.
func (s *session) hold(do access.Held) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return ErrClosed
	case s.held:
		return ErrSplit
	case s.in.Joint != nil:
		return ErrElsewhere
	}
	to, t, err := do(s.schema, s.in)
	if err != nil {
		return err
	}
	if s.held = to == nil; !s.held {
		s.schema, s.in.Table = to, func() *table.Table { return t }
		s.in.Counts = counter(s.in)
	}
	return nil
}
