package privacy

import (
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// MeasureEvent is the event of [Session.Measure] at standard deviation sigma: Gaussian with the
// L2 sensitivity of the kind of query, whatever is in it.
func (nb Neighbours) MeasureEvent(q Query, sigma float64) accountant.Event {
	return nb.measureEvent(q.Kind(), sigma)
}

func (nb Neighbours) measureEvent(kind access.Kind, sigma float64) accountant.Event {
	_, _, l2 := kind.Sensitivity(nb.MaxRowsPerUnit, nb.Adjacency)
	return accountant.Gaussian{NoiseMultiplier: access.Down(sigma, l2)}
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
	queries, err := access.CompileAll(s.schema.Sizes(), s.schema.Unit != "", qs)
	if err != nil {
		return nil, fmt.Errorf("privacy: %w", err)
	}
	c := access.Call{What: queries[0].What, Of: access.Ask("measure").Floats(sigma)}
	if n := len(queries) - 1; n > 0 {
		c.What = fmt.Sprintf("%s and %d more", c.What, n)
	}
	cells := 0
	for _, q := range queries {
		cells += q.Cells
		c.Of.Text(q.Key)
		c.Cost = add(c.Cost, s.nb.measureEvent(q.Kind, sigma))
	}
	flat, err := access.Run(s.release).Ints(c, cells, func(rows access.Rows) ([]int64, error) {
		counts := slices.Concat(rows.Counts(queries)...)
		g.AddTo(counts, rows.Source)
		return counts, nil
	})
	if err != nil {
		return nil, err
	}
	out := make([][]int64, len(queries))
	for i, q := range queries {
		out[i], flat = flat[:q.Cells:q.Cells], flat[q.Cells:]
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
