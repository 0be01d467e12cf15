package privacy

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/noise"
)

// QueryCandidate is a query that [Session.SelectQuery] may pick. Everything in it is public.
type QueryCandidate struct {
	Query    int     // its number among the prepared queries
	Estimate float64 // what the caller's model thinks the count is: finite, |x| < 2^40
	Weight   float64 // the score is multiplied by it: 0 < w ≤ 1024; 0 is read as 1
}

// SelectQuery picks one query by the exponential mechanism with the score
//
//	u(t) = w_t·|count_t − estimate_t|,
//
// the worst-approximated query being the most likely: P(t) ∝ exp(ε·u(t)/(2Δ)), Δ = max_t w_t·k, since a unit of k rows moves one count
// by at most k under both relations (docs/claims/selectquery.md). It returns the candidate's index; scores never leave the gate. Event:
// [Neighbours.SelectQueryEvent].
func (s *session) SelectQuery(q *Queries, candidates []QueryCandidate, epsilon float64) (int, error) {
	if !positive(epsilon) {
		return 0, fmt.Errorf("privacy: a choice: epsilon %v must be positive and finite", epsilon)
	}
	grid, err := q.onGrid(s, candidates)
	if err != nil {
		return 0, fmt.Errorf("privacy: a choice: %w", err)
	}
	question := ask("select query").floats(epsilon)
	for _, g := range grid {
		question.text(q.names[g.query])
	}
	return s.releaseIndex(call{"choice of a query", question, once(s.nb.SelectQueryEvent(epsilon)), nil}, len(grid), func() (int, error) {
		counts := q.read()
		scores := make([]int64, len(grid))
		for i, g := range grid {
			scores[i] = g.score(counts[g.query])
		}
		return noise.Select(s.src, scores, s.queryLambda(grid, epsilon))
	})
}

// SelectQueryEvent is the event of [Session.SelectQuery] with parameter epsilon, an ε-bounded-range exponential mechanism.
func (nb Neighbours) SelectQueryEvent(epsilon float64) accountant.Event {
	return accountant.Exponential{Epsilon: epsilon}
}

// queryLambda is ε/(2Δ) in units of the scores' grid, rounded down.
func (s *session) queryLambda(grid []griddedQuery, epsilon float64) float64 {
	var heaviest int64
	for _, g := range grid {
		heaviest = max(heaviest, g.weight)
	}
	delta := float64(heaviest) * s.nb.k() * (1 << estimateBits) // an exact product of integers below 2^53
	return down(epsilon, 2*delta)
}

// griddedQuery is a candidate on the integer grid of [Session.Select].
type griddedQuery struct {
	query    int
	estimate int64 // in 2^-estimateBits rows
	weight   int64 // in 2^-weightBits, ≥ 1
}

// score is u in units of 2^-(estimateBits+weightBits). It saturates, which cannot raise its sensitivity (clamping is 1-Lipschitz).
func (g griddedQuery) score(count int64) int64 {
	d := count<<estimateBits - g.estimate
	if d < 0 {
		d = -d
	}
	return min(d, maxScore/g.weight) * g.weight
}

// onGrid validates the candidates and rounds them, without reading a row.
func (q *Queries) onGrid(s *session, candidates []QueryCandidate) ([]griddedQuery, error) {
	if len(candidates) == 0 {
		return nil, fmt.Errorf("there is nothing to select from")
	}
	out := make([]griddedQuery, len(candidates))
	for i, c := range candidates {
		if err := q.has(s, c.Query); err != nil {
			return nil, fmt.Errorf("candidate %d: %w", i, err)
		}
		w := c.Weight
		if w == 0 {
			w = 1
		}
		if !(w > 0 && w <= 1024) {
			return nil, fmt.Errorf("candidate %d: weight %v must be in (0, 1024]", i, c.Weight)
		}
		estimate, err := fixed(c.Estimate, 1<<40)
		if err != nil {
			return nil, fmt.Errorf("candidate %d: estimate %w", i, err)
		}
		out[i] = griddedQuery{query: c.Query, estimate: estimate, weight: max(1, int64(math.Round(w*(1<<weightBits))))}
	}
	return out, nil
}
