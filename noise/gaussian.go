package noise

import "math/big"

// DiscreteGaussian is the distribution on the integers with P(x) ∝ exp(−x²/2σ²), σ being exactly
// the float64 given.
//
// Added to an integer query of sensitivity Δ it is ½(Δ/σ)²-zCDP (CKS, Theorem 4), as the continuous
// Gaussian is, with a slightly smaller variance. It is not (Δ/σ)-GDP: for that use
// [RoundedGaussian].
//
// It is immutable and safe for concurrent use, each goroutine with its own Source. The zero value
// panics when drawn from.
type DiscreteGaussian struct {
	sigma   float64
	t       uint64          // ⌊σ⌋ + 1
	ratio   float64         // σ/t rounded
	laplace DiscreteLaplace // of scale t
}

// NewDiscreteGaussian returns the distribution with the given σ, in [[MinScale], [MaxScale]]. The
// error, for any other σ and NaN, wraps [ErrParameter].
func NewDiscreteGaussian(sigma float64) (*DiscreteGaussian, error) {
	if err := checkScale("sigma", sigma); err != nil {
		return nil, err
	}
	t := uint64(sigma) + 1
	return &DiscreteGaussian{sigma, t, sigma / float64(t), DiscreteLaplace{t: t}}, nil
}

// Sample draws one value.
func (d *DiscreteGaussian) Sample(src *Source) int64 { return d.sample(src.stream()) }

// AddTo adds an independent draw to each element of dst.
func (d *DiscreteGaussian) AddTo(dst []int64, src *Source) {
	b := src.stream()
	for i := range dst {
		dst[i] += d.sample(b)
	}
}

// sample is CKS Algorithm 3: a discrete Laplace draw y of scale t is kept with probability
// exp(−γ(|y|)), where γ(y) = (y − σ²/t)²/2σ². The product of the two is ∝ exp(−y²/2σ²).
func (d *DiscreteGaussian) sample(b *stream) int64 {
	if d.t == 0 {
		// else a zero value would add no noise
		panic("noise: a DiscreteGaussian is made by NewDiscreteGaussian")
	}
	for {
		x := d.laplace.sample(b)
		y := uint64(max(x, -x))
		lo, hi := d.interval(y)
		if b.expMinusBetween(lo, hi, func() *big.Rat { return d.gamma(y) }) {
			return x
		}
	}
}

// interval returns lo ≤ γ(y) ≤ hi; lo may be negative.
//
// Proof. γ = ½(A−B)² with A = y/σ and B = σ/t ≤ 1. Let η = 2^−53, the relative error of one float64
// operation; terms in η² are covered by the slack at the end. |a−A| ≤ 2ηA (y to float64, division)
// and |ratio−B| ≤ η, so r, the rounded a−ratio, has |r−(A−B)| ≤ 2ηA + η + η(A+1) ≤ 3η(A+1). Both
// |r| and |A−B| are at most A+1, so |½r²−γ| = ½|r−(A−B)|·|r+(A−B)| ≤ 3η(A+1)². Rounding r² adds
// ½η(A+1)², and rounding g∓margin ½η(A+1)² + η·margin: in all 4η(A+1)² and terms in η², where the
// margin is 8η(A+1)². The explicit conversions forbid fused operations, of which this says nothing.
func (d *DiscreteGaussian) interval(y uint64) (lo, hi float64) {
	a := float64(y) / d.sigma
	r := a - d.ratio
	g := float64(r*r) / 2
	margin := float64((a+1)*(a+1)) * 0x1p-50
	return g - margin, g + margin
}

// gamma returns γ(y) exactly.
func (d *DiscreteGaussian) gamma(y uint64) *big.Rat {
	sigma := new(big.Rat).SetFloat64(d.sigma)
	a := new(big.Rat).SetInt(new(big.Int).SetUint64(y))
	a.Quo(a, sigma)
	a.Sub(a, sigma.Quo(sigma, new(big.Rat).SetInt(new(big.Int).SetUint64(d.t))))
	a.Mul(a, a)
	return a.Quo(a, big.NewRat(2, 1))
}
