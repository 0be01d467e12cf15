package privacy

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// DistanceEvent is the event of [Session.MeasureDistance] for a sum over these queries at standard
// deviation sigma rows: one number, whose sensitivity is the sum of theirs in L1.
func (nb Neighbours) DistanceEvent(qs []Query, sigma float64) accountant.Event {
	kinds := make([]access.Kind, len(qs))
	for i, q := range qs {
		kinds[i] = q.kind()
	}
	return nb.distance(kinds, sigma)
}

func (nb Neighbours) distance(kinds []access.Kind, sigma float64) accountant.Event {
	delta := 0.0
	for _, kind := range kinds {
		_, l1, _ := kind.Sensitivity(nb.MaxRowsPerUnit, nb.Adjacency)
		delta += l1
	}
	return accountant.Gaussian{NoiseMultiplier: access.Down(sigma, delta)}
}

// MeasureDistance returns the sum over the candidates of the L1 distance between a query's counts
// and their public estimate, in rows, plus Gaussian noise of standard deviation sigma rows on a
// grid of 2⁻¹² rows:
//
//	Σ_t Σ_cells |count − estimate_t| + round(N(0, sigma²)),
//
// exactly GDP with μ = Δ/σ, Δ = Σ_t Δ₁(t) (docs/claims/distance.md). How good estimates are is thus
// known far more precisely than the counts themselves. Candidates must have neither weight nor
// penalty. Event: [Neighbours.DistanceEvent].
func (s *session) MeasureDistance(candidates []Candidate, sigma float64) (float64, error) {
	fail := func(err error) (float64, error) {
		return 0, fmt.Errorf("a distance: %w", err)
	}
	if len(candidates) > maxDistances {
		return fail(fmt.Errorf("%d candidates, %d are possible", len(candidates), maxDistances))
	}
	for i, c := range candidates {
		if c.Weight != 0 && c.Weight != 1 || c.Penalty != 0 {
			return fail(fmt.Errorf("candidate %d has weight %v and penalty %v: a distance has neither",
				i, c.Weight, c.Penalty))
		}
	}
	grid, queries, err := s.onGrid(candidates)
	if err != nil {
		return fail(err)
	}
	g, err := noise.NewRoundedGaussian(math.Ldexp(sigma, access.EstimateBits))
	if err != nil {
		return fail(err)
	}
	m := access.Call{Length: 1, Noise: g}
	m.What, m.Of = "distance", access.Ask("distance").Floats(sigma)
	kinds := make([]access.Kind, len(queries))
	for i, q := range queries {
		m.Of.Text(q.Key)
		kinds[i] = q.Kind
	}
	m.Cost = access.Once(s.nb.distance(kinds, sigma))
	m.Exact = func(rows access.Rows) ([]int64, error) {
		sum := int64(0)
		for i, counts := range rows.Counts(queries) {
			sum += access.Distance(counts, grid[i].estimate, 0, maxDistance)
		}
		return []int64{sum}, nil
	}
	sum, err := s.release(m)
	if err != nil {
		return 0, err
	}
	return math.Ldexp(float64(sum.Ints[0]), -access.EstimateBits), nil
}

// maxDistances is how many queries one sum may have: far below where it could overflow.
const maxDistances = 1 << 16

// maxDistance is far more than any table is from its estimates; clamping to it cannot raise the
// sensitivity.
const maxDistance = math.MaxInt64 >> 20
