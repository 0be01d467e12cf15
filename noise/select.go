package noise

import (
	"fmt"
	"math"
	"math/big"
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
// scores[t])). The number of rounds is geometric with mean n / Σ_t exp(−lambda·(max − scores[t])),
// at most n, the number of candidates. The running time thus depends on the scores, which are
// private: do not publish it.
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
func (b *stream) keepGap(gap uint64, lambda float64) bool {
	if gap == 0 {
		return true // the best candidate, without a product 0·lambda to reason about
	}
	lo, hi := gapInterval(gap, lambda)
	return b.expMinusBetween(lo, hi, func() *big.Rat {
		x := new(big.Rat).SetFloat64(lambda)
		return x.Mul(x, new(big.Rat).SetInt(new(big.Int).SetUint64(gap)))
	})
}

// gapInterval returns lo ≤ lambda·gap ≤ hi; lo may be negative, and if the product overflows the
// two are NaN and Inf.
//
// gap to float64 and the product have relative errors of at most 2^−53, or, where the product is
// subnormal, an absolute error far below 2^−64; rounding g∓margin adds less than 2^−53·(g+margin).
// The margin is 8·2^−53·g + 2^−64.
func gapInterval(gap uint64, lambda float64) (lo, hi float64) {
	g := float64(float64(gap) * lambda)
	margin := float64(g*0x1p-50) + 0x1p-64
	return g - margin, g + margin
}
