// Package derive bounds the ε of a composition of events a second time, from closed forms alone, in
// big floating-point numbers. It shares with package accountant the types of events and no
// arithmetic, so that a mistake in either shows. It plans nothing: its upper bound is loose where
// events have no closed form.
package derive

import (
	"math"
	"math/big"

	"github.com/decoy-dp/decoy/privacy/accountant"
)

// Range is bounds of the smallest ε that holds at a δ, whatever mechanisms the events stand for.
type Range struct {
	Lower float64 // there are mechanisms with these events that are not (ε, δ)-DP for any smaller ε
	Upper float64 // every choice of mechanisms is (Upper, δ)-DP; +Inf if this package has no bound
}

// Epsilon derives the range for a valid composition at delta, 0 ≤ δ < 1.
//
// Symbols: G_μ is the pair N(0, 1), N(μ, 1); R_ε randomised response, whose privacy loss is ε with
// probability e^ε/(1+e^ε), else −ε. The profile of G_μ and of any number of R is a sum over the
// losses l of the R, with their probabilities w:
//
//	δ(ε) = Σ w·δ_μ(ε − l),  δ_μ(x) = Φ(μ/2 − x/μ) − e^x·Φ(−μ/2 − x/μ)
//
// (Balle, Wang 2018, arXiv 1805.06530, theorem 8). What stands for an event from below is one of
// its mechanisms, and from above a pair that dominates all of them:
//
//	event                below       above
//	Gaussian, GDPFilter       G           G: μ² adds up (Dong, Roth, Su 2022, corollary 2)
//	Laplace              R_ε         R_ε, the largest of all ε-DP mechanisms
//	Exponential          R_(ε/2)     G with Φ(−μ/2) = 1/(1 + e^(ε/2)) (docs/claims/gdpfilter.md)
//	SubsampledGaussian   nothing     G of the whole table: exact at rate 1, less costs less
//	Approx               R_ε         R_ε, and its δ apart
//
// Leaving an event out makes a composition cheaper. Of many R the first are taken as such; the
// others are left out below, and above are G with Φ(−μ/2) = 1/(1 + e^ε).
func Epsilon(c accountant.Composition, delta float64, adj accountant.Adjacency) Range {
	below, above := newPair(), newPair()
	left := number(delta)
	known := true
	for _, charge := range c {
		n := charge.Count
		switch e := charge.Event.(type) {
		case accountant.Gaussian:
			below.gaussian(inverse(e.NoiseMultiplier), n)
			above.gaussian(inverse(e.NoiseMultiplier), n)
		case accountant.GDPFilter:
			below.gaussian(number(e.Mu), n)
			above.gaussian(number(e.Mu), n)
		case accountant.Laplace:
			below.response(number(e.Epsilon), n)
			above.responses(number(e.Epsilon), n)
		case accountant.Exponential:
			half := product(number(.5), number(e.Epsilon))
			below.response(half, n)
			above.gaussian(responseMu(half), n)
		case accountant.SubsampledGaussian:
			mu := inverse(e.NoiseMultiplier)
			if adj == accountant.ReplaceOne { // may move the sum by two bounds
				mu = product(mu, number(2))
			}
			if e.Rate == 1 {
				below.gaussian(mu, n)
			}
			above.gaussian(mu, n)
		case accountant.Approx:
			left.Sub(left, product(number(e.Delta), number(float64(n))))
			if e.Epsilon > 0 {
				below.response(number(e.Epsilon), n)
				above.responses(number(e.Epsilon), n)
			}
		default:
			known = false
		}
	}
	out := Range{Lower: below.epsilon(number(delta)) * (1 - slack), Upper: math.Inf(1)}
	if known && left.Sign() >= 0 {
		out.Upper = above.epsilon(left) * (1 + slack)
	}
	if math.IsNaN(out.Lower) { // of too large a μ
		out.Lower = 0
	}
	if math.IsNaN(out.Upper) {
		out.Upper = math.Inf(1)
	}
	return out
}

