// Package threshold answers questions about counts by comparing them with a secret, noisy
// threshold: the sparse vector technique. Source: Dwork, Roth 2014, algorithm 1.
package threshold

import (
	"errors"
	"fmt"
	"sync"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// errSpent is returned by a [Round] that has said "above" once: the next question needs a new one,
// and a new charge.
var errSpent = errors.New("the threshold has been exceeded once; a new one must be bought")

// Round tells of guesses, one after the other, whether they are off by more than a secret, noisy
// threshold, until one is. It is made by [Open]. A copy is the same round.
type Round struct{ *round }

type round struct {
	s    *privacy.Session
	each *noise.DiscreteLaplace // for every question

	mu sync.Mutex
	// behind a function, so that printing shows nothing; nil if the round was interrupted
	secret func() int64
	spent  bool
}

// Event is the event of one round, whatever the number of questions: ε-DP.
func Event(epsilon float64) accountant.Event { return accountant.Approx{Epsilon: epsilon} }

// Open begins a round: any number of questions "is this public guess of a count off by more than
// level rows?", chosen one after the other from the answers so far, until the first whose answer is
// yes. The whole round is ε-DP, and is charged here, before the first question
// (docs/claims/abovethreshold.md). With k rows a unit and noise on a grid of 2⁻¹² rows,
//
//	above if |count − guess| + Lap(4k/ε) ≥ level + Lap(2k/ε),
//
// the second drawn once a round. level is finite, 0 or more and below 2²⁸ rows. Event: [Event].
//
// The threshold dies with its process: a run that is continued is given the answers of before, and
// then errSpent.
func Open(s *privacy.Session, level, epsilon float64) (*Round, error) {
	fail := func(err error) (*Round, error) {
		return nil, fmt.Errorf("a threshold: %w", err)
	}
	if !access.Positive(epsilon) {
		return fail(fmt.Errorf("epsilon %v must be positive and finite", epsilon))
	}
	if !(level >= 0) {
		return fail(fmt.Errorf("threshold %v must be 0 or more", level))
	}
	rows, err := access.Fixed(level, 1<<28)
	if err != nil {
		return fail(fmt.Errorf("threshold %w", err))
	}
	once, each, err := scales(s.Neighbours(), epsilon)
	if err != nil {
		return fail(err)
	}
	r := &round{s: s, each: each}
	c := access.Call{What: "questions about a threshold", Cost: access.Once(Event(epsilon)),
		Of: access.Ask("threshold").Ints(rows).Floats(epsilon)}
	_, err = access.ReleaseInts(s, c, 0, func(in access.Rows) ([]int64, error) {
		secret := rows + once.Sample(in.Source)
		r.secret = func() int64 { return secret }
		return nil, nil // nothing of it leaves
	})
	if err != nil {
		return nil, err
	}
	return &Round{r}, nil
}

// scales is the noise of the threshold and that of each question: 2Δ/ε and 4Δ/ε, rounded up, Δ of a
// single count under both relations, in steps of the grid.
func scales(nb privacy.Neighbours, epsilon float64) (once, each *noise.DiscreteLaplace, err error) {
	delta := float64(max(1, nb.MaxRowsPerUnit)) * (1 << access.EstimateBits)
	if once, err = noise.NewDiscreteLaplace(access.Up(2*delta, epsilon)); err != nil {
		return nil, nil, err
	}
	each, err = noise.NewDiscreteLaplace(access.Up(4*delta, epsilon))
	return once, each, err
}

// Ask reports whether the number of rows for which an expression holds is off the guess by more
// than the threshold. After the first true, Ask returns errSpent. Questions may be asked by
// several goroutines.
func (r *round) Ask(x table.Expr, guess float64) (above bool, err error) {
	fail := func(err error) (bool, error) { return false, fmt.Errorf("a threshold: %w", err) }
	exprs, err := table.CompileExprs(r.s.Schema().Sizes(), []table.Expr{x})
	if err != nil {
		return fail(err)
	}
	expected, err := access.Fixed(guess, 1<<40)
	if err != nil {
		return fail(fmt.Errorf("guess %w", err))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	state := access.StateOf(r.s)
	switch {
	case state.Closed:
		return fail(privacy.ErrClosed)
	case r.spent || r.secret == nil && !state.Replaying:
		return fail(errSpent)
	}
	c := access.Call{What: "a question about a threshold",
		Of: access.Ask("above threshold").Ints(expected).Text(exprs.Key())}
	answer, err := access.ReleaseInts(r.s, c, 1, func(in access.Rows) ([]int64, error) {
		if r.secret == nil {
			return nil, errSpent
		}
		off := in.Table().CountExprs(exprs)[0]<<access.EstimateBits - expected
		if off < 0 {
			off = -off
		}
		if off+r.each.Sample(in.Source) >= r.secret() {
			return []int64{1}, nil
		}
		return []int64{0}, nil
	})
	if err != nil {
		return false, err
	}
	r.spent = answer[0] == 1
	return r.spent, nil
}

// Format says nothing about the rows or the secret threshold, whatever the verb.
func (r *round) Format(f fmt.State, _ rune) { fmt.Fprint(f, "threshold.Round") }

// MarshalText refuses.
func (r *round) MarshalText() ([]byte, error) { return nil, access.ErrPrivate }
