package privacy

import (
	"context"
	"errors"
	"fmt"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// ErrSplit is returned when the units of a session were split before: a run has one partition, from
// its first query to its last.
var ErrSplit = errors.New("the session's units are already split into shards")

// ErrForeign is returned when a critic that the caller handed to a gradient sum did not come back:
// it panicked or ended its goroutine. The session is of no further use; of what the code had seen
// nothing is said. That a critic comes back on every row is part of its contract: where it does
// not, the error tells of a row.
var ErrForeign = errors.New("the code that was handed to it did not come back")

// release charges, reads, draws, keeps and returns. The reservation, which is on the disk since
// before the rows were read, pays; the charge shows what for. An answer is in the journal, if there
// is one, before it is returned, and what the journal holds of an earlier process is returned in
// place of a draw.
//
// An error before the draw leaves no trace. After one behind it the session is dead.
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
			s.dead = err
			return fail(err)
		}
		return answer, nil
	}
	r := record{Query: c.Of.Sum(), What: c.What}
	take := func(ch accountant.Charge) error {
		if err := s.left.Take(ch); err != nil {
			return fmt.Errorf("the event %+v, called %d times, is %w", ch.Event, ch.Count, ErrPlan)
		}
		r.Charges = append(r.Charges, ch)
		return nil
	}
	for _, ch := range c.Cost {
		if err := take(ch); err != nil {
			return fail(err)
		}
	}
	err := guarded(func() (err error) {
		r.Answer, err = c.Draw(s.rows(), take)
		return err
	})
	if err == nil {
		r.Answer = recorded(s.run, r.Query, r.Answer)
		err = s.keep(&r)
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
		return nil, fmt.Errorf("the interrupted run asked something else here: %w", ErrResume)
	}
	for _, ch := range r.Charges {
		if err := s.left.Take(ch); err != nil {
			return nil, fmt.Errorf("its charges are not in its reservation: %w: %w", ErrResume, err)
		}
	}
	s.earlier = s.earlier[1:]
	return r.Answer, nil
}

// guarded is the error of f, or ErrForeign if it did not come back.
func guarded(f func() error) error {
	err := ErrForeign
	access.Guard(func() { err = f() })
	return err
}

// The subpackages have mechanisms with proofs of their own.
func init() {
	of := func(s any) *session {
		if s, ok := s.(*Session); ok && s != nil && s.session != nil {
			return s.session
		}
		return &session{closed: true}
	}
	access.Bind(access.Gate{
		Run:  func(s any, c access.Call) ([]byte, error) { return of(s).release(c) },
		Hold: func(s any, keep func(access.Rows) error) error { return of(s).hold(keep) },
		Remap: func(s any, to func(*schema.Schema, *table.Table) (*schema.Schema, *table.Table,
			error)) error {
			return of(s).remap(to)
		},
		State: func(s any) access.State {
			st := of(s)
			st.mu.Lock()
			defer st.mu.Unlock()
			return access.State{Closed: st.closed, Replaying: len(st.earlier) > 0}
		},
		Source: func(s *schema.Schema, load func(context.Context, access.Bound) error) any {
			return &Rows{schema: s, source: load}
		},
	})
}

// hold lends the rows once, to a mechanism that keeps a secret of them.
func (s *session) hold(keep func(access.Rows) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	if s.held {
		return ErrSplit
	}
	s.held = true
	return keep(s.rows())
}

// remap puts other rows in the place of the session's (see access.Gate). It must not run at the
// same time as a mechanism of the session.
func (s *session) remap(
	to func(*schema.Schema, *table.Table) (*schema.Schema, *table.Table, error),
) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return ErrClosed
	case s.held:
		return ErrSplit
	}
	var from *table.Table // none: the rows are in another form
	if s.data != nil {
		from = s.data()
	}
	now, t, err := to(s.schema, from)
	if err != nil {
		return err
	}
	s.schema, s.data, s.exact = now, func() *table.Table { return t }, nil
	return nil
}

// rows is what a mechanism works on.
func (s *session) rows() access.Rows {
	r := access.Rows{Table: s.data, Units: s.units, Source: s.src}
	if s.exact == nil {
		s.exact = counter(r)
	}
	r.Counts = s.exact
	return r
}
