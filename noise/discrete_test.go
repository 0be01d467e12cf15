package noise

import (
	"math/big"
	"testing"
)

// discreteGaussian is the distribution on the integers with P(x) ∝ exp(−x²/2σ²), σ being exactly
// the float64 given: what RoundedGaussian must be told apart from, and the sampler that sums over
// several parties would take. No mechanism draws from it, and it is slow.
//
// Added to an integer query of sensitivity Δ it is ½(Δ/σ)²-zCDP (CKS, Theorem 4), as the continuous
// Gaussian is, with a slightly smaller variance. It is not (Δ/σ)-GDP, see TestProfile. It is within
// exp(−2^14) of its distribution, because a proposal beyond int64 is judged by its value modulo
// 2^64.
type discreteGaussian struct {
	sigma   float64
	t       uint64          // ⌊σ⌋ + 1
	laplace DiscreteLaplace // of scale t
	gammas  map[uint64]*big.Rat
}

func newDiscreteGaussian(sigma float64) (*discreteGaussian, error) {
	if err := checkScale("sigma", sigma); err != nil {
		return nil, err
	}
	t := uint64(sigma) + 1
	return &discreteGaussian{sigma, t, DiscreteLaplace{t: t}, map[uint64]*big.Rat{}}, nil
}

func (d *discreteGaussian) Sample(src *Source) int64 { return d.sample(src.stream()) }

func (d *discreteGaussian) AddTo(dst []int64, src *Source) {
	b := src.stream()
	for i := range dst {
		dst[i] += d.sample(b)
	}
}

// sample is CKS Algorithm 3: a discrete Laplace draw y of scale t is kept with probability
// exp(−γ(|y|)), where γ(y) = (y − σ²/t)²/2σ². The product of the two is ∝ exp(−y²/2σ²).
func (d *discreteGaussian) sample(b *stream) int64 {
	for {
		x := d.laplace.sample(b)
		y := uint64(max(x, -x))
		if d.gammas[y] == nil {
			d.gammas[y] = d.gamma(y)
		}
		if b.expMinus(d.gammas[y].Num(), d.gammas[y].Denom()) {
			return x
		}
	}
}

// gamma returns γ(y) exactly.
func (d *discreteGaussian) gamma(y uint64) *big.Rat {
	sigma := new(big.Rat).SetFloat64(d.sigma)
	a := new(big.Rat).SetInt(new(big.Int).SetUint64(y))
	a.Quo(a, sigma)
	a.Sub(a, sigma.Quo(sigma, new(big.Rat).SetInt(new(big.Int).SetUint64(d.t))))
	a.Mul(a, a)
	return a.Quo(a, big.NewRat(2, 1))
}

// TestGamma compares with (y − σ²/t)²/2σ² by hand.
func TestGamma(t *testing.T) {
	for _, c := range []struct {
		sigma float64
		y     uint64
		want  *big.Rat
	}{
		{1, 0, ratio(1, 8)},      // t = 2: (0 − ½)²/2
		{1, 3, ratio(25, 8)},     // (3 − ½)²/2
		{2.5, 2, ratio(1, 1800)}, // t = 3: (2 − 25/12)²/12.5
		{.5, 1, ratio(9, 8)},     // t = 1: (1 − ¼)²/½
	} {
		d, _ := newDiscreteGaussian(c.sigma)
		if got := d.gamma(c.y); got.Cmp(c.want) != 0 {
			t.Errorf("σ %v, y %d: γ = %v, want %v", c.sigma, c.y, got, c.want)
		}
	}
}
