package privacy

import (
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// MeasureEvent is the event of [Session.Measure] at standard deviation sigma: Gaussian with the
// L2 sensitivity of the kind of query, whatever is in it.
func (nb Neighbours) MeasureEvent(q Query, sigma float64) accountant.Event {
	return nb.gaussian(q.kind(), sigma)
}

func (nb Neighbours) gaussian(kind access.Kind, sigma float64) accountant.Event {
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
	m, err := s.sumOf(qs, access.Ask("measure").Floats(sigma),
		func(kind access.Kind) accountant.Event { return s.nb.gaussian(kind, sigma) })
	if err != nil {
		return nil, err
	}
	m.Noise = g
	answer, err := s.release(m)
	if err != nil {
		return nil, err
	}
	flat, out := answer.Ints, make([][]int64, len(qs))
	for i, q := range m.Queries {
		out[i], flat = flat[:q.Cells:q.Cells], flat[q.Cells:]
	}
	return out, nil
}

// sumOf is the counts of queries, with an event for each of them. The key goes on with theirs.
func (s *session) sumOf(
	qs []Query, of access.Key, event func(kind access.Kind) accountant.Event,
) (m access.Call, err error) {
	if m.Queries, err = s.compile(qs); err != nil {
		return m, err
	}
	m.What, m.Of = m.Queries[0].What, of
	if n := len(qs) - 1; n > 0 {
		m.What = fmt.Sprintf("%s and %d more", m.What, n)
	}
	for _, q := range m.Queries {
		m.Length += q.Cells
		m.Of.Text(q.Key)
		e := event(q.Kind)
		at := slices.IndexFunc(m.Cost, func(c accountant.Charge) bool { return c.Event == e })
		if at < 0 {
			at, m.Cost = len(m.Cost), append(m.Cost, accountant.Charge{Event: e})
		}
		m.Cost[at].Count++
	}
	return m, nil
}
