package privacy

import (
	"fmt"
	"iter"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/noise"
)

// MaxDatabases is the most candidates of [Session.SelectDatabase]; it takes 8 bytes for each.
const MaxDatabases = 1 << 25

// SelectDatabase picks one of n candidate databases, given by their answers to the queries, by the exponential mechanism with the score
//
//	u(y) = −max_q |count_q − y_q|,
//
// so that the database whose worst answer is best is the most likely: P(y) ∝ exp(ε·u(y)/(2k)), since a unit of k rows moves every count
// by at most k under both relations (docs/claims/selectdatabase.md). It returns the candidate's index in the order in which candidates yields
// them; scores never leave the gate. Event: [Neighbours.SelectDatabaseEvent].
//
// candidates yields exactly n slices of one answer a query, in rows: finite, |y| < 2^40. A slice may be used again for the next candidate.
// They are public: the error about a bad one depends on them alone, but comes after the charge. They must not call the session, which is
// locked.
func (s *session) SelectDatabase(q *Queries, n int, candidates iter.Seq[[]float64], epsilon float64) (int, error) {
	if !positive(epsilon) {
		return 0, fmt.Errorf("privacy: a choice: epsilon %v must be positive and finite", epsilon)
	}
	if err := q.of(s); err != nil {
		return 0, fmt.Errorf("privacy: a choice: %w", err)
	}
	if n < 1 || n > MaxDatabases || q.Len() == 0 {
		return 0, fmt.Errorf("privacy: %d candidates for %d queries: want 1 to %d candidates and a query", n, q.Len(), MaxDatabases)
	}
	question := ask("select database").ints(int64(n)).floats(epsilon)
	for _, name := range q.names {
		question.text(name)
	}
	return s.releaseIndex(call{"choice of a database", question, once(s.nb.SelectDatabaseEvent(epsilon)), nil}, n, func() (int, error) {
		scores, err := databaseScores(q.read(), n, candidates)
		if err != nil {
			return 0, err
		}
		return noise.Select(s.src, scores, s.databaseLambda(epsilon))
	})
}

// SelectDatabaseEvent is the event of [Session.SelectDatabase] with parameter epsilon, an ε-bounded-range exponential mechanism.
func (nb Neighbours) SelectDatabaseEvent(epsilon float64) accountant.Event {
	return accountant.Exponential{Epsilon: epsilon}
}

// databaseLambda is ε/(2Δ) in units of the scores' grid, 2^-estimateBits rows, rounded down.
func (s *session) databaseLambda(epsilon float64) float64 {
	return down(epsilon, 2*s.nb.k()*(1<<estimateBits))
}

// databaseScores is u of every candidate in 2^-estimateBits rows. Whether it is an error depends on the candidates only: all of each is
// looked at.
func databaseScores(counts []int64, n int, candidates iter.Seq[[]float64]) ([]int64, error) {
	scores := make([]int64, 0, n)
	for y := range candidates {
		if len(scores) == n || len(y) != len(counts) {
			return nil, fmt.Errorf("candidate %d of %d has %d answers to %d queries", len(scores), n, len(y), len(counts))
		}
		worst := int64(0)
		for i, c := range counts {
			estimate, err := fixed(y[i], 1<<40)
			if err != nil {
				return nil, fmt.Errorf("candidate %d: answer %w", len(scores), err)
			}
			d := c<<estimateBits - estimate
			worst = max(worst, d, -d)
		}
		scores = append(scores, -worst)
	}
	if len(scores) != n {
		return nil, fmt.Errorf("%d candidates, %d were announced", len(scores), n)
	}
	return scores, nil
}