const (
	precision = 256  // bits; what is computed here is right to far more than slack says
	slack     = 1e-9 // relative, of the bisections
	maxLosses = 64   // of the R that are taken as such
	maxLoss   = 1000 // of one R; what is larger is of no use
	maxMu     = 20   // ε is above 200 from there on: of no use, and slow
	negligent = 60.0 // with μ ≤ 20 both terms of δ_μ are below 10^−340 where Φ(−60) is in one
)

// pair is G with μ² and the sums of losses of the R, with their probabilities.
type pair struct {
	muSquared *big.Float
	losses    []loss
}

type loss struct{ size, probability *big.Float }

func newPair() *pair { return &pair{number(0), []loss{{number(0), number(1)}}} }

// gaussian adds n times G.
func (p *pair) gaussian(mu *big.Float, n int) {
	p.muSquared.Add(p.muSquared, product(product(mu, mu), number(float64(n))))
}

// response adds n times R, or as many as there is room for, and returns how many.
func (p *pair) response(epsilon *big.Float, n int) int {
	n = min(n, maxLosses/len(p.losses)-1)
	if n < 1 || epsilon.Cmp(number(maxLoss)) > 0 {
		return 0
	}
	e := exp(epsilon)
	no := quotient(number(1), sum(number(1), e))
	yes := product(no, e)
	var out []loss
	for _, l := range p.losses {
		ways := big.NewInt(0)
		for k := range n + 1 { // of n say −ε
			w := new(big.Float).SetPrec(precision).SetInt(ways.Binomial(int64(n), int64(k)))
			w = product(w, product(power(no, k), power(yes, n-k)))
			size := sum(l.size, product(epsilon, number(float64(n-2*k))))
			out = append(out, loss{size, product(l.probability, w)})
		}
	}
	p.losses = out
	return n
}

// responses adds n times R, those that there is no room for as G.
func (p *pair) responses(epsilon *big.Float, n int) {
	p.gaussian(responseMu(epsilon), n-p.response(epsilon, n))
}

