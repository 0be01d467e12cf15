package privacy

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// Candidate is a query that [Session.Select] may pick. Everything in it is public.
type Candidate struct {
	Query    Query
	Estimate []float64 // what the caller's model thinks the counts are: finite, |x| < 2^48
	Weight   float64   // the score is multiplied by it: 0 < w ≤ 1024; 0 is read as 1
	Penalty  float64   // subtracted from the L1 error before weighting, in rows: |p| < 2^46
}

// Scores are integers on a grid, so that their sensitivity is exact: an estimate is rounded to
// 2^-access.EstimateBits rows and a weight to 2^-weightBits, both before the data are read.
const (
	weightBits = 10
	maxScore   = math.MaxInt64 / 4
)

// SelectEvent is the event of [Session.Select] with parameter epsilon, an ε-bounded-range
// exponential mechanism.
func (nb Neighbours) SelectEvent(epsilon float64) accountant.Event {
	return accountant.Exponential{Epsilon: epsilon}
}

// Select picks one candidate by the exponential mechanism with the score
//
//	u(t) = w_t·(Σ_cells |count − estimate_t| − penalty_t),
//
// the worst-approximated query being the most likely: P(t) ∝ exp(ε·u(t)/(2Δ)), Δ = max_t w_t·Δ₁(t)
// with Δ₁ of the kind of query (docs/claims/select.md). It returns the candidate's index; scores
// never leave the gate. Event: [Neighbours.SelectEvent].
func (s *session) Select(candidates []Candidate, epsilon float64) (int, error) {
	grid, queries, err := s.onGrid(candidates)
	if err != nil {
		return 0, fmt.Errorf("a choice: %w", err)
	}
	return s.choose("choice of a query", queries, len(grid), epsilon, widest(grid),
		func(counts [][]int64) ([]int64, error) {
			scores := make([]int64, len(grid))
			for i, g := range grid {
				scores[i] = g.score(counts[i])
			}
			return scores, nil
		})
}

// choose releases one of n candidates, each with probability ∝ exp(ε·score/(2Δ)), of scores that
// follow from the counts of queries and that one unit moves by at most delta. n and whether there
// is an error must not depend on the counts.
func (s *session) choose(
	what string, queries []access.Counted, n int, epsilon, delta float64,
	score func(counts [][]int64) ([]int64, error),
) (int, error) {
	if !access.Positive(epsilon) {
		return 0, fmt.Errorf("a choice: epsilon %v must be positive and finite", epsilon)
	}
	c := access.Call{What: what, Of: access.Ask(what).Ints(int64(n)).Floats(epsilon), Length: 1,
		Cost: access.Once(s.nb.SelectEvent(epsilon))}
	for _, q := range queries {
		c.Of.Text(q.Key)
	}
	c.Draw = func(rows access.Rows, _ func(accountant.Charge) error) (a access.Released, err error) {
		scores, err := score(rows.Counts(queries))
		if err != nil {
			return a, err
		}
		t, err := noise.Select(rows.Source, scores, access.Down(epsilon, 2*delta))
		return access.Released{Ints: []int64{int64(t)}}, err
	}
	answer, err := s.release(c)
	if err != nil {
		return 0, err
	}
	if chosen := answer.Ints[0]; chosen < 0 || chosen >= int64(n) {
		return 0, fmt.Errorf("%s: number %d of %d: %w", what, chosen, n, ErrResume)
	}
	return int(answer.Ints[0]), nil
}

// gridded is a candidate on the integer grid.
type gridded struct {
	delta    float64 // Δ₁ of its query
	estimate []int64 // in 2^-access.EstimateBits rows
	weight   int64   // in 2^-weightBits, ≥ 1
	penalty  int64   // in 2^-access.EstimateBits rows
}

// widest is Δ in units of the scores' grid: an exact product of integers below 2^53.
func widest(grid []gridded) (delta float64) {
	for _, g := range grid {
		delta = max(delta, float64(g.weight)*g.delta*(1<<access.EstimateBits))
	}
	return delta
}

// score is u in units of 2^-(access.EstimateBits+weightBits). It saturates, which cannot raise its
// sensitivity (clamping is 1-Lipschitz).
func (g gridded) score(counts []int64) int64 {
	most := maxScore / g.weight
	return g.weight * access.Distance(counts, g.estimate, max(-g.penalty, -most), most)
}

// onGrid checks the candidates and rounds them, without reading a row.
func (s *session) onGrid(candidates []Candidate) ([]gridded, []access.Counted, error) {
	qs, grid := make([]Query, len(candidates)), make([]gridded, len(candidates))
	for i, c := range candidates {
		qs[i] = c.Query
	}
	queries, err := s.compile(qs)
	if err != nil {
		return nil, nil, err
	}
	for i, c := range candidates {
		fail := func(format string, args ...any) ([]gridded, []access.Counted, error) {
			return nil, nil, fmt.Errorf("candidate %d: "+format, append([]any{i}, args...)...)
		}
		w := c.Weight
		if w == 0 {
			w = 1
		}
		if !(w > 0 && w <= 1024) {
			return fail("weight %v must be in (0, 1024]", c.Weight)
		}
		g := gridded{weight: max(1, int64(math.Round(w*(1<<weightBits))))}
		_, g.delta, _ = queries[i].Kind.Sensitivity(s.nb.MaxRowsPerUnit, s.nb.Adjacency)
		if g.penalty, err = access.Fixed(c.Penalty, 1<<46); err != nil {
			return fail("penalty %w", err)
		}
		if g.estimate, err = access.Estimate(c.Estimate, queries[i].Cells); err != nil {
			return fail("%w", err)
		}
		grid[i] = g
	}
	return grid, queries, nil
}
