package privacy

import (
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// Door is for the packages below this one, which have mechanisms with proofs of their own.
func (s *session) Door() access.Door {
	if s == nil {
		s = &session{paying: &paying{closed: true}}
	}
	return access.NewDoor(access.Inside{Release: s.release, Hold: s.hold, State: s.condition,
		Compile: func(queries any) ([]access.Counted, error) { return s.compile(queries.([]Query)) }})
}

// Door is for the packages below this one.
func (r *Rows) Door() access.Door { return access.NewDoor(access.Inside{Load: r.from.Load}) }

func (s *session) condition() access.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return access.State{Closed: s.closed, Elsewhere: s.in.Joint != nil, Replaying: len(s.earlier) > 0}
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
	to, next, err := do(s.schema, s.in)
	if err != nil {
		return err
	}
	if s.held = to == nil; !s.held {
		s.schema, s.in = to, next
		s.in.Counts = counter(s.in)
	}
	return nil
}
