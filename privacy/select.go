package privacy

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/noise"
)

// Candidate is a marginal that [Session.Select] may pick. Everything in it is public.
type Candidate struct {
	Marginal
	Estimate []float64 // what the caller's model thinks the counts are: finite, |x| < 2^40; row-major, last column fastest
	Weight   float64   // the score is multiplied by it: 0 < w ≤ 1024; 0 is read as 1
	Penalty  float64   // subtracted from the L1 error before weighting, in rows: |p| < 2^28
}

// Scores are integers on a grid, so that their sensitivity is exact: an estimate is rounded to 2^-estimateBits rows and a weight to
// 2^-weightBits, both before the data are read.
const (
	estimateBits = 12
	weightBits   = 10
	maxScore     = math.MaxInt64 / 4
)

// Select picks one candidate by the exponential mechanism with the score
//
//	u(t) = w_t·(Σ_cells |count − estimate_t| − penalty_t),
//
// the worst-approximated marginal being the most likely: P(t) ∝ exp(ε·u(t)/(2Δ)), Δ = max_t w_t · Δ₁ with Δ₁ of
// [Neighbours] (docs/claims/select.md). It returns the candidate's index; scores never leave the gate. Event:
// [Neighbours.SelectEvent].
func (s *session) Select(candidates []Candidate, epsilon float64) (int, error) {
	if !positive(epsilon) {
		return 0, fmt.Errorf("privacy: a choice: epsilon %v must be positive and finite", epsilon)
	}
	grid, err := s.onGrid(candidates)
	if err != nil {
		return 0, fmt.Errorf("privacy: a choice: %w", err)
	}
	marginals, counters := make([]Marginal, len(grid)), make([]counter, len(grid))
	for i, g := range grid {
		marginals[i], counters[i] = g.marginal, g.counter
	}
	question := ask("select").marginals(marginals...).floats(epsilon)
	return s.releaseIndex(call{"choice of a marginal", question, once(s.nb.SelectEvent(epsilon)), nil}, len(grid), func() (int, error) {
		if s.recount == nil {
			s.recount = newRecount(s.data)
		}
		scores := make([]int64, len(grid))
		for i, counts := range s.recount(marginals, counters) {
			scores[i] = grid[i].score(counts)
		}
		return noise.Select(s.src, scores, s.lambda(grid, epsilon))
	})
}

// releaseIndex is release for one of n.
func (s *session) releaseIndex(c call, n int, draw func() (int, error)) (int, error) {
	i, err := s.releaseInt(c, func() (int64, error) {
		i, err := draw()
		return int64(i), err
	})
	if err == nil && (i < 0 || i >= int64(n)) {
		return 0, fmt.Errorf("privacy: %s: number %d of %d: %w", c.what, i, n, ErrResume)
	}
	return int(i), err
}

// lambda is ε/(2Δ) in units of the scores' grid, rounded down.
func (s *session) lambda(grid []gridded, epsilon float64) float64 {
	var heaviest int64
	for _, g := range grid {
		heaviest = max(heaviest, g.weight)
	}
	delta := float64(heaviest) * s.nb.deltaOne() * (1 << estimateBits) // an exact product of integers below 2^53
	return down(epsilon, 2*delta)
}

// gridded is a candidate on the integer grid.
type gridded struct {
	marginal Marginal
	counter  counter
	estimate []int64 // in 2^-estimateBits rows
	weight   int64   // in 2^-weightBits, ≥ 1
	penalty  int64   // in 2^-estimateBits rows
}

// score is u in units of 2^-(estimateBits+weightBits). It saturates, which cannot raise its sensitivity (clamping is 1-Lipschitz).
func (g gridded) score(counts []int64) int64 {
	sum := -g.penalty
	limit := int64(maxScore) / g.weight
	for i, c := range counts {
		d := c<<estimateBits - g.estimate[i]
		if d < 0 {
			d = -d
		}
		if sum += d; sum > limit {
			return limit * g.weight
		}
	}
	return sum * g.weight
}

// onGrid validates the candidates and rounds them, without reading a row.
func (s *session) onGrid(candidates []Candidate) ([]gridded, error) {
	if len(candidates) == 0 {
		return nil, fmt.Errorf("there is nothing to select from")
	}
	out := make([]gridded, len(candidates))
	for i, c := range candidates {
		c.Marginal = c.Marginal.clone() // the caller's may change until the rows are read
		cnt, err := s.counter(c.Marginal)
		if err != nil {
			return nil, fmt.Errorf("candidate %d: %w", i, err)
		}
		if len(c.Estimate) != cnt.merged {
			return nil, fmt.Errorf("candidate %d has %d estimates for %d cells", i, len(c.Estimate), cnt.merged)
		}
		w := c.Weight
		if w == 0 {
			w = 1
		}
		if !(w > 0 && w <= 1024) {
			return nil, fmt.Errorf("candidate %d: weight %v must be in (0, 1024]", i, c.Weight)
		}
		g := gridded{marginal: c.Marginal, counter: cnt, estimate: make([]int64, cnt.merged), weight: max(1, int64(math.Round(w*(1<<weightBits))))}
		if g.penalty, err = fixed(c.Penalty, 1<<28); err != nil {
			return nil, fmt.Errorf("candidate %d: penalty %w", i, err)
		}
		for j, e := range c.Estimate {
			if g.estimate[j], err = fixed(e, 1<<40); err != nil {
				return nil, fmt.Errorf("candidate %d: estimate %w", i, err)
			}
		}
		out[i] = g
	}
	return out, nil
}

// fixed is x on the grid of 2^-estimateBits.
func fixed(x, limit float64) (int64, error) {
	if !(math.Abs(x) < limit) {
		return 0, fmt.Errorf("%v must be finite and below %v in size", x, limit)
	}
	return int64(math.Round(x * (1 << estimateBits))), nil
}
