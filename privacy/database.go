package privacy

import (
	"fmt"
	"iter"
	"slices"

	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// MaxDatabases is the most candidates of [Session.SelectDatabase]; it takes 8 bytes for each.
const MaxDatabases = 1 << 25

// SelectDatabase picks one of n public candidate databases, given by their answers y to the
// queries, by the exponential mechanism with the score
//
//	u(y) = −max_cells |count − y|,
//
// so that the database whose worst answer is best is the most likely: P(y) ∝ exp(ε·u(y)/(2Δ)), Δ
// being how far one unit moves any one count, k rows under both relations
// (docs/claims/selectdatabase.md). It returns the candidate's index in the order in which
// candidates yields them; scores never leave the gate. Event: [Neighbours.SelectEvent].
//
// candidates yields exactly n slices of one answer a cell of the queries, in rows: finite,
// |y| < 2^40. A slice may be used again for the next candidate. They are public: the error about a
// bad one depends on them alone, but comes after the charge. They must not call the session, which
// is locked.
func (s *session) SelectDatabase(
	qs []Query, n int, candidates iter.Seq[[]float64], epsilon float64,
) (int, error) {
	fail := func(err error) (int, error) { return 0, fmt.Errorf("a choice: %w", err) }
	if n < 1 || n > MaxDatabases {
		return fail(fmt.Errorf("%d candidates, 1 to %d are possible", n, MaxDatabases))
	}
	queries, err := s.compile(qs)
	if err != nil {
		return fail(err)
	}
	return s.choose("choice of a database", queries, n, epsilon, s.nb.widestCount(queries),
		func(counts [][]int64) ([]int64, error) {
			return databaseScores(slices.Concat(counts...), n, candidates)
		})
}

// widestCount is how far one unit moves any one count, in 2^-access.EstimateBits rows.
func (nb Neighbours) widestCount(queries []access.Counted) (delta float64) {
	for _, q := range queries {
		each, _, _ := q.Kind.Sensitivity(nb.MaxRowsPerUnit, nb.Adjacency)
		delta = max(delta, each*(1<<access.EstimateBits))
	}
	return delta
}

// databaseScores is u of every candidate in 2^-access.EstimateBits rows. Whether it is an error
// depends on the candidates only: all of each is looked at.
func databaseScores(counts []int64, n int, candidates iter.Seq[[]float64]) ([]int64, error) {
	out := make([]int64, 0, n)
	for y := range candidates {
		if len(out) == n || len(y) != len(counts) {
			return nil, fmt.Errorf("candidate %d of %d has %d answers to %d queries",
				len(out), n, len(y), len(counts))
		}
		worst := int64(0)
		for i, c := range counts {
			estimate, err := access.Fixed(y[i], 1<<40)
			if err != nil {
				return nil, fmt.Errorf("candidate %d: answer %w", len(out), err)
			}
			d := c<<access.EstimateBits - estimate
			worst = max(worst, d, -d)
		}
		out = append(out, -worst)
	}
	if len(out) != n {
		return nil, fmt.Errorf("%d candidates, %d were announced", len(out), n)
	}
	return out, nil
}
