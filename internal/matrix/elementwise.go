package matrix

import "math"

// The constants of exp and log are those of the Cephes library (Moshier, expf.c and logf.c,
// https://netlib.org/cephes). The assembly has the same.
const (
	expMin = -87.3
	expMax = 88.0
	log2e  = 1.44269504088896341
	ln2Hi  = 0.693359375
	ln2Lo  = -2.12194440e-4

	sqrtHalfBits = 0x3f3504f3
)

// expTo sets dst to e^src, with a relative error of at most 2·10⁻⁷. Arguments below −87.3 and above
// 88 give what these give, so the result is positive and finite; NaN stays NaN. dst may be src.
func expTo(dst, src []float32) {
	same("Exp", len(dst), len(src))
	eachTo(dst, src, exp, expAVX2)
}

// eachTo sets dst to f of src: where there is a vector unit by its twin, which takes eight numbers
// at a time.
func eachTo(
	dst, src []float32, f func(float32) float32, vector func(n int, dst, src *float32),
) {
	if !vectors {
		for i, x := range src {
			dst[i] = f(x)
		}
		return
	}
	n := len(src) &^ 7
	if n > 0 {
		vector(n, &dst[0], &src[0])
	}
	if n < len(src) {
		rest := [8]float32{1, 1, 1, 1, 1, 1, 1, 1}
		copy(rest[:], src[n:])
		vector(8, &rest[0], &rest[0])
		copy(dst[n:], rest[:])
	}
}

// exp is e^x: with n = round(x/ln 2) and r = x − n·ln 2, 2ⁿ·(1 + r + r²·p(r)).
func exp(x float32) float32 {
	if x != x {
		return x
	}
	x = min(max(x, expMin), expMax)
	n := float32(math.RoundToEven(float64(x * log2e)))
	r := x - n*ln2Hi
	r -= n * ln2Lo
	p := float32(1.9875691500e-4)
	p = p*r + 1.3981999507e-3
	p = p*r + 8.3334519073e-3
	p = p*r + 4.1665795894e-2
	p = p*r + 1.6666665459e-1
	p = p*r + 5.0000001201e-1
	y := p*(r*r) + r + 1
	return math.Float32frombits(math.Float32bits(y) + uint32(int32(n))<<23)
}

// negLogTo sets dst to −ln src for positive, normal, finite numbers, with a relative error of at
// most 3·10⁻⁷. Other arguments give garbage. dst may be src.
func negLogTo(dst, src []float32) {
	same("NegLog", len(dst), len(src))
	eachTo(dst, src, negLog, negLogAVX2)
}

// negLog is −ln x: with x = m·2^e, √½ ≤ m < √2 and f = m − 1, ln m = f − f²/2 + f³·p(f).
func negLog(x float32) float32 {
	bits := math.Float32bits(x)
	e := int32(bits-sqrtHalfBits) >> 23
	f := math.Float32frombits(bits-uint32(e)<<23) - 1
	p := float32(7.0376836292e-2)
	p = p*f - 1.1514610310e-1
	p = p*f + 1.1676998740e-1
	p = p*f - 1.2420140846e-1
	p = p*f + 1.4249322787e-1
	p = p*f - 1.6668057665e-1
	p = p*f + 2.0000714765e-1
	p = p*f - 2.4999993993e-1
	p = p*f + 3.3333331174e-1
	n, ff := float32(e), f*f
	y := p * f * ff
	y += n * ln2Lo
	y -= .5 * ff
	return -(f + y + n*ln2Hi)
}
