package privacy

import (
	"fmt"
	"iter"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// MaxDatabases is the most candidates of [Session.SelectDatabase]; it takes 8 bytes for each.
const MaxDatabases = 1 << 25

// SelectDatabaseEvent is the event of [Session.SelectDatabase] with parameter epsilon, an
// ε-bounded-range exponential mechanism.
func (nb Neighbours) SelectDatabaseEvent(epsilon float64) accountant.Event {
	return accountant.Exponential{Epsilon: epsilon}
}

// SelectDatabase picks one of n candidate databases, given by their answers y to the queries, by
// the exponential mechanism with the score
//
//	u(y) = −max_cells |count − y|,
//
// so that the database whose worst answer is best is the most likely: P(y) ∝ exp(ε·u(y)/(2Δ)), Δ
// being how far one unit moves any one count, k rows under both relations
// (docs/claims/selectdatabase.md). It returns the candidate's index in the order in which
// candidates yields them; scores never leave the gate. Event: [Neighbours.SelectDatabaseEvent].
//
// candidates yields exactly n slices of one answer a cell of the queries, in rows: finite,
// |y| < 2^40. A slice may be used again for the next candidate. They are public: the error about a
// bad one depends on them alone, but comes after the charge. They must not call the session, which
// is locked.
func (s *session) SelectDatabase(
	qs []Query, n int, candidates iter.Seq[[]float64], epsilon float64,
) (int, error) {
	fail := func(err error) (int, error) { return 0, fmt.Errorf("privacy: a choice: %w", err) }
	if !access.Positive(epsilon) {
		return fail(fmt.Errorf("epsilon %v must be positive and finite", epsilon))
	}
	if n < 1 || n > MaxDatabases {
		return fail(fmt.Errorf("%d candidates, 1 to %d are possible", n, MaxDatabases))
	}
	queries, err := s.compileAll(qs)
	if err != nil {
		return fail(err)
	}
	of := access.Ask("select database").Ints(int64(n)).Floats(epsilon)
	for _, q := range queries {
		of.Text(q.key)
	}
	c := access.Call{
		What: "choice of a database",
		Of:   of,
		Cost: access.Once(s.nb.SelectDatabaseEvent(epsilon)),
	}
	return s.releaseIndex(c, n, func() (int, error) {
		counts, err := s.counts(queries)
		if err != nil {
			return 0, err
		}
		var flat []int64
		for _, x := range counts {
			flat = append(flat, x...)
		}
		scores, err := databaseScores(flat, n, candidates)
		if err != nil {
			return 0, err
		}
		return noise.Select(s.src, scores, s.databaseLambda(queries, epsilon))
	})
}

// databaseLambda is ε/(2Δ) in units of the scores' grid, 2^-access.EstimateBits rows, rounded down.
func (s *session) databaseLambda(queries []compiled, epsilon float64) float64 {
	delta := 0.0
	for _, q := range queries {
		each, _, _ := s.nb.sensitivity(q.kind)
		delta = max(delta, each)
	}
	return access.Down(epsilon, 2*delta*(1<<access.EstimateBits))
}

// databaseScores is u of every candidate in 2^-access.EstimateBits rows. Whether it is an error
// depends on the candidates only: all of each is looked at.
func databaseScores(counts []int64, n int, candidates iter.Seq[[]float64]) ([]int64, error) {
	scores := make([]int64, 0, n)
	for y := range candidates {
		if len(scores) == n || len(y) != len(counts) {
			return nil, fmt.Errorf("candidate %d of %d has %d answers to %d queries",
				len(scores), n, len(y), len(counts))
		}
		worst := int64(0)
		for i, c := range counts {
			estimate, err := access.Fixed(y[i], 1<<40)
			if err != nil {
				return nil, fmt.Errorf("candidate %d: answer %w", len(scores), err)
			}
			d := c<<access.EstimateBits - estimate
			worst = max(worst, d, -d)
		}
		scores = append(scores, -worst)
	}
	if len(scores) != n {
		return nil, fmt.Errorf("%d candidates, %d were announced", len(scores), n)
	}
	return scores, nil
}
