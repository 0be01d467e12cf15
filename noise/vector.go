package noise

import (
	"fmt"
	"math"
)

// GaussianVector is independent rounded Gaussian noise with a scale for each coordinate: coordinate
// k gets round(N(0, scales[k]²)/grid), in units of grid. It is [RoundedGaussian] with σ =
// scales[k]/grid, exactly, because the grid is a power of two.
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
//
// It is immutable and safe for concurrent use, each goroutine with its own Source.
type GaussianVector struct {
	coordinates []uint64 // a scale each: m in 53 bits, shift above
	cells       *cells
}

// NewGaussianVector returns the noise with the given standard deviations, one a coordinate, in
// units of the data, on a grid that is a power of two (any exponent a float64 has). Each
// scales[k]/grid must be in [[MinScale], [MaxScale]]; so zero, a coordinate without noise, is
// refused. An empty scales gives the noise of no coordinates. The scales are copied. Every error
// wraps [ErrParameter].
func NewGaussianVector(scales []float64, grid float64) (*GaussianVector, error) {
	f, g := math.Frexp(grid)
	if f != .5 { // also 0, negative, NaN and Inf
		return nil, fmt.Errorf("noise: %w: grid %v is not a power of two", ErrParameter, grid)
	}
	v := &GaussianVector{make([]uint64, len(scales)), theCells()}
	for k, sigma := range scales {
		c, ok := newScale(sigma, g-1)
		if !ok {
			return nil, fmt.Errorf(
				"noise: coordinate %d: %w: scale %v on grid %v is not in [2^-10, 2^48] steps", k,
				ErrParameter, sigma, grid)
		}
		v.coordinates[k] = c.m | uint64(c.shift)<<53
	}
	return v, nil
}

// AddTo adds a draw to dst, in units of the grid. It panics unless dst has one element a
// coordinate.
func (v *GaussianVector) AddTo(dst []int64, src *Source) {
	if len(dst) != len(v.coordinates) {
		panic(fmt.Sprintf("noise: noise of %d coordinates added to %d", len(v.coordinates), len(dst)))
	}
	b := src.stream()
	for k := range dst {
		c := v.coordinates[k]
		dst[k] += scale{c & (1<<53 - 1), uint(c >> 53)}.sample(b, v.cells)
	}
}
