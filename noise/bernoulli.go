package noise

import "math/big"

// This file decides events of probability exp(−γ), γ ≥ 0, by CKS Algorithm 1: for 0 ≤ γ ≤ 1 let K
// be the first k = 1, 2, ... for which a trial of probability γ/k fails. Then P(K > k) = γ^k/k! and
// P(K is odd) = Σ(−γ)^k/k! = exp(−γ). A trial of probability γ/k is one of probability 1/k and,
// independently, one of probability γ. A larger γ is split: exp(−γ) = exp(−1)^n·exp(−(γ−n)).

// oneIn returns true with probability 1/k, k ≥ 1.
func (b *stream) oneIn(k uint64) bool {
	return k == 1 || b.uniform(k) == 0
}

// expMinusOne returns true with probability exp(−1): Algorithm 1 with γ = 1, whose first trial
// always succeeds.
func (b *stream) expMinusOne() bool {
	k := uint64(2)
	for b.oneIn(k) {
		k++
	}
	return k%2 == 1
}

// expMinusFrom returns true with probability exp(−γ) for a γ in [0, 1) that is known to lie in
// [low, low+width]/2^64. u is the first 64 digits of the U that is first compared with γ; where the
// digits u of a U do not decide U < γ, it asks below(u).
func (b *stream) expMinusFrom(u, low, width uint64, below func(u uint64) bool) bool {
	k := uint64(1)
	// U is in [u, u+1)/2^64: below γ if u+1 ≤ low, not below if u ≥ low+width.
	for u < low || u-low < width && below(u) {
		if k++; !b.oneIn(k) {
			break
		}
		u = b.word()
	}
	return k%2 == 1
}

// expMinus returns true with probability exp(−num/den), num ≥ 0, den > 0. On average it takes fewer
// than 1.6 trials for the whole part, whatever that is.
func (b *stream) expMinus(num, den *big.Int) bool {
	whole, rest := new(big.Int).DivMod(num, den, new(big.Int))
	for one := big.NewInt(1); whole.Sign() > 0; whole.Sub(whole, one) {
		if !b.expMinusOne() {
			return false
		}
	}
	digit := whole.Lsh(rest, 64)
	low := digit.Div(digit, den).Uint64()
	return b.expMinusFrom(b.word(), low, 1, func(u uint64) bool { return b.below(u, rest, den) })
}

// below reports U < num/den for a uniform U with first 64 binary digits u, and 0 ≤ num < den: it
// goes through the digits of both in base 2^64, drawing those of U, until they differ.
func (b *stream) below(u uint64, num, den *big.Int) bool {
	digit, rest := new(big.Int), new(big.Int).Set(num)
	for {
		rest.Lsh(rest, 64)
		digit.DivMod(rest, den, rest)
		if d := digit.Uint64(); u != d {
			return u < d
		}
		u = b.word()
	}
}
