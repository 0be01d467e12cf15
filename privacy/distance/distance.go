// Package distance measures how far public estimates are from the counts of queries.
package distance

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// Event is the event of [Measure] for a sum over these queries at standard deviation sigma rows:
// one number, whose sensitivity is the sum of theirs in L1.
func Event(nb privacy.Neighbours, qs []privacy.Query, sigma float64) accountant.Event {
	kinds := make([]access.Kind, len(qs))
	for i, q := range qs {
		kinds[i] = q.Kind()
	}
	return event(nb, kinds, sigma)
}

func event(nb privacy.Neighbours, kinds []access.Kind, sigma float64) accountant.Event {
	delta := 0.0
	for _, kind := range kinds {
		_, l1, _ := kind.Sensitivity(nb.MaxRowsPerUnit, nb.Adjacency)
		delta += l1
	}
	return accountant.Gaussian{NoiseMultiplier: access.Down(sigma, delta)}
}

// Measure returns the sum over the candidates of the L1 distance between a query's counts and
// their public estimate, in rows, plus Gaussian noise of standard deviation sigma rows on a grid of
// 2⁻¹² rows:
//
//	Σ_t Σ_cells |count − estimate_t| + round(N(0, sigma²)),
//
// exactly GDP with μ = Δ/σ, Δ = Σ_t Δ₁(t) (docs/claims/distance.md). How good estimates are is thus
// known far more precisely than the counts themselves. Candidates must have neither weight nor
// penalty. Event: [Event].
func Measure(s *privacy.Session, candidates []privacy.Candidate, sigma float64) (float64, error) {
	fail := func(err error) (float64, error) {
		return 0, fmt.Errorf("privacy: a distance: %w", err)
	}
	if len(candidates) > maxDistances {
		return fail(fmt.Errorf("%d candidates, %d are possible", len(candidates), maxDistances))
	}
	qs := make([]privacy.Query, len(candidates))
	for i, c := range candidates {
		if c.Weight != 0 && c.Weight != 1 || c.Penalty != 0 {
			return fail(fmt.Errorf("candidate %d has weight %v and penalty %v: a distance has neither",
				i, c.Weight, c.Penalty))
		}
		qs[i] = c.Query
	}
	sch := s.Schema()
	queries, err := access.CompileAll(sch.Sizes(), sch.Unit != "", qs)
	if err != nil {
		return fail(err)
	}
	g, err := noise.NewRoundedGaussian(math.Ldexp(sigma, access.EstimateBits))
	if err != nil {
		return fail(err)
	}
	of, kinds := access.Ask("distance").Floats(sigma), make([]access.Kind, len(queries))
	estimates := make([][]int64, len(queries))
	for i, q := range queries {
		of.Text(q.Key)
		kinds[i] = q.Kind
		if estimates[i], err = access.Estimate(candidates[i].Estimate, q.Cells); err != nil {
			return fail(fmt.Errorf("candidate %d: %w", i, err))
		}
	}
	c := access.Call{What: "distance", Of: of, Cost: access.Once(event(s.Neighbours(), kinds, sigma))}
	sum, err := access.Runner(s).Ints(c, 1, func(rows access.Rows) ([]int64, error) {
		sum := g.Sample(rows.Source)
		for i, counts := range rows.Counts(queries) {
			sum += access.Distance(counts, estimates[i], 0, maxDistance)
		}
		return []int64{sum}, nil
	})
	if err != nil {
		return 0, err
	}
	return math.Ldexp(float64(sum[0]), -access.EstimateBits), nil
}

// maxDistances is how many queries one sum may have: far below where it could overflow.
const maxDistances = 1 << 16

// maxDistance is far more than any table is from its estimates; clamping to it cannot raise the
// sensitivity.
const maxDistance = math.MaxInt64 >> 20
