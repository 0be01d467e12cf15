package pld

import (
	"math"

	"github.com/decoy-dp/decoy/accountant"
)

// rdp returns the Rényi divergence of order alpha > 1 that bounds the composition under either
// direction of adj (Mironov 2017, https://arxiv.org/abs/1702.07476). It is +Inf if an event has
// none: Approx with δ > 0. The order may be fractional. Per event:
//
//	Gaussian, GDPFilter      α/(2z²) (Bun & Steinke 2016), αμ²/2
//	Laplace, Approx{ε, 0}    of randomised response, ln((e^{αε} + e^{(1−α)ε})/(1 + e^ε))/(α − 1)
//	Exponential              see rangeRDP, at most αε²/8
//	SubsampledGaussian       see subsampledRDP
func rdp(c accountant.Composition, alpha float64, adj accountant.Adjacency) float64 {
	sum := 0.0
	for _, charge := range c {
		sum += float64(charge.Count) * eventRDP(charge.Event, alpha, adj)
	}
	return sum
}

func eventRDP(e accountant.Event, alpha float64, adj accountant.Adjacency) float64 {
	switch e := e.(type) {
	case accountant.Gaussian:
		return alpha / (2 * e.NoiseMultiplier * e.NoiseMultiplier)
	case accountant.GDPFilter:
		return alpha * e.Mu * e.Mu / 2
	case accountant.SubsampledGaussian:
		return subsampledRDP(e, alpha, adj)
	case accountant.Laplace:
		return responseRDP(e.Epsilon, alpha)
	case accountant.Exponential:
		return rangeRDP(e.Epsilon, alpha)
	case accountant.Approx:
		if e.Delta == 0 {
			return responseRDP(e.Epsilon, alpha)
		}
	}
	return math.Inf(1)
}

// responseRDP is the Rényi divergence of randomised response, which is the largest of all ε-DP
// mechanisms: ε + ln((1 + e^{(1−2α)ε})/(1 + e^{−ε}))/(α − 1). For a small αε it is αε²/2, which is
// an upper bound always and is free of cancellation.
func responseRDP(epsilon, alpha float64) float64 {
	r := epsilon + (math.Log1p(math.Exp((1-2*alpha)*epsilon))-math.Log1p(math.Exp(-epsilon)))/(alpha-1)
	if quadratic := alpha * epsilon * epsilon / 2; quadratic < 1e-6 || quadratic < r {
		return quadratic
	}
	return r
}

// rangeRDP is the largest Rényi divergence of an ε-bounded-range mechanism. Of the pairs of
// boundedrange.go, with a = e^t, c = e^{−ε} and λ = α − 1,
//
//	E_P[e^{λL}] = a^λ·(A − aB),   A = (1 − c^{λ+1})/(1 − c),   B = (c − c^{λ+1})/(1 − c),
//
// largest at a = λA/((λ+1)B). For a small ε it tends to αε²/8, which is an upper bound always
// (Cesar & Rogers 2021, lemma 3.4, https://arxiv.org/abs/2004.07223) and is free of cancellation.
func rangeRDP(epsilon, alpha float64) float64 {
	lambda := alpha - 1
	logA := math.Log(math.Expm1(-(lambda+1)*epsilon) / math.Expm1(-epsilon))
	logB := math.Log(math.Expm1(-lambda*epsilon)/math.Expm1(-epsilon)) - epsilon
	logT := math.Log(lambda/(lambda+1)) + logA - logB
	rdp := logT + (logA-math.Log(lambda+1))/lambda
	return math.Min(alpha*epsilon*epsilon/8, math.Min(epsilon, rdp+32*ulp*(1+epsilon)*(1+1/lambda)))
}

// maxOrderPoints bounds the memory of one quadrature. An order that would need more takes the bound
// without subsampling.
const maxOrderPoints = 1 << 16

