package marginal

import "math"

// The exponentials of belief propagation: one per cell and iteration, so math.Exp (about 6 ns)
// would be most of the work.
//
// Method: x = (k/128)·ln 2 + r with |r| ≤ ln 2/256, exp(x) = 2^(k/128)·exp(r), the first factor
// from a table and the exponent bits, the second by its Taylor polynomial of degree 4, whose
// remainder is below r⁵/120 < 1.3e-15. The relative error against math.Exp is below 4e-15 on [-708,
// 0] (TestExpShift). Fitting only: sampling never calls it.

const (
	expBits = 7
	expN    = 1 << expBits
	// expMin is where results would leave the normal floats; below it the result is 0.
	expMin = -708.0
)

// expTable[j] = 2^(j/expN).
var expTable = func() (t [expN]float64) {
	for j := range t {
		t[j] = math.Exp2(float64(j) / expN)
	}
	return t
}()

// expShift replaces each x of v by exp(x - shift). Every x must be ≤ shift and not NaN; x = -Inf
// gives 0.
func expShift(v []float64, shift float64) {
	const (
		invL  = expN / math.Ln2
		lHi   = 0x1.62e42fefap-1 / expN // ln 2 in two parts: lHi·k is exact for |k| < 2^20
		lLo   = 0x1.cf79abc9e3b39p-40 / expN
		magic = 0x1.8p52 // adding it rounds to an integer, held in the low bits
	)
	for i, x := range v {
		x -= shift
		if x < expMin {
			v[i] = 0
			continue
		}
		t := x*invL + magic
		// the low 52 bits; the magic's own bits are above 2^51
		k := int64(math.Float64bits(t)) << 12 >> 12
		kf := t - magic
		r := x - kf*lHi - kf*lLo
		r2 := r * r
		p := r + r2*(0.5+r*(1.0/6)+r2*(1.0/24))
		s := expTable[k&(expN-1)]
		y := s + s*p
		v[i] = math.Float64frombits(math.Float64bits(y) + uint64(k>>expBits)<<52)
	}
}