// epsilon is the smallest ε with a profile of at most delta, to a few units of 10^−10; NaN if μ is
// too large to tell, +Inf if there is none.
func (p *pair) epsilon(delta *big.Float) float64 {
	mu := new(big.Float).SetPrec(precision).Sqrt(p.muSquared)
	if m, _ := mu.Float64(); m > maxMu {
		return math.NaN()
	}
	if delta.Sign() == 0 && mu.Sign() > 0 {
		return math.Inf(1)
	}
	within := func(epsilon float64) bool { return p.profile(mu, number(epsilon)).Cmp(delta) <= 0 }
	if within(0) {
		return 0
	}
	lo, hi := 0., 1.
	for !within(hi) {
		lo, hi = hi, 2*hi
	}
	for hi-lo > hi*slack/8 {
		if mid := lo + (hi-lo)/2; within(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// profile is δ(ε).
func (p *pair) profile(mu, epsilon *big.Float) *big.Float {
	out := number(0)
	for _, l := range p.losses {
		x := new(big.Float).SetPrec(precision).Sub(epsilon, l.size)
		var delta *big.Float
		if mu.Sign() == 0 {
			if delta = new(big.Float).SetPrec(precision).Sub(number(1), exp(x)); delta.Sign() < 0 {
				delta = number(0)
			}
		} else {
			half, ratio := product(mu, number(.5)), quotient(x, mu)
			first := phi(new(big.Float).SetPrec(precision).Sub(half, ratio))
			second := phi(new(big.Float).Neg(sum(half, ratio)))
			delta = first.Sub(first, product(exp(x), second))
		}
		out.Add(out, product(l.probability, delta))
	}
	return out
}

// responseMu is the μ of the least G that dominates R: Φ(−μ/2) = 1/(1 + e^ε), rounded up. Above
// 2·maxMu it is any number above that.
func responseMu(epsilon *big.Float) *big.Float {
	if epsilon.Cmp(number(maxLoss)) > 0 {
		return number(3 * maxMu)
	}
	tail := quotient(number(1), sum(number(1), exp(epsilon)))
	lo, hi := 0., 1.
	outside := func(mu float64) bool { return phi(number(-mu/2)).Cmp(tail) > 0 }
	for outside(hi) {
		lo, hi = hi, 2*hi
	}
	for hi-lo > hi*slack/64 {
		if mid := lo + (hi-lo)/2; outside(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return number(hi)
}

// phi is Φ(x) = ½ + φ(x)·(x + x³/3 + x⁵/(3·5) + ...). Where it is small the two are nearly equal,
// so it takes more digits; below Φ(−60) it is 0.
func phi(x *big.Float) *big.Float {
	near, _ := x.Float64()
	if math.Abs(near) > negligent {
		return number(math.Max(0, math.Copysign(1, near)))
	}
	digits := uint(precision + near*near) // more than the .73x² digits of e^(−x²/2)
	big1 := func(v float64) *big.Float { return new(big.Float).SetPrec(digits).SetFloat64(v) }
	square := big1(0).Mul(x, x)
	term, series := big1(0).Set(x), big1(0).Set(x)
	for k := 3.; term.Sign() != 0 && term.MantExp(nil) > series.MantExp(nil)-int(digits); k += 2 {
		term.Mul(term, square).Quo(term, big1(k))
		series.Add(series, term)
	}
	density := expTo(big1(0).Quo(square, big1(-2)), digits)
	density.Quo(density, big1(0).Sqrt(big1(0).Mul(big1(2), pi(digits))))
	series.Mul(series, density)
	return series.Add(series, big1(.5)).SetPrec(precision)
}

// pi is by Machin's formula: π/4 = 4·arctan(1/5) − arctan(1/239).
func pi(digits uint) *big.Float {
	arctan := func(n int64) *big.Float {
		whole := new(big.Int).Lsh(big.NewInt(1), digits+64)
		term, out := whole.Quo(whole, big.NewInt(n)), new(big.Int)
		for k := int64(0); term.Sign() != 0; k++ {
			part := new(big.Int).Quo(term, big.NewInt(2*k+1))
			if k%2 == 1 {
				part.Neg(part)
			}
			out.Add(out, part)
			term.Quo(term, big.NewInt(n*n))
		}
		x := new(big.Float).SetPrec(digits + 64).SetInt(out)
		return x.SetMantExp(x, -int(digits+64))
	}
	out := arctan(5)
	out.Mul(out, big.NewFloat(4)).Sub(out, arctan(239))
	return out.Mul(out, big.NewFloat(4))
}

func exp(x *big.Float) *big.Float { return expTo(x, precision) }

// expTo is e^x: its series at x/2^k, squared k times.
func expTo(x *big.Float, digits uint) *big.Float {
	k := max(0, x.MantExp(nil)+4)
	work := digits + uint(2*k) + 32
	small := new(big.Float).SetPrec(work).SetMantExp(x, -k)
	term := new(big.Float).SetPrec(work).SetInt64(1)
	out := new(big.Float).SetPrec(work).SetInt64(1)
	for n := int64(1); term.Sign() != 0 && term.MantExp(nil) > -int(work); n++ {
		term.Mul(term, small).Quo(term, new(big.Float).SetInt64(n))
		out.Add(out, term)
	}
	for range k {
		out.Mul(out, out)
	}
	return out.SetPrec(digits)
}

func number(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

func inverse(x float64) *big.Float { return quotient(number(1), number(x)) }

func sum(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Add(a, b) }

func product(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Mul(a, b) }

func quotient(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Quo(a, b) }

func power(x *big.Float, n int) *big.Float {
	out := number(1)
	for range n {
		out.Mul(out, x)
	}
	return out
}
