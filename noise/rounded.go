package noise

import (
	"math"
	"math/big"
	"math/bits"
)

// RoundedGaussian is the distribution of round(N), where N is a real normal variable with mean 0
// and standard deviation σ, exactly the float64 given, and round takes the nearest integer (ties
// have probability zero).
//
// Added to integers it is post-processing of N added to them, and so as private as N in every
// respect (docs/claims/measure.md, also on why it is not the discrete Gaussian). The price is the
// variance of rounding, 1/12.
//
// It is immutable and safe for concurrent use, each goroutine with its own Source. The zero value
// panics when drawn from.
type RoundedGaussian struct {
	// σ = m·2^−shift, 2^52 ≤ m < 2^53, shift in [4, 62]
	m     uint64
	shift uint
}

// NewRoundedGaussian returns the distribution with the given σ, in [[MinScale], [MaxScale]]. The
// error, for any other σ and NaN, wraps [ErrParameter].
func NewRoundedGaussian(sigma float64) (*RoundedGaussian, error) {
	if err := checkScale("sigma", sigma); err != nil {
		return nil, err
	}
	m, e := split(sigma)
	return &RoundedGaussian{m, uint(-e)}, nil
}

// Sample draws one value.
func (d *RoundedGaussian) Sample(src *Source) int64 { return draw(src.stream(), d) }

// AddTo adds an independent draw to each element of dst.
func (d *RoundedGaussian) AddTo(dst []int64, src *Source) {
	for i := range dst {
		dst[i] += d.Sample(src)
	}
}

// sample makes |N|/σ = (n + x)/64 from a cell n, as cells.go draws it, and a uniform x in (0, 1)
// that is kept with probability exp(−x(2n+x)/2¹³): the product of the two is ∝ exp(−(n+x)²/2¹³). It
// is Karney's Algorithm N on cells of 1/64 in the place of 1, and as there only the digits of x
// that matter are ever drawn. σ(n + x)/64 is then rounded.
func (d *RoundedGaussian) sample(b *stream) int64 {
	if d.m == 0 {
		// else a zero value would add no noise
		panic("noise: a RoundedGaussian is made by NewRoundedGaussian")
	}
	for {
		w := b.word()
		n, x := b.cell(w>>1), digits{first: b.word()}
		if b.keepFraction(n, &x) {
			negative := -int64(w & 1) // 0 or −1, without a branch: nobody can predict it
			return d.round(b, n, &x) ^ negative - negative
		}
	}
}

// keepFraction returns true with probability exp(−x(2n+x)/2¹³), as parts(n) independent events of
// probability exp(−γ), γ = x(2n+x)/(2¹³·parts(n)) < 1.
func (b *stream) keepFraction(n uint64, x *digits) bool {
	low := gammaWord(n, x.first)
	for range parts(n) {
		if !b.expMinusFrom(b.word(), low, 2, func(u uint64) bool { return x.above(b, n, u) }) {
			return false
		}
	}
	return true
}

// parts is 1 for any cell below 64 standard deviations.
func parts(n uint64) uint64 { return 1 + n>>(gammaBits-1) }

// gammaWord returns a low with low ≤ 2^64·γ ≤ low + 2 for γ = x(2n+x)/(2¹³·parts(n)) and every x in
// [X, X+1]/2^64; n < 2^62.
//
// It is ⌊2^64·γ⌋ at x = X/2^64, where 2^64·γ = (2nX + X²/2^64)/(2¹³·parts): taking ⌊X²/2^64⌋ first
// does not change the floor of the quotient, as ⌊(a+s)/c⌋ = ⌊(a+⌊s⌋)/c⌋ for integers a, c. From X
// to X+1 it grows by at most 1, as dγ/dx = (2n+2x)/(2¹³·parts) ≤ 1.
func gammaWord(n, X uint64) (low uint64) {
	hi, lo := bits.Mul64(X, 2*n)
	square, _ := bits.Mul64(X, X)
	lo, carry := bits.Add64(lo, square, 0)
	hi += carry // ≤ 2n
	if n < 1<<(gammaBits-1) {
		return hi<<(64-gammaBits) | lo>>gammaBits
	}
	// 2n is less than the divisor, so the quotient fits
	low, _ = bits.Div64(hi, lo, parts(n)<<gammaBits)
	return low
}

// round returns the integer nearest to σ(n + x)/64, modulo 2^64.
//
// With X = ⌊x·2^64⌋ the product lies in [P, P+m]·2^−(64+s), P = m(n·2^64 + X), s = shift + 6. If ⌊·
// + ½⌋ is the same for P and P+m, it is the answer; if not, which happens with probability about
// σ·2^−70, more digits of x decide. For n < 2^9 and s < 63, P + m is below 2^127 and the half,
// 2^(63+s), a power of two of the upper word.
func (d *RoundedGaussian) round(b *stream, n uint64, x *digits) int64 {
	if s := d.shift + cellBits; n < 1<<9 && s < 63 {
		hi, lo := bits.Mul64(d.m, x.first)
		hi += d.m*n + 1<<(s-1)
		_, carry := bits.Add64(lo, d.m, 0)
		if r := hi >> s; r == (hi+carry)>>s {
			return int64(r)
		}
	}
	return d.roundSlowly(b, n, x)
}

// roundSlowly is round for any n and σ, with as many digits of x as it takes.
func (d *RoundedGaussian) roundSlowly(b *stream, n uint64, x *digits) int64 {
	m := new(big.Int).SetUint64(d.m)
	for {
		known := x.bits()
		shift := known + d.shift + cellBits
		p := new(big.Int).SetUint64(n)
		p.Add(p.Lsh(p, known), x.int())
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

// digits is a uniform number in (0, 1) in base 2^64, known as far as it was needed. Digits, once
// drawn, stay.
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

// above reports U < γ for a uniform U with first 64 binary digits u and γ = x(2n+x)/(2¹³·parts(n)),
// drawing digits of both until the comparison is the same for every continuation of them.
func (x *digits) above(b *stream, n, u uint64) bool {
	y := digits{first: u}
	one := big.NewInt(1)
	for {
		for y.bits() < x.bits() {
			y.extend(b)
		}
		for x.bits() < y.bits() {
			x.extend(b)
		}
		// All in units of 2^−2known/(2¹³·parts): U is in [left(Y), left(Y+1)), γ in [right(X),
		// right(X+1)].
		known := x.bits()
		twoN := new(big.Int).Lsh(new(big.Int).SetUint64(n), known+1)
		left := func(v *big.Int) *big.Int {
			w := new(big.Int).Lsh(new(big.Int).SetUint64(parts(n)), known+gammaBits)
			return w.Mul(w, v)
		}
		right := func(v *big.Int) *big.Int {
			w := new(big.Int).Add(twoN, v)
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