// subsampledRDP returns the Rényi divergence of the Poisson-subsampled Gaussian, D_α(P‖Q) with q
// the rate and σ the noise multiplier:
//
//	add-remove    P = (1−q)·N(0, σ²) + q·N(1, σ²)    Q = N(0, σ²)
//	              (Mironov, Talwar, Zhang 2019, theorem 5: this direction is the larger; arXiv
//	              1908.10530)
//	replace-one   P = (1−q)·N(0, σ²) + q·N(1, σ²)    Q = (1−q)·N(0, σ²) + q·N(−1, σ²)
//	              (the dominating pair, see pairs.go)
//
// With R = P/Q and E_Q[R] = 1 it is ln(1 + E_Q[R^α − 1 − α(R − 1)])/(α − 1), a mean of non-negative
// terms. The mean is taken by the trapezoidal rule over the real line, whose error for a function
// analytic in a strip of half-width a is e^{−2πa/step} (Trefethen & Weideman 2014, theorem 5.1).
// The logarithms of P and Q are analytic for |Im x| < πσ², and the step is min(σ, σ²)/4: the error
// is below 1e-20 of the largest term. What rounding may take away is added back as a relative 1e-9.
func subsampledRDP(
	e accountant.SubsampledGaussian, alpha float64, adj accountant.Adjacency,
) float64 {
	mu := 1 / e.NoiseMultiplier
	if e.Rate == 1 {
		if adj == accountant.ReplaceOne {
			mu *= 2
		}
		return alpha * mu * mu / 2
	}
	step := math.Min(1, 1/mu) / 4
	lo, hi := -14-mu, 14+alpha*mu
	if adj == accountant.ReplaceOne {
		lo = -14 - alpha*mu // Q^{1−α} is large on this side too when q is near 1
		hi += alpha * mu    // and then the peak of P^α·Q^{1−α} is at (2α − 1)μ
	}
	points := (hi - lo) / step
	if !(points < maxOrderPoints) {
		return subsampledRDP(accountant.SubsampledGaussian{Rate: 1, NoiseMultiplier: e.NoiseMultiplier},
			alpha, adj)
	}
	n := int(points) + 1
	// ln Q(x) without the constant, and r = ln(P(x)/Q(x)), at x = σy.
	at := func(y float64) (logQ, r float64) {
		logQ = -y * y / 2
		r = math.Log1p(e.Rate * math.Expm1(mu*y-mu*mu/2))
		if adj == accountant.ReplaceOne {
			minus := math.Log1p(e.Rate * math.Expm1(-mu*y-mu*mu/2))
			logQ += minus
			r -= minus
		}
		return logQ, r
	}
	logQs, rs, max := make([]float64, n), make([]float64, n), math.Inf(-1)
	for i := range n {
		logQs[i], rs[i] = at(lo + float64(i)*step)
		max = math.Max(max, logQs[i]+math.Max(0, alpha*rs[i]))
	}
	sum, small := 0.0, max < 500
	for i, r := range rs {
		if small {
			sum += math.Exp(logQs[i]) * excess(alpha, r)
		} else {
			sum += math.Exp(logQs[i] + alpha*r - max)
		}
	}
	sum *= step / math.Sqrt(2*math.Pi)
	if small {
		return math.Log1p(sum) / (alpha - 1) * (1 + 1e-9)
	}
	return (max + math.Log(sum)) / (alpha - 1) * (1 + 1e-9)
}

// excess returns e^{αr} − 1 − α(e^r − 1) ≥ 0, by its series Σ_{k≥2} (α^k − α) r^k/k! where the
// terms cancel.
func excess(alpha, r float64) float64 {
	if a := alpha * r; math.Abs(a) > 0.01 {
		return math.Expm1(a) - alpha*math.Expm1(r)
	}
	sum, power, term := 0.0, alpha, r // α^{k−1}, r^k/k! at k = 1
	for k := 2.0; k <= 7; k++ {
		power *= alpha
		term *= r / k
		sum += (power - alpha) * term
	}
	return sum
}

// bestOrder minimises f(D_α, α) over orders from 1.0001 to 1e7, or to 1e4 where a divergence costs
// a quadrature.
func bestOrder(
	c accountant.Composition, adj accountant.Adjacency, f func(rdp, alpha float64) float64,
) (value, alpha float64) {
	top := math.Log(1e7)
	for _, charge := range c {
		if _, ok := charge.Event.(accountant.SubsampledGaussian); ok {
			top = math.Log(1e4)
		}
	}
	g := func(u float64) float64 {
		alpha := 1 + math.Exp(u)
		return f(rdp(c, alpha, adj), alpha)
	}
	u := minimize(g, math.Log(1e-4), top)
	return g(u), 1 + math.Exp(u)
}

// conversion returns the ε at δ of a mechanism whose Rényi divergence at order α > 1 is at most
// rdp:
//
//	ε = rdp + ln(1 − 1/α) − ln(δα)/(α − 1)
//
// (Canonne, Kamath, Steinke 2020, proposition 12, https://arxiv.org/abs/2004.00010.)
func conversion(rdp, alpha, delta float64) float64 {
	return rdp + math.Log1p(-1/alpha) - (math.Log(delta)+math.Log(alpha))/(alpha-1)
}

// minimize returns the point of [lo, hi] with the smallest value seen: a scan of 24 points, then a
// golden-section search about the best.
func minimize(f func(float64) float64, lo, hi float64) float64 {
	const points = 24
	step := (hi - lo) / (points - 1)
	best, value := lo, math.Inf(1)
	for i := range points {
		x := lo + float64(i)*step
		if v := f(x); v < value {
			best, value = x, v
		}
	}
	const golden = 0.6180339887498949
	a, b := best-step, best+step
	c, d := b-golden*(b-a), a+golden*(b-a)
	fc, fd := f(c), f(d)
	for b-a > 1e-7 {
		if fc < fd {
			b, d, fd = d, c, fc
			c = b - golden*(b-a)
			fc = f(c)
		} else {
			a, c, fc = c, d, fd
			d = a + golden*(b-a)
			fd = f(d)
		}
	}
	if m := (a + b) / 2; f(m) < value {
		return m
	}
	return best
}
