package noise

import "math/big"

// DiscreteGaussian is the distribution on the integers with P(x) ∝ exp(−x²/2σ²), σ being exactly
// the float64 given. Independent draws of several parties may be added up: what their sum costs is
// proved (package accountant), which for the rounded Gaussian it is not.
//
// Added to an integer query of sensitivity Δ it is ½(Δ/σ)²-zCDP (CKS, Theorem 4), as the continuous
// Gaussian is, with a slightly smaller variance. It is not (Δ/σ)-GDP, see TestProfile. It is within
// exp(−2^14) of its distribution, because a proposal beyond int64 is judged by its value modulo
// 2^64.
//
// It is immutable and safe for concurrent use, each goroutine with its own Source. The zero value
// panics when drawn from. A draw takes about a microsecond.
type DiscreteGaussian struct {
	laplace DiscreteLaplace // of scale t = ⌊σ⌋ + 1
	// σ² = s/d: γ(y) = (y − σ²/t)²/2σ² is (y·t·d − s)²/(2·s·d·t²)
	td, s, denominator *big.Int
}

// NewDiscreteGaussian returns the distribution with the given σ, in [[MinScale], [MaxScale]]. The
// error, for any other σ and NaN, wraps [ErrParameter].
func NewDiscreteGaussian(sigma float64) (*DiscreteGaussian, error) {
	if err := checkScale("sigma", sigma); err != nil {
		return nil, err
	}
	square := new(big.Rat).SetFloat64(sigma)
	square.Mul(square, square)
	t := uint64(sigma) + 1
	g := &DiscreteGaussian{laplace: DiscreteLaplace{t: t}, s: square.Num()}
	big2t := new(big.Int).SetUint64(2 * t)
	g.td = new(big.Int).Mul(new(big.Int).SetUint64(t), square.Denom())
	g.denominator = big2t.Mul(big2t, g.td)
	g.denominator.Mul(g.denominator, g.s)
	return g, nil
}

// Sample draws one value.
func (g *DiscreteGaussian) Sample(src *Source) int64 { return draw(src.stream(), g) }

// AddTo adds an independent draw to each element of dst.
func (g *DiscreteGaussian) AddTo(dst []int64, src *Source) {
	for i := range dst {
		dst[i] += g.Sample(src)
	}
}

// sample is CKS Algorithm 3: a discrete Laplace draw x of scale t is kept with probability
// exp(−γ(|x|)). The product of the two is ∝ exp(−x²/2σ²).
func (g *DiscreteGaussian) sample(b *stream) int64 {
	for {
		x := g.laplace.sample(b)
		if b.expMinus(g.gamma(uint64(max(x, -x)))) {
			return x
		}
	}
}

// gamma returns numerator and denominator of γ(y).
func (g *DiscreteGaussian) gamma(y uint64) (num, den *big.Int) {
	a := new(big.Int).SetUint64(y)
	a.Mul(a, g.td).Sub(a, g.s)
	return a.Mul(a, a), g.denominator
}
