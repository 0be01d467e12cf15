package accountant

import "math"

// ulp is the unit roundoff of float64.
const ulp = 1.0 / (1 << 53)

// logPhi returns ln Φ(x), Φ the standard normal distribution function, with an absolute error of a
// few ulps of 1 + |ln Φ|.
func logPhi(x float64) float64 {
	if x > -30 {
		return math.Log(math.Erfc(-x/math.Sqrt2) / 2)
	}
	// Asymptotic series of the Mills ratio (Abramowitz & Stegun 26.2.12); at x = -30 the first omitted
	// term is 2e-14.
	w := 1 / (x * x)
	return -x*x/2 - math.Log(-x) - math.Log(2*math.Pi)/2 +
		math.Log1p(w*(-1+w*(3+w*(-15+w*(105-w*945)))))
}
