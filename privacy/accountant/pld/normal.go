package pld

import "math"

// interval is [a, b] on the real line, either end possibly infinite, with its width kept apart: b−a
// would be lost to rounding in a shifted copy.
type interval struct{ a, b, width float64 }

func (i interval) shifted(by float64) interval { return interval{i.a + by, i.b + by, i.width} }

const (
	// massError bounds the relative error of normalMass within 40 standard deviations.
	massError = 1e-12
	// narrow is the largest width·max(1, |m|) at which normalMass integrates the density by its Taylor
	// series about the midpoint m: there the first omitted term is below 1e-13, and above it the
	// difference of two erfc loses a factor of 100 at most to cancellation.
	narrow = 0.04
)

// normalMass returns the mass of N(0, 1) on i.
func normalMass(i interval) float64 {
	if m, d := i.a+i.width/2, i.width; d*math.Max(1, math.Abs(m)) < narrow {
		m2, d2 := m*m, d*d
		series := 1 + d2*((m2-1)/24+d2*(m2*m2-6*m2+3)/1920)
		return d * math.Exp(-m2/2) * series / math.Sqrt(2*math.Pi)
	}
	a, b := i.a/math.Sqrt2, i.b/math.Sqrt2
	switch {
	case a < 0 && b > 0:
		return (math.Erf(b) - math.Erf(a)) / 2
	case b <= 0:
		return (math.Erfc(-b) - math.Erfc(-a)) / 2
	}
	return (math.Erfc(a) - math.Erfc(b)) / 2
}
