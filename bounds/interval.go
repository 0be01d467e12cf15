package bounds

import "math"

// interval is a closed interval, lo ≤ hi, both finite.
type interval struct{ lo, hi float64 }

// size is the greatest absolute value in i.
func (i interval) size() float64 { return max(-i.lo, i.hi) }

// times holds every product of a number of i and a number of o. The extremes are at the four
// corners; the sign of i leaves two for each end. Exact if the corners are.
func (i interval) times(o interval) interval {
	switch {
	case i.lo >= 0:
		return interval{min(i.lo*o.lo, i.hi*o.lo), max(i.lo*o.hi, i.hi*o.hi)}
	case i.hi <= 0:
		return interval{min(i.lo*o.hi, i.hi*o.hi), max(i.lo*o.lo, i.hi*o.lo)}
	}
	return interval{min(i.lo*o.hi, i.hi*o.lo), max(i.lo*o.lo, i.hi*o.hi)}
}

// midRadius is an interval as mid ± rad, with the greatest absolute value. w·x for |w|·size ≤ 1
// then has three roundings of at most one unit each, and no branch on the sign of w.
type midRadius struct{ mid, rad, size float64 }

func (i interval) midRadius() midRadius {
	return midRadius{(i.lo + i.hi) / 2, (i.hi - i.lo) / 2, i.size()}
}

// widen moves both ends out by at least by, which is not negative.
func (i interval) widen(by float64) interval {
	return interval{math.Nextafter(i.lo-by, math.Inf(-1)), math.Nextafter(i.hi+by, math.Inf(1))}
}

// rounded holds the multiple of f nearest to any number of i, whichever way ties go; f is a power
// of two.
//
// With x = lo/f exact, the least such multiple is ⌈x − ½⌉. If x − ½ is rounded at all it is to a
// float between it and the next integer, or to that integer, so ⌈·⌉ of it is never greater than
// that of the real number. The other end is the mirror image.
func (i interval) rounded(f float64) interval {
	return interval{f * math.Ceil(i.lo/f-.5), f * math.Floor(i.hi/f+.5)}
}

const (
	unit32 = 0x1p-24 // unit roundoff of float32, in which the critic computes
	unit64 = 0x1p-53 // unit roundoff of float64, in which this package computes
	tiny   = 0x1p-124
)

// gamma is γ_n = nu/(1−nu), the relative error of a sum or product with n roundings of unit
// roundoff u; nu < 1.
func gamma(n int, u float64) float64 {
	nu := float64(n) * u
	return nu / (1 - nu)
}

// slack bounds how far a sum of n products computed with unit roundoff u, and the end of its
// interval as computed here, lie from exact arithmetic together, when the absolute values of the
// terms sum to at most size. Twice tiny = 2·2⁻¹²⁵ a term covers results that underflow in float32;
// sixteen extra roundings cover what is added to and taken off an end later.
func slack(n int, size float64) float64 {
	return (gamma(n+2, unit32)+gamma(n+16, unit64))*size*(1+0x1p-20) + float64(n)*tiny
}
