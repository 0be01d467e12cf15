package privacy

import (
	"fmt"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// MeasureEvent is the event of [Session.Measure] at standard deviation sigma: Gaussian with the
// L2 sensitivity of the kind of query, whatever is in it.
func (nb Neighbours) MeasureEvent(q Query, sigma float64) accountant.Event {
	_, _, l2 := nb.sensitivity(q)
	return accountant.Gaussian{NoiseMultiplier: access.Down(sigma, l2)}
}

// MeasureLaplaceEvent is the event of [Session.MeasureLaplace] with noise of the given scale:
// ε-DP with the L1 sensitivity of the kind of query.
func (nb Neighbours) MeasureLaplaceEvent(q Query, scale float64) accountant.Event {
	_, l1, _ := nb.sensitivity(q)
	return accountant.Laplace{Epsilon: access.Up(l1, scale)}
}

// Measure returns the counts of a query, each plus independent round(N(0, sigma²)): a rounded
// Gaussian, exactly GDP with μ = Δ₂/σ (docs/claims/measure.md). Event: [Neighbours.MeasureEvent].
func (s *session) Measure(q Query, sigma float64) ([]int64, error) {
	out, err := s.MeasureAll([]Query{q}, sigma)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// MeasureAll is [Session.Measure] of several queries, counted in parallel and charged one by one.
// In the journal they are one answer.
func (s *session) MeasureAll(qs []Query, sigma float64) ([][]int64, error) {
	g, err := noise.NewRoundedGaussian(sigma)
	if err != nil {
		return nil, err
	}
	return s.measure(access.Ask("measure").Floats(sigma), qs,
		func(q Query) accountant.Event { return s.nb.MeasureEvent(q, sigma) },
		func(counts []int64) { g.AddTo(counts, s.src) })
}

// MeasureLaplace returns the counts of a query, each plus independent discrete Laplace noise,
// P(x) ∝ exp(−|x|/scale): ε-DP with ε = Δ₁/scale (docs/claims/measurelaplace.md). Event:
// [Neighbours.MeasureLaplaceEvent].
func (s *session) MeasureLaplace(q Query, scale float64) ([]int64, error) {
	lap, err := noise.NewDiscreteLaplace(scale)
	if err != nil {
		return nil, err
	}
	out, err := s.measure(access.Ask("measure laplace").Floats(scale), []Query{q},
		func(q Query) accountant.Event { return s.nb.MeasureLaplaceEvent(q, scale) },
		func(counts []int64) {
			for i := range counts {
				counts[i] += lap.Sample(s.src)
			}
		})
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// measure releases the counts of queries with noise, each for its event.
func (s *session) measure(
	of access.Question, qs []Query, event func(Query) accountant.Event, addNoise func([]int64),
) ([][]int64, error) {
	queries, err := s.compileAll(qs)
	if err != nil {
		return nil, fmt.Errorf("privacy: %w", err)
	}
	c := access.Call{What: queries[0].what, Of: of}
	if n := len(queries) - 1; n > 0 {
		c.What = fmt.Sprintf("%s and %d more", c.What, n)
	}
	cells := 0
	for _, q := range queries {
		cells += q.cells
		c.Of.Text(q.key)
		c.Cost = add(c.Cost, event(q.kind))
	}
	flat, err := s.releaseInts(c, cells, func() ([]int64, error) {
		counts, err := s.counts(queries)
		if err != nil {
			return nil, err
		}
		flat := make([]int64, 0, cells)
		for _, x := range counts {
			flat = append(flat, x...)
		}
		addNoise(flat)
		return flat, nil
	})
	if err != nil {
		return nil, err
	}
	out := make([][]int64, len(queries))
	for i, q := range queries {
		out[i], flat = flat[:q.cells:q.cells], flat[q.cells:]
	}
	return out, nil
}

// add is a composition with one more event.
func add(cost accountant.Composition, e accountant.Event) accountant.Composition {
	for i := range cost {
		if cost[i].Event == e {
			cost[i].Count++
			return cost
		}
	}
	return append(cost, accountant.Charge{Event: e, Count: 1})
}
