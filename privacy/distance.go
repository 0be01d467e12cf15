package privacy

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/noise"
)

// DistanceEvent is the event of [Session.Distance] for a sum over this many marginals at standard deviation sigma rows: one number of
// sensitivity marginals·Δ₁.
func (nb Neighbours) DistanceEvent(marginals int, sigma float64) accountant.Event {
	return accountant.Gaussian{NoiseMultiplier: down(sigma, float64(marginals)*nb.deltaOne())}
}

// Distance returns the sum over the candidates of the L1 distance between a marginal and its public estimate, in rows, plus Gaussian
// noise of standard deviation sigma rows on a grid of 2⁻¹² rows:
//
//	Σ_t Σ_cells |count − estimate_t| + round(N(0, sigma²)),
//
// exactly GDP with μ = Δ/σ, Δ = (number of candidates)·Δ₁ (docs/claims/distance.md). How good estimates are is thus known far more precisely
// than the marginals themselves. Candidates must have neither weight nor penalty. Event: [Neighbours.DistanceEvent].
func (s *session) Distance(candidates []Candidate, sigma float64) (float64, error) {
	fail := func(err error) (float64, error) { return 0, fmt.Errorf("privacy: a distance: %w", err) }
	if len(candidates) > maxDistances {
		return fail(fmt.Errorf("%d candidates, at most %d are possible", len(candidates), maxDistances))
	}
	for i, c := range candidates {
		if c.Weight != 0 && c.Weight != 1 || c.Penalty != 0 {
			return fail(fmt.Errorf("candidate %d has weight %v and penalty %v: a distance has neither", i, c.Weight, c.Penalty))
		}
	}
	grid, err := s.onGrid(candidates)
	if err != nil {
		return fail(err)
	}
	g, err := noise.NewRoundedGaussian(math.Ldexp(sigma, estimateBits))
	if err != nil {
		return fail(err)
	}
	question := ask("distance").floats(sigma)
	for _, c := range candidates {
		question.marginals(c.Marginal).floats(c.Estimate...)
	}
	sum, err := s.releaseInt(call{"distance", question, once(s.nb.DistanceEvent(len(candidates), sigma)), nil}, func() (int64, error) {
		sum := g.Sample(s.src)
		for _, c := range grid {
			sum += c.distance(c.counter.count(s.data()))
		}
		return sum, nil
	})
	return math.Ldexp(float64(sum), -estimateBits), err
}

// maxDistances is how many marginals one sum may have: far below where it could overflow.
const maxDistances = 1 << 16

// maxDistance is far more than any table is from its estimates; clamping to it cannot raise the sensitivity.
const maxDistance = math.MaxInt64 >> 20

// distance is Σ |count − estimate| in units of 2^-estimateBits rows.
func (g gridded) distance(counts []int64) int64 {
	sum := int64(0)
	for i, c := range counts {
		d := c<<estimateBits - g.estimate[i]
		if d < 0 {
			d = -d
		}
		if sum += d; sum > maxDistance {
			return maxDistance
		}
	}
	return sum
}
