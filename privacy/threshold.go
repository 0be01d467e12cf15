package privacy

import (
	"errors"
	"fmt"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/noise"
)

// ErrSpent is returned by a [Threshold] that has said "above" once: the next question needs a new one, and a new charge.
var ErrSpent = errors.New("the threshold has been exceeded once; a new one must be bought")

// Threshold tells of guesses, one after the other, whether they are off by more than a secret, noisy threshold, until one is. It is made by
// [Session.AboveThreshold].
type Threshold struct {
	s      *Session
	l      label
	secret func() int64           // the noisy threshold, behind a function so that printing shows nothing
	each   *noise.DiscreteLaplace // for every question
	spent  bool
}

// ThresholdEvent is the event of one [Session.AboveThreshold], whatever the number of questions: ε-DP.
func (nb Neighbours) ThresholdEvent(epsilon float64) accountant.Event {
	return accountant.Approx{Epsilon: epsilon}
}

// AboveThreshold begins a round of the sparse vector technique: any number of questions "is this public guess of a count off by more
// than threshold rows?", chosen one after the other from the answers so far, until the first whose answer is yes. The whole round is
// ε-DP, and is charged here, before the first question (docs/claims/abovethreshold.md). With k rows a unit and noise on a grid of 2⁻¹² rows,
//
//	above if |count − guess| + Lap(4k/ε) ≥ threshold + Lap(2k/ε),
//
// the second drawn once a round. threshold is finite, 0 or more and below 2²⁸ rows. Event: [Neighbours.ThresholdEvent].
func (s *Session) AboveThreshold(l label, threshold, epsilon float64) (*Threshold, error) {
	fail := func(err error) (*Threshold, error) { return nil, fmt.Errorf("privacy: %s: %w", l, err) }
	if !positive(epsilon) {
		return fail(fmt.Errorf("epsilon %v must be positive and finite", epsilon))
	}
	if !(threshold >= 0) {
		return fail(fmt.Errorf("threshold %v must be 0 or more", threshold))
	}
	level, err := fixed(threshold, 1<<28)
	if err != nil {
		return fail(fmt.Errorf("threshold %w", err))
	}
	delta := s.nb.k() * (1 << estimateBits) // of a single count under both relations, in steps of the grid
	once, err := noise.NewDiscreteLaplace(up(2*delta, epsilon))
	if err != nil {
		return fail(err)
	}
	each, err := noise.NewDiscreteLaplace(up(4*delta, epsilon))
	if err != nil {
		return fail(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.charge(l, s.nb.ThresholdEvent(epsilon)); err != nil {
		return nil, err
	}
	secret := level + once.Sample(s.src)
	return &Threshold{s: s, l: l, secret: func() int64 { return secret }, each: each}, nil
}

// Ask reports whether the number of rows in the last of two cells is off the guess by more than the threshold. After the first true, Ask returns
// [ErrSpent]. Questions may be asked by several goroutines.
func (t *Threshold) Ask(question Cells, guess float64) (above bool, err error) {
	fail := func(err error) (bool, error) { return false, fmt.Errorf("privacy: %s: %w", t.l, err) }
	if n := question.Size(); n != 2 {
		return fail(fmt.Errorf("a question has two cells, not %d", n))
	}
	expected, err := fixed(guess, 1<<40)
	if err != nil {
		return fail(fmt.Errorf("guess %w", err))
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	switch {
	case t.s.closed:
		return fail(ErrClosed)
	case t.spent:
		return fail(ErrSpent)
	}
	off := countCells(t.s.data(), question, 2)[1]<<estimateBits - expected
	if off < 0 {
		off = -off
	}
	t.spent = off+t.each.Sample(t.s.src) >= t.secret()
	return t.spent, nil
}

// Format says nothing about the rows or the secret threshold, whatever the verb.
func (t *Threshold) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "privacy.Threshold(%s)", t.l) }

// MarshalText refuses.
func (t *Threshold) MarshalText() ([]byte, error) { return nil, errPrivate }
