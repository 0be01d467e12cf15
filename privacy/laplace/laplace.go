// Package laplace measures queries with discrete Laplace noise, which needs no δ.
package laplace

import (
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// Event is the event of [Measure] with noise of the given scale: ε-DP with the L1 sensitivity of
// the kind of query, whatever is in it.
func Event(nb privacy.Neighbours, q privacy.Query, scale float64) accountant.Event {
	return event(nb, q.Kind(), scale)
}

func event(nb privacy.Neighbours, kind access.Kind, scale float64) accountant.Event {
	_, l1, _ := kind.Sensitivity(nb.MaxRowsPerUnit, nb.Adjacency)
	return accountant.Laplace{Epsilon: access.Up(l1, scale)}
}

// Measure returns the counts of a query, each plus independent discrete Laplace noise,
// P(x) ∝ exp(−|x|/scale): ε-DP with ε = Δ₁/scale (docs/claims/measurelaplace.md). Event: [Event].
func Measure(s *privacy.Session, q privacy.Query, scale float64) ([]int64, error) {
	lap, err := noise.NewDiscreteLaplace(scale)
	if err != nil {
		return nil, err
	}
	sch := s.Schema()
	queries, err := access.CompileAll(sch.Sizes(), sch.Unit != "", []privacy.Query{q})
	if err != nil {
		return nil, fmt.Errorf("privacy: %w", err)
	}
	one := queries[0]
	c := access.Call{
		What: one.What, Of: access.Ask("measure laplace").Floats(scale).Text(one.Key),
		Cost: access.Once(event(s.Neighbours(), one.Kind, scale)),
	}
	return access.Runner(s).Ints(c, one.Cells, func(rows access.Rows) ([]int64, error) {
		counts := slices.Clone(rows.Counts(queries)[0])
		for i := range counts {
			counts[i] += lap.Sample(rows.Source)
		}
		return counts, nil
	})
}
