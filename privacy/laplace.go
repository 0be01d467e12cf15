package privacy

import (
	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// LaplaceEvent is the event of [Session.MeasureLaplace] with noise of the given scale: ε-DP with
// the L1 sensitivity of the kind of query, whatever is in it.
func (nb Neighbours) LaplaceEvent(q Query, scale float64) accountant.Event {
	return nb.laplace(q.kind(), scale)
}

func (nb Neighbours) laplace(kind access.Kind, scale float64) accountant.Event {
	_, l1, _ := kind.Sensitivity(nb.MaxRowsPerUnit, nb.Adjacency)
	return accountant.Laplace{Epsilon: access.Up(l1, scale)}
}

// MeasureLaplace returns the counts of a query, each plus independent discrete Laplace noise,
// P(x) ∝ exp(−|x|/scale): ε-DP with ε = Δ₁/scale (docs/claims/measurelaplace.md), which needs no δ.
// Event: [Neighbours.LaplaceEvent].
func (s *session) MeasureLaplace(q Query, scale float64) ([]int64, error) {
	l, err := noise.NewDiscreteLaplace(scale)
	if err != nil {
		return nil, err
	}
	m, err := s.sumOf([]Query{q}, access.Ask("measure laplace").Floats(scale),
		func(kind access.Kind) accountant.Event { return s.nb.laplace(kind, scale) })
	if err != nil {
		return nil, err
	}
	m.Noise = l
	return access.Measure(s, m)
}
