package noise

import "math/bits"

// DiscreteLaplace is the distribution on the integers with P(x) ∝ exp(−|x|/scale), scale being
// exactly the float64 given.
//
// Added to an integer query of sensitivity Δ₁ it is (Δ₁/scale)-DP; each coordinate of a vector
// takes a draw of its own, and Δ₁ is then the ℓ₁ sensitivity. (Ghosh, Roughgarden, Sundararajan
// 2009, arXiv 0811.2841.)
//
// It is immutable and safe for concurrent use, each goroutine with its own Source. The zero value
// panics when drawn from.
type DiscreteLaplace struct {
	t     uint64 // scale = t/2^shift
	shift uint
}

// NewDiscreteLaplace returns the distribution with the given scale, in [[MinScale], [MaxScale]].
// The error, for any other scale and NaN, wraps [ErrParameter].
func NewDiscreteLaplace(scale float64) (*DiscreteLaplace, error) {
	if err := checkScale("scale", scale); err != nil {
		return nil, err
	}
	m, e := split(scale)
	return &DiscreteLaplace{t: m, shift: uint(-e)}, nil // −e is 52 − ⌊log₂ scale⌋, in [4, 62]
}

// Sample draws one value.
func (d *DiscreteLaplace) Sample(src *Source) int64 { return draw(src.stream(), d) }

// AddTo adds an independent draw to each element of dst.
func (d *DiscreteLaplace) AddTo(dst []int64, src *Source) {
	for i := range dst {
		dst[i] += d.Sample(src)
	}
}

// sample is CKS Algorithm 2. With U uniform in 0..t−1, kept with probability exp(−U/t), and V
// geometric, P(V ≥ v) = exp(−v), X = U + tV has P(X = x) ∝ exp(−x/t), so P(⌊X/2^shift⌋ = y) ∝
// exp(−y/scale). A sign makes it two-sided; refusing −0 keeps zero from counting twice.
func (d *DiscreteLaplace) sample(b *stream) int64 {
	if d.t == 0 {
		// else a zero value would add no noise
		panic("noise: a DiscreteLaplace is made by NewDiscreteLaplace")
	}
	for {
		u := b.uniform(d.t)
		if !b.expMinusRatio(u, d.t) {
			continue
		}
		v := uint64(0)
		for b.expMinusOne() {
			v++
		}
		y, zero := d.quotient(u, v)
		if negative := b.uniform(2) == 0; !negative {
			return y
		} else if !zero {
			return -y
		}
	}
}

// quotient returns ⌊(u + t·v)/2^shift⌋ modulo 2^64, and whether it is zero, without the modulus; u
// < t.
func (d *DiscreteLaplace) quotient(u, v uint64) (y int64, zero bool) {
	hi, lo := bits.Mul64(v, d.t)
	lo, carry := bits.Add64(lo, u, 0)
	hi += carry
	y = int64(hi<<(64-d.shift) | lo>>d.shift)
	return y, y == 0 && hi>>d.shift == 0
}

// expMinusRatio returns true with probability exp(−num/den), num ≤ den, den > 0, as bernoulli.go
// does for larger numbers.
func (b *stream) expMinusRatio(num, den uint64) bool {
	k := uint64(1)
	for b.oneIn(k) && b.uniform(den) < num {
		k++
	}
	return k%2 == 1
}
