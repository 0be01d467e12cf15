package privacy

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"

	"github.com/decoy-dp/decoy/accountant"
)

// ErrForeign is returned when a critic that the caller handed to a gradient sum did not come back: it
// panicked or ended its goroutine. The session is of no further use; of what the code had seen
// nothing is said. That a critic comes back on every row is part of its contract: where it does not,
// the error tells of a row.
var ErrForeign = errors.New("the code that was handed to it did not come back")

// call is one use of a mechanism: the one way from rows to a number that leaves.
type call struct {
	what string                 // in public words, for the ledger
	of   question               // everything that is public about it
	cost accountant.Composition // charged before draw reads anything
	// draw reads the rows and returns the noisy answer. more charges further events that earlier
	// parts of the same answer, noised already, have decided on.
	draw func(more func(accountant.Charge) error) ([]byte, error)
}

// release charges, reads, draws, keeps and returns. The reservation, which is on the disk since
// before the rows were read, pays; the charge shows what for. An answer is in the journal, if there
// is one, before it is returned, and what the journal holds of an earlier process is returned in
// place of a draw.
//
// An error before the draw leaves no trace. After one behind it the session is dead.
func (s *session) release(c call) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fail := func(err error) ([]byte, error) { return nil, fmt.Errorf("privacy: %s: %w", c.what, err) }
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
	r := record{Query: c.of.sum()}
	take := func(ch accountant.Charge) error {
		if err := s.left.Take(ch); err != nil {
			return fmt.Errorf("the event %+v, called %d times, is %w", ch.Event, ch.Count, ErrPlan)
		}
		s.calls += ch.Count
		r.Charges = append(r.Charges, ch)
		return nil
	}
	for _, ch := range c.cost {
		if err := take(ch); err != nil {
			return fail(err)
		}
	}
	err := guarded(func() (err error) {
		r.Answer, err = c.draw(take)
		return err
	})
	if err == nil {
		r.Answer = recorded(s.run, r.Query, r.Answer)
		err = s.keep(&r, c.what)
	}
	if err != nil {
		s.dead = err
		return fail(err)
	}
	return r.Answer, nil
}

// repeat returns the answer that an earlier process was given to the same question.
func (s *session) repeat(c call) ([]byte, error) {
	r := s.earlier[0]
	if r.Query != c.of.sum() {
		return nil, fmt.Errorf("the interrupted run asked something else here: %w", ErrResume)
	}
	for _, ch := range r.Charges {
		if err := s.left.Take(ch); err != nil {
			return nil, fmt.Errorf("its charges are not in its reservation: %w: %w", ErrResume, err)
		}
		s.calls += ch.Count
	}
	for _, e := range s.chargeEntries(&r, c.what) {
		s.note(e)
	}
	s.earlier = s.earlier[1:]
	return r.Answer, nil
}

// guarded calls code that may be foreign and is shown private rows. Neither a panic nor a
// runtime.Goexit gets through, and no text of them. What cannot be held: a fatal error of the run
// time (stack overflow, concurrent map writes), os.Exit, and a loop without end.
func guarded(f func() error) error {
	err := ErrForeign
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }()
		err = f()
	}()
	<-done
	return err
}

// question collects what is public about a call. Two questions with the same sum may be given the
// same answer.
type question struct{ hash hash.Hash }

func ask(mechanism string) question {
	q := question{sha256.New()}
	return q.text(mechanism)
}

func (q question) text(t string) question {
	q.ints(int64(len(t)))
	q.hash.Write([]byte(t))
	return q
}

func (q question) ints(xs ...int64) question {
	for _, x := range xs {
		q.hash.Write(binary.LittleEndian.AppendUint64(nil, uint64(x)))
	}
	return q
}

// floats takes the bits of numbers: a plan gives the same ones on the same machine.
func (q question) floats(xs ...float64) question {
	binary.Write(q.hash, binary.LittleEndian, xs)
	return q
}

func (q question) sum() string { return hex.EncodeToString(q.hash.Sum(nil)) }

// Answers are kept as numbers of eight bytes: how long a record is does not depend on the noise.

func bytesOf(xs ...int64) []byte {
	b := make([]byte, 0, 8*len(xs))
	for _, x := range xs {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return b
}

func intsOf(b []byte) []int64 {
	xs := make([]int64, len(b)/8)
	for i := range xs {
		xs[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return xs
}

// releaseInts is release for answers of n whole numbers.
func (s *session) releaseInts(c call, n int, draw func() ([]int64, error)) ([]int64, error) {
	c.draw = func(func(accountant.Charge) error) ([]byte, error) {
		xs, err := draw()
		return bytesOf(xs...), err
	}
	b, err := s.release(c)
	if err != nil {
		return nil, err
	}
	if len(b) != 8*n {
		return nil, fmt.Errorf("privacy: %s: an answer of %d bytes to a question of %d numbers: %w", c.what, len(b), n, ErrResume)
	}
	return intsOf(b), nil
}

// releaseInt is release for one whole number.
func (s *session) releaseInt(c call, draw func() (int64, error)) (int64, error) {
	xs, err := s.releaseInts(c, 1, func() ([]int64, error) {
		x, err := draw()
		return []int64{x}, err
	})
	if err != nil {
		return 0, err
	}
	return xs[0], nil
}

// once is the cost of one call of an event.
func once(e accountant.Event) accountant.Composition {
	return accountant.Composition{{Event: e, Count: 1}}
}
