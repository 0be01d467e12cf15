package privacy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// ErrSplit is returned when the units of a session were split before: a run has one partition, from
// its first query to its last.
var ErrSplit = errors.New("the session's units are already split into shards")

// ErrElsewhere is returned where more is asked of rows that another engine has counted than
// marginals over the columns that it was given. From a mechanism it ends the session.
var ErrElsewhere = errors.New("the rows are elsewhere, and were not counted for this")

// errForeign is returned when what works on the rows panicked or ended its goroutine. The session
// is of no further use, and that it is tells of a row.
var errForeign = errors.New("the code that was handed to it did not come back")

// release charges, reads, draws, keeps and returns. What the journal holds of an earlier process is
// returned in place of a draw. An error before the draw leaves no trace; after one behind it the
// session is dead (docs/claims/session.md).
func (s *session) release(c access.Call) (answer access.Released, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.What, c.Of = asked(s.view, c.What, c.Of)
	fail := func(err error) (access.Released, error) {
		return access.Released{}, fmt.Errorf("%s: %w", c.What, err)
	}
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
	charges := slices.Clone(c.Cost)
	more := func(ch accountant.Charge) error {
		err := s.take(accountant.Composition{ch})
		if err == nil {
			charges = append(charges, ch)
		}
		return err
	}
	if c.Draw == nil {
		c.Draw = func(rows access.Rows, _ func(accountant.Charge) error) (a access.Released, err error) {
			if c.Exact == nil {
				a.Ints = slices.Concat(rows.Counts(c.Queries)...)
			} else if a.Ints, err = c.Exact(rows); err != nil {
				return a, err
			}
			c.Noise.AddTo(a.Ints, rows.Source)
			return a, nil
		}
	}
	err = errForeign
	if s.in.Joint != nil {
		err = ErrElsewhere
	}
	back := make(chan struct{})
	go func() { // which holds a panic and a runtime.Goexit, and lets no text of them out
		defer close(back)
		defer func() { _ = recover() }()
		answer, err = watched(s, c).Draw(s.in, more)
	}()
	<-back
	lines := charged(s.run, c.What, c.Of.Sum(), charges, answer.Bytes())
	if err == nil {
		err = s.journal.put(lines, charged(s.run, c.What, c.Of.Sum(), c.Cost, nil), c.Room)
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
