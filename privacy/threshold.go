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
// [Session.AboveThreshold]. A copy is the same round.
type Threshold struct{ *threshold }

type threshold struct {
	s      *session
	secret func() int64           // the noisy threshold, behind a function so that printing shows nothing; nil in a round that was interrupted
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
// the second drawn once a round. The threshold, level, is finite, 0 or more and below 2²⁸ rows. Event: [Neighbours.ThresholdEvent].
//
// The threshold dies with its process: a run that is continued is given the answers of before, and then [ErrSpent].
func (s *session) AboveThreshold(level, epsilon float64) (*Threshold, error) {
	fail := func(err error) (*Threshold, error) { return nil, fmt.Errorf("privacy: a threshold: %w", err) }
	if !positive(epsilon) {
		return fail(fmt.Errorf("epsilon %v must be positive and finite", epsilon))
	}
	if !(level >= 0) {
		return fail(fmt.Errorf("threshold %v must be 0 or more", level))
	}
	rows, err := fixed(level, 1<<28)
	if err != nil {
		return fail(fmt.Errorf("threshold %w", err))
	}
	delta := s.nb.k() * (1 << estimateBits) // of a single count under both relations, in steps of the grid
	round, err := noise.NewDiscreteLaplace(up(2*delta, epsilon))
	if err != nil {
		return fail(err)
	}
	each, err := noise.NewDiscreteLaplace(up(4*delta, epsilon))
	if err != nil {
		return fail(err)
	}
	t := &threshold{s: s, each: each}
	question := ask("threshold").ints(rows).floats(epsilon)
	_, err = s.releaseInts(call{"questions about a threshold", question, once(s.nb.ThresholdEvent(epsilon)), nil}, 0, func() ([]int64, error) {
		secret := rows + round.Sample(s.src)
		t.secret = func() int64 { return secret }
		return nil, nil // nothing of it leaves
	})
	if err != nil {
		return nil, err
	}
	return &Threshold{t}, nil
}

// Ask reports whether the number of rows for which an expression holds is off the guess by more than the threshold. After the first true, Ask returns
// [ErrSpent]. Questions may be asked by several goroutines.
func (t *threshold) Ask(asked Where, guess float64) (above bool, err error) {
	fail := func(err error) (bool, error) { return false, fmt.Errorf("privacy: a threshold: %w", err) }
	q, err := t.s.compile(asked)
	if err != nil {
		return fail(err)
	}
	expected, err := fixed(guess, 1<<40)
	if err != nil {
		return fail(fmt.Errorf("guess %w", err))
	}
	t.s.mu.Lock()
	closed, over := t.s.closed, t.spent || t.secret == nil && len(t.s.earlier) == 0
	t.s.mu.Unlock()
	switch {
	case closed:
		return fail(ErrClosed)
	case over:
		return fail(ErrSpent)
	}
	question := ask("above threshold").ints(expected).text(q.key)
	answer, err := t.s.releaseInt(call{"a question about a threshold", question, nil, nil}, func() (int64, error) {
		if t.spent || t.secret == nil {
			return 0, ErrSpent
		}
		counts, err := t.s.counts([]compiled{q})
		if err != nil {
			return 0, err
		}
		off := counts[0][0]<<estimateBits - expected
		if off < 0 {
			off = -off
		}
		if t.spent = off+t.each.Sample(t.s.src) >= t.secret(); t.spent {
			return 1, nil
		}
		return 0, nil
	})
	if err != nil {
		return false, err
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.spent = t.spent || answer == 1
	return answer == 1, nil
}

// Format says nothing about the rows or the secret threshold, whatever the verb.
func (t *threshold) Format(f fmt.State, _ rune) { fmt.Fprint(f, "privacy.Threshold") }

// MarshalText refuses.
func (t *threshold) MarshalText() ([]byte, error) { return nil, errPrivate }
