package access

import (
	"fmt"
	"math"
)

// EstimateBits is the grid on which public estimates are compared with counts, 2^-EstimateBits
// rows, so that sensitivities are exact.
const EstimateBits = 12

// Fixed is x on the grid of 2^-EstimateBits.
func Fixed(x, limit float64) (int64, error) {
	if !(math.Abs(x) < limit) {
		return 0, fmt.Errorf("%v must be finite and below %v in size", x, limit)
	}
	return int64(math.Round(x * (1 << EstimateBits))), nil
}

// Estimate is estimates of the counts of that many cells, on the grid: finite, below 2^48 rows.
func Estimate(xs []float64, cells int) ([]int64, error) {
	if len(xs) != cells {
		return nil, fmt.Errorf("%d estimates for %d cells", len(xs), cells)
	}
	out := make([]int64, cells)
	for i, x := range xs {
		var err error
		if out[i], err = Fixed(x, 1<<48); err != nil {
			return nil, fmt.Errorf("estimate %w", err)
		}
	}
	return out, nil
}

// Distance is from + Σ |count − estimate| in steps of the grid, or limit if a sum is above that.
func Distance(counts, estimate []int64, from, limit int64) int64 {
	for i, c := range counts {
		d := c<<EstimateBits - estimate[i]
		if from += max(d, -d); from > limit {
			return limit
		}
	}
	return from
}

// Down is x/y rounded towards zero, so that a noise multiplier is never overstated.
func Down(x, y float64) float64 {
	q := x / y
	if math.FMA(q, y, -x) > 0 {
		q = math.Nextafter(q, 0)
	}
	return q
}

// Up is x/y rounded away from zero, for positive x and y.
func Up(x, y float64) float64 {
	q := x / y
	if math.FMA(q, y, -x) < 0 {
		q = math.Nextafter(q, math.Inf(1))
	}
	return q
}

// Positive reports whether x is a usable parameter.
func Positive(x float64) bool { return x > 0 && !math.IsInf(x, 1) }
