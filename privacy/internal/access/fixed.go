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
