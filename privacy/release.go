package privacy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// ErrSplit is returned when the units of a session were split before: a run has one partition, from
// its first query to its last.
var ErrSplit = errors.New("the session's units are already split into shards")

// ErrElsewhere is returned where more is asked of rows that another engine has counted than
// marginals over the columns that it was given. From a mechanism it ends the session.
var ErrElsewhere = errors.New("the rows are elsewhere, and were not counted for this")

// ErrForeign is returned when a critic that the caller handed to a gradient sum panicked or ended
// its goroutine. The session is of no further use, and that it is tells of a row: that a critic
// comes back on every row is part of its contract.
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
	r := record{Query: c.Of.Sum(), What: c.What, Charges: slices.Clone(c.Cost)}
	more := func(ch accountant.Charge) error {
		err := s.take(accountant.Composition{ch})
		if err == nil {
			r.Charges = append(r.Charges, ch)
		}
		return err
	}
	err := ErrForeign
	if s.joint != nil {
		err = ErrElsewhere
	}
	access.Guard(func() { r.Answer, err = watched(s, c).Draw(s.rows(), more) })
	if err == nil {
		err = s.journal.add(r)
	}
	if err == nil {
		err = s.append(s.chargeEntries(r), false)
	}
	if err != nil {
		s.dead = err
		return fail(err)
	}
	return r.Answer, nil
}

// repeat returns the answer that an earlier process was given to the same question.
func (s *session) repeat(c access.Call) ([]byte, error) {
	r := s.earlier[0]
	if r.Query != c.Of.Sum() {
		if err := s.take(c.Cost); err != nil {
			return nil, err // it was refused then, and left no record
		}
		return nil, fmt.Errorf("the interrupted run asked something else here: %w", ErrResume)
	}
	if err := s.take(r.Charges); err != nil {
		return nil, fmt.Errorf("its charges are not in its reservation: %w: %v", ErrResume, err)
	}
	s.earlier = s.earlier[1:]
	return r.Answer, nil
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

// The subpackages have mechanisms with proofs of their own.
func init() {
	of := func(s any) *session {
		if s, ok := s.(*Session); ok && s != nil && s.session != nil {
			return s.session
		}
		return &session{closed: true}
	}
	access.Runner = func(s any) access.Run { return of(s).release }
	access.Hold = func(s any, do access.Held) error { return of(s).hold(do) }
	access.StateOf = func(session any) access.State {
		s := of(session)
		s.mu.Lock()
		defer s.mu.Unlock()
		return access.State{Closed: s.closed, Replaying: len(s.earlier) > 0}
	}
	access.Source = func(s *schema.Schema, load access.Load) any {
		return &Rows{schema: s, source: load}
	}
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
	case s.joint != nil:
		return ErrElsewhere
	}
	to, t, err := do(s.schema, s.rows())
	if err != nil {
		return err
	}
	if s.held = to == nil; !s.held {
		s.schema, s.data, s.exact = to, func() *table.Table { return t }, nil
	}
	return nil
}

// rows is what a mechanism works on.
func (s *session) rows() access.Rows {
	r := access.Rows{Table: s.data, Joint: s.joint, Units: s.units, Source: s.src}
	if s.exact == nil {
		s.exact = counter(r)
	}
	r.Counts = s.exact
	return r
}
