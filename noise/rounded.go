package noise

import (
	"math"
	"math/big"
	"math/bits"
)

// RoundedGaussian is the distribution of round(N), where N is a real normal variable with mean 0 and standard deviation σ,
// exactly the float64 given, and round takes the nearest integer (ties have probability zero).
//
// Why it and not the discrete Gaussian. Let q be an integer vector query with ℓ₂ sensitivity Δ₂ and N a vector of independent
// N(0, σ²). Then
//
//	q + round(N) = round(q + N)    coordinate by coordinate, since q is integer,
//
// so what is released is a function of q + N, the output of the continuous Gaussian mechanism, and post-processing cannot
// weaken it: it is (Δ₂/σ)-GDP (Dong, Roth, Su 2019, arXiv 1905.02383, section 2), in every dimension, under every
// adjacency, and wherever the Gaussian mechanism's accounting applies, Poisson sampling included. The discrete Gaussian has
// this for zCDP only: its δ at some ε exceeds the continuous mechanism's, in one dimension already. The price is the variance
// of rounding, 1/12.
//
// It is immutable and safe for concurrent use, each goroutine with its own Source. The zero value panics when drawn from.
type RoundedGaussian struct {
	m     uint64 // σ = m·2^−shift, 2^52 ≤ m < 2^53
	shift uint   // in [4, 62]
}

// NewRoundedGaussian returns the distribution with the given σ, in [[MinScale], [MaxScale]]. The error, for any other σ and
// NaN, wraps [ErrParameter].
func NewRoundedGaussian(sigma float64) (*RoundedGaussian, error) {
	if err := checkScale("sigma", sigma); err != nil {
		return nil, err
	}
	m, e := split(sigma)
	return &RoundedGaussian{m: m, shift: uint(-e)}, nil
}

// Sample draws one value.
func (d *RoundedGaussian) Sample(src *Source) int64 { return d.sample(src.stream()) }

// AddTo adds an independent draw to each element of dst.
func (d *RoundedGaussian) AddTo(dst []int64, src *Source) {
	b := src.stream()
	for i := range dst {
		dst[i] += d.sample(b)
	}
}

// sample is Karney's Algorithm N, which makes |N|/σ = k + x from an integer k and a uniform x in (0, 1) of which only the
// digits that matter are ever drawn, followed by the rounding of σ(k + x).
func (d *RoundedGaussian) sample(b *stream) int64 {
	if d.m == 0 {
		panic("noise: a RoundedGaussian is made by NewRoundedGaussian") // else a zero value would add no noise
	}
	for {
		k := b.halfNormalInt()
		x := digits{first: b.word()}
		if !b.keepFraction(k, &x) {
			continue
		}
		r := d.round(b, k, &x)
		if b.bit() {
			return -r
		}
		return r
	}
}

// halfNormalInt returns k ≥ 0 with probability ∝ exp(−k²/2). Steps N1 and N2: a geometric k with P(k) ∝ exp(−k/2) is kept
// with probability exp(−k(k−1)/2).
func (b *stream) halfNormalInt() uint64 {
	for {
		k := uint64(0)
		for b.expMinusHalf() {
			k++
		}
		tries := uint64(0)
		if k > 1 {
			tries = k * (k - 1)
		}
		for ; tries > 0 && b.expMinusHalf(); tries-- {
		}
		if tries == 0 {
			return k
		}
	}
}

// keepFraction returns true with probability exp(−x(2k+x)/2). Step N4: k+1 independent events of probability exp(−γ),
// γ = x(2k+x)/(2k+2) < 1.
func (b *stream) keepFraction(k uint64, x *digits) bool {
	low := gammaWord(k, x.first)
	for range k + 1 {
		if !b.expMinusFraction(low, 2, func(u uint64) bool { return x.above(b, k, u) }) {
			return false
		}
	}
	return true
}

