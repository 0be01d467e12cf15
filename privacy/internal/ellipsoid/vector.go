package ellipsoid

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/noise"
)

// noisedSum is a Sum with its noise: coordinate k gets round(N(0, scales[k]²)/grid), in
// units of grid. That is [noise.RoundedGaussian] with σ = scales[k]/grid, exactly, because the grid
// is a power of two.
//
// What it promises: for an integer vector query q, in units of grid, the release of q + noise is
// μ-GDP with
//
//	μ = max over neighbours of √Σ_k (grid·(q_k − q'_k)/scales[k])².
//
// What the caller must count: q is integer, so a real-valued sum S has been rounded, and rounding
// moves the sums of neighbours apart. With D = √Σ_k 1/scales[k]²:
//   - q = round(S/grid) of one real sum: each side moves by at most grid/2 in each coordinate, so
//     μ ≤ max ‖(S − S')/scales‖₂ + grid·D;
//   - q a sum of integers, each row's contribution g rounded to the grid before an exact integer
//     sum, neighbours differing by one row added or removed: μ ≤ max ‖g/scales‖₂ + ½·grid·D; by
//     one row replaced: + grid·D.
//
// A floating-point S differs from the real sum as well; a bound of that error, divided by the
// scales, is to be added too. What is released should be formed from the integers only, as grid·(q
// + noise).
type noisedSum struct {
	Sum
	noise []noise.RoundedGaussian // one a coordinate
}

// noised refuses a grid that is no power of two, and a scale that is not of 2⁻¹⁰ to 2⁴⁸ steps of
// it; so also zero, a coordinate without noise.
func (e Sum) noised() (noisedSum, error) {
	if f, _ := math.Frexp(e.Grid); f != .5 { // also 0, negative, NaN and Inf
		return noisedSum{}, fmt.Errorf("grid %v is not a power of two", e.Grid)
	}
	n := noisedSum{e, make([]noise.RoundedGaussian, len(e.Scales))}
	for k, sigma := range e.Scales {
		d, err := noise.NewRoundedGaussian(sigma / e.Grid)
		if err != nil {
			return noisedSum{}, fmt.Errorf("coordinate %d, scale %v on grid %v: %w", k, sigma, e.Grid, err)
		}
		n.noise[k] = *d
	}
	return n, nil
}

// addTo adds a draw to a sum. It panics unless dst has one element a coordinate.
func (n noisedSum) addTo(dst []int64, src *noise.Source) {
	if len(dst) != len(n.noise) {
		panic(fmt.Sprintf("privacy: noise of %d coordinates added to %d", len(n.noise), len(dst)))
	}
	noise.AddEachTo(dst, n.noise, src)
}
