package noise

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
)

// Select is the exponential mechanism (McSherry, Talwar 2007): it returns t with probability
//
//	exp(lambda·scores[t]) / Σ_s exp(lambda·scores[s]),
//
// lambda being exactly the float64 given, in units of 1/score. With scores of sensitivity Δ, lambda
// = ε/2Δ makes it ε-DP, ε-bounded-range. Any scores are allowed, the extremes of int64 included;
// lambda 0 chooses uniformly.
//
// It is a rejection sampler: draw t uniformly, keep it with probability exp(−lambda·(max −
// scores[t])). It takes at most n rounds on average, n the number of candidates; how many depends
// on the scores.
//
// The error, for no scores and for a lambda that is negative, infinite or NaN, wraps [ErrParameter]
// and tells no score.
func Select(src *Source, scores []int64, lambda float64) (int, error) {
	if len(scores) == 0 {
		return 0, fmt.Errorf("noise: %w: no candidates to select from", ErrParameter)
	}
	if !(lambda >= 0) || math.IsInf(lambda, 1) {
		return 0, fmt.Errorf("noise: %w: lambda %v is not a finite number ≥ 0", ErrParameter, lambda)
	}
	b, best := src.stream(), slices.Max(scores)
	for {
		t := b.uniform(uint64(len(scores)))
		// The difference may exceed int64; modulo 2^64 it is right.
		if b.keepGap(uint64(best)-uint64(scores[t]), lambda) {
			return int(t), nil
		}
	}
}

// keepGap returns true with probability exp(−γ), γ = lambda·gap.
//
// With lambda = m·2^e, γ is the integer m·gap < 2^117 moved by e binary places. whole is its part
// before the point and low the first 64 digits after it, all of them digits of γ itself.
func (b *stream) keepGap(gap uint64, lambda float64) bool {
	if gap == 0 || lambda == 0 {
		return true
	}
	gamma := func() *big.Rat {
		x := new(big.Rat).SetFloat64(lambda)
		return x.Mul(x, new(big.Rat).SetInt(new(big.Int).SetUint64(gap)))
	}
	whole, low, ok := product(gap, lambda)
	if !ok {
		return b.expMinusRat(gamma())
	}
	return b.expMinusInt(whole) && b.expMinusFrom(b.word(), low, 1, func(u uint64) bool {
		g := gamma()
		return b.belowRat(u, g.Sub(g, new(big.Rat).SetInt(new(big.Int).SetUint64(whole))))
	})
}

// product returns ⌊x·2^64⌋ = whole·2^64 + low for x = lambda·gap, gap and lambda > 0, or false if x
// is 2^64 or more.
func product(gap uint64, lambda float64) (whole, low uint64, ok bool) {
	m, e := split(lambda)
	hi, lo := bits.Mul64(m, gap)
	// x·2^64 = (hi·2^64 + lo)·2^places. A shift by 64 or more gives 0; so do 64−k and k−64 where they
	// would be negative, since k is unsigned.
	places := e + 64
	if places <= 0 {
		k := uint(-places)
		return hi >> k, lo>>k | hi<<(64-k) | hi>>(k-64), true
	}
	zeros := bits.LeadingZeros64(hi)
	if hi == 0 {
		zeros += bits.LeadingZeros64(lo)
	}
	k := uint(places)
	return hi<<k | lo>>(64-k) | lo<<(k-64), lo << k, places <= zeros
}
