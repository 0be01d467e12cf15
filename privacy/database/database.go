// Package database picks one of many public candidate databases by the answers it would give.
package database

import (
	"fmt"
	"iter"
	"slices"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// Max is the most candidates of [Select]; it takes 8 bytes for each.
const Max = 1 << 25

// Event is the event of [Select] with parameter epsilon, an ε-bounded-range exponential mechanism.
func Event(epsilon float64) accountant.Event {
	return accountant.Exponential{Epsilon: epsilon}
}

// Select picks one of n candidate databases, given by their answers y to the queries, by
// the exponential mechanism with the score
//
//	u(y) = −max_cells |count − y|,
//
// so that the database whose worst answer is best is the most likely: P(y) ∝ exp(ε·u(y)/(2Δ)), Δ
// being how far one unit moves any one count, k rows under both relations
// (docs/claims/selectdatabase.md). It returns the candidate's index in the order in which
// candidates yields them; scores never leave the gate. Event: [Event].
//
// candidates yields exactly n slices of one answer a cell of the queries, in rows: finite,
// |y| < 2^40. A slice may be used again for the next candidate. They are public: the error about a
// bad one depends on them alone, but comes after the charge. They must not call the session, which
// is locked.
func Select(
	s *privacy.Session, qs []privacy.Query, n int, candidates iter.Seq[[]float64], epsilon float64,
) (int, error) {
	fail := func(err error) (int, error) { return 0, fmt.Errorf("privacy: a choice: %w", err) }
	if !access.Positive(epsilon) {
		return fail(fmt.Errorf("epsilon %v must be positive and finite", epsilon))
	}
	if n < 1 || n > Max {
		return fail(fmt.Errorf("%d candidates, 1 to %d are possible", n, Max))
	}
	sch := s.Schema()
	queries, err := access.CompileAll(sch.Sizes(), sch.Unit != "", qs)
	if err != nil {
		return fail(err)
	}
	of := access.Ask("select database").Ints(int64(n)).Floats(epsilon)
	for _, q := range queries {
		of.Text(q.Key)
	}
	c := access.Call{What: "choice of a database", Of: of, Cost: access.Once(Event(epsilon))}
	return access.Runner(s).Index(c, n, func(rows access.Rows) (int, error) {
		scores, err := scores(slices.Concat(rows.Counts(queries)...), n, candidates)
		if err != nil {
			return 0, err
		}
		return noise.Select(rows.Source, scores, lambda(s.Neighbours(), queries, epsilon))
	})
}

// lambda is ε/(2Δ) in units of the scores' grid, 2^-access.EstimateBits rows, rounded down.
func lambda(nb privacy.Neighbours, queries []access.Counted, epsilon float64) float64 {
	delta := 0.0
	for _, q := range queries {
		each, _, _ := q.Kind.Sensitivity(nb.MaxRowsPerUnit, nb.Adjacency)
		delta = max(delta, each)
	}
	return access.Down(epsilon, 2*delta*(1<<access.EstimateBits))
}

// scores is u of every candidate in 2^-access.EstimateBits rows. Whether it is an error
// depends on the candidates only: all of each is looked at.
func scores(counts []int64, n int, candidates iter.Seq[[]float64]) ([]int64, error) {
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