// gammaWord returns a low with low ≤ 2^64·γ ≤ low + 2 for γ = x(2k+x)/(2k+2) and every x in [X, X+1]/2^64; k < 2^62.
//
// It is ⌊2^64·γ⌋ at x = X/2^64, where 2^64·γ = (2kX + X²/2^64)/(2k+2): taking ⌊X²/2^64⌋ first does not change the floor of
// the quotient, as ⌊(a+s)/n⌋ = ⌊(a+⌊s⌋)/n⌋ for integers a, n. From X to X+1 it grows by at most 1, as dγ/dx = (2k+2x)/(2k+2) ≤ 1.
func gammaWord(k, X uint64) (low uint64) {
	hi, lo := bits.Mul64(X, 2*k)
	square, _ := bits.Mul64(X, X)
	lo, carry := bits.Add64(lo, square, 0)
	low, _ = bits.Div64(hi+carry, lo, 2*k+2) // hi+carry ≤ 2k, so the quotient fits
	return low
}

// round returns the integer nearest to σ(k + x), modulo 2^64.
//
// With X = ⌊x·2^64⌋ the product lies in [P, P+m]·2^−(64+shift), P = m(k·2^64 + X). If ⌊· + ½⌋ is the same for P and P+m, it
// is the answer; if not, which happens with probability about σ·2^−64, more digits of x decide. For k < 2^10, P + m is
// below 2^127 and the half, 2^(63+shift), a power of two of the upper word.
func (d *RoundedGaussian) round(b *stream, k uint64, x *digits) int64 {
	if k < 1<<10 {
		hi, lo := bits.Mul64(d.m, x.first)
		hi += d.m*k + 1<<(d.shift-1)
		_, carry := bits.Add64(lo, d.m, 0)
		if r := hi >> d.shift; r == (hi+carry)>>d.shift {
			return int64(r)
		}
	}
	return d.roundSlowly(b, k, x)
}

// roundSlowly is round for any k, with as many digits of x as it takes.
func (d *RoundedGaussian) roundSlowly(b *stream, k uint64, x *digits) int64 {
	m := new(big.Int).SetUint64(d.m)
	for {
		n := x.bits()
		shift := n + d.shift
		p := new(big.Int).SetUint64(k)
		p.Add(p.Lsh(p, n), x.int())
		p.Mul(p, m)
		p.Add(p, new(big.Int).Lsh(big.NewInt(1), shift-1))
		r := new(big.Int).Rsh(p, shift)
		p.Add(p, m)
		if p.Rsh(p, shift).Cmp(r) == 0 {
			return int64(r.And(r, new(big.Int).SetUint64(math.MaxUint64)).Uint64())
		}
		x.extend(b)
	}
}

// digits is a uniform number in (0, 1) in base 2^64, known as far as it was needed. Digits, once drawn, stay.
type digits struct {
	first uint64
	more  []uint64
}

func (x *digits) extend(b *stream) { x.more = append(x.more, b.word()) }

// bits returns the number of binary digits known.
func (x *digits) bits() uint { return 64 * uint(1+len(x.more)) }

// int returns ⌊x·2^bits⌋.
func (x *digits) int() *big.Int {
	v := new(big.Int).SetUint64(x.first)
	for _, w := range x.more {
		v.Or(v.Lsh(v, 64), new(big.Int).SetUint64(w))
	}
	return v
}

// above reports U < γ for a uniform U with first 64 binary digits u and γ = x(2k+x)/(2k+2), drawing digits of both until the
// comparison is the same for every continuation of them.
func (x *digits) above(b *stream, k, u uint64) bool {
	y := digits{first: u}
	one := big.NewInt(1)
	for {
		for y.bits() < x.bits() {
			y.extend(b)
		}
		for x.bits() < y.bits() {
			x.extend(b)
		}
		n := x.bits()
		// All in units of 2^−2n/(2k+2): U is in [left(Y), left(Y+1)), γ in [right(X), right(X+1)].
		twoK := new(big.Int).Lsh(new(big.Int).SetUint64(k), n+1)
		left := func(v *big.Int) *big.Int {
			w := new(big.Int).SetUint64(k)
			w.Lsh(w.Add(w, one), n+1)
			return w.Mul(w, v)
		}
		right := func(v *big.Int) *big.Int {
			w := new(big.Int).Add(twoK, v)
			return w.Mul(w, v)
		}
		xInt, yInt := x.int(), y.int()
		if left(new(big.Int).Add(yInt, one)).Cmp(right(xInt)) <= 0 {
			return true
		}
		if left(yInt).Cmp(right(xInt.Add(xInt, one))) >= 0 {
			return false
		}
		y.extend(b)
	}
}
