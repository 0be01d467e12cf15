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
// scores[t])). It takes at most n rounds on average, n the number of candidates; how many depends
// on the scores.
//
// The error, for no scores and for a lambda that is negative, infinite or NaN, wraps [ErrParameter]
// and tells no score.
func Select(src *Source, scores []int64, lambda float64) (int, error) {
	if len(scores) == 0 {
		return 0, fmt.Errorf("%w: no candidates to select from", ErrParameter)
	}
	if !(lambda >= 0) || math.IsInf(lambda, 1) {
		return 0, fmt.Errorf("%w: lambda %v is not a finite number ≥ 0", ErrParameter, lambda)
	}
	b, best := choosing(src.stream(), scores, lambda), slices.Max(scores)
	for {
		t := b.uniform(uint64(len(scores)))
		// The difference may exceed int64; modulo 2^64 it is right.
		if b.keepGap(uint64(best)-uint64(scores[t]), lambda) {
			return int(t), nil
		}
	}
}

// keepGap returns true with probability exp(−lambda·gap), lambda = m·2^e.
func (b *stream) keepGap(gap uint64, lambda float64) bool {
	if lambda == 0 {
		return true
	}
	m, e := split(lambda)
	num, den := new(big.Int).SetUint64(m), big.NewInt(1)
	num.Mul(num, new(big.Int).SetUint64(gap)).Lsh(num, uint(max(e, 0)))
	return b.expMinus(num, den.Lsh(den, uint(max(-e, 0))))
}
