package pld

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/decoy-dp/decoy/privacy/accountant"
)

// Rényi DP (Mironov 2017, https://arxiv.org/abs/1702.07476): with α = λ + 1, λ times the divergence
// of order α is ln E[e^{λL}], which adds up over events. It bounds ε without a grid, which rounds
// the losses of each step, and it tells which λ the grid needs. The λ need not be whole.

// gaussianMGF is λαμ²/2 (Bun & Steinke 2016).
func gaussianMGF(mu2 float64) func(lambda float64) float64 {
	return func(lambda float64) float64 { return lambda * (lambda + 1) * mu2 / 2 }
}

// responseMGF is that of randomised response, which is the largest of all ε-DP mechanisms:
// ln((e^{αε} + e^{(1−α)ε})/(1 + e^ε)). For a small αε it is λαε²/2, which is an upper bound always
// and is free of cancellation.
func responseMGF(epsilon float64) func(lambda float64) float64 {
	return func(lambda float64) float64 {
		quadratic := (lambda + 1) * epsilon * epsilon / 2
		if quadratic < 1e-6 {
			return lambda * quadratic
		}
		return math.Min(lambda*quadratic, lambda*epsilon+
			math.Log1p(math.Exp(-(2*lambda+1)*epsilon))-math.Log1p(math.Exp(-epsilon)))
	}
}

// rangeMGF is the largest of an ε-bounded-range mechanism. Of the pairs of boundedrange.go, with
// a = e^t and c = e^{−ε},
//
//	E_P[e^{λL}] = a^λ·(A − aB),   A = (1 − c^{λ+1})/(1 − c),   B = (c − c^{λ+1})/(1 − c),
//
// largest at a = λA/((λ+1)B). For a small ε it tends to λαε²/8, which is an upper bound always
// (Cesar & Rogers 2021, lemma 3.4, https://arxiv.org/abs/2004.07223) and is free of cancellation.
func rangeMGF(epsilon float64) func(lambda float64) float64 {
	return func(lambda float64) float64 {
		logA := math.Log(math.Expm1(-(lambda+1)*epsilon) / math.Expm1(-epsilon))
		logB := math.Log(math.Expm1(-lambda*epsilon)/math.Expm1(-epsilon)) - epsilon
		logT := math.Log(lambda/(lambda+1)) + logA - logB
		rdp := logT + (logA-math.Log(lambda+1))/lambda + 32*ulp*(1+epsilon)*(1+1/lambda)
		return lambda * math.Min((lambda+1)*epsilon*epsilon/8, math.Min(epsilon, rdp))
	}
}

// sampleMGF is ln E_Q[R^α], R = P/Q, of the pairs of pairs.go, under add-remove of the first order,
// whose divergence is the larger (Mironov, Talwar, Zhang 2019, theorem 5, arXiv 1908.10530).
//
// The mean is taken by the trapezoidal rule over the real line, whose error for a function analytic
// in a strip of half-width a is e^{−2πa/step} (Trefethen & Weideman 2014, theorem 5.1). The
// logarithms of P and Q are analytic for |Im x| < π/μ, and the step is min(1, 1/μ)/4: the error is
// below 1e-20 of the largest term. Rounding is added to each logarithm.
func sampleMGF(q, mu float64, adj accountant.Adjacency) func(lambda float64) float64 {
	return func(lambda float64) float64 {
		alpha, step, whole := lambda+1, math.Min(1, 1/mu)/4, mu*mu
		lo, hi := -14-mu, 14+alpha*mu
		if adj == accountant.ReplaceOne {
			lo = -14 - alpha*mu // Q^{1−α} is large on this side too when q is near 1
			hi += alpha * mu    // and then the peak of P^α·Q^{1−α} is at (2α − 1)μ
			whole *= 4
		}
		points := (hi - lo) / step
		if !(points < maxPoints) {
			return gaussianMGF(whole)(lambda)
		}
		logs := make([]float64, int(points)+1)
		for i := range logs {
			x := lo + float64(i)*step
			logQ, r := -x*x/2, removePair{q, mu}.loss(x)
			if adj == accountant.ReplaceOne {
				minus := removePair{q, mu}.loss(-x)
				logQ, r = logQ+minus, r-minus
			}
			logs[i] = logQ + alpha*r + 8*ulp*(1+x*x+alpha*(math.Abs(r)+mu*math.Abs(x)+mu*mu))
		}
		return floats.LogSumExp(logs) + math.Log(step/math.Sqrt(2*math.Pi)) + (32+points)*ulp
	}
}

// maxPoints bounds the time of one quadrature. An order that would need more takes the bound
// without samples.
const maxPoints = 1 << 13

// conversion returns the ε at δ of a mechanism with that ln E[e^{λL}] (Canonne, Kamath, Steinke
// 2020, proposition 12, https://arxiv.org/abs/2004.00010):
//
//	ε = (ln E − ln δ − ln α)/λ + ln(1 − 1/α)
func conversion(logMGF, lambda, logDelta float64) float64 {
	return (logMGF-logDelta-math.Log1p(lambda))/lambda - math.Log1p(1/lambda)
}

func (p *plan) logMGF(lambda float64) (sum float64) {
	for _, f := range p.logMGFs {
		sum += f(lambda)
	}
	return sum
}

// bestTilt returns the λ from 1e-4 to 1e7 at which bound is least, with the least: a scan, then
// finer and finer steps about the best.
func (p *plan) bestTilt(bound func(logMGF, lambda float64) float64) (best, least float64) {
	least = math.Inf(1)
	try := func(lambda float64) {
		if at := bound(p.logMGF(lambda), lambda); at < least {
			best, least = lambda, at
		}
	}
	for lambda := 1e-4; lambda < 2e7; lambda *= 2 {
		try(lambda)
	}
	for step := math.Sqrt2; step > 1+1e-7; step = math.Sqrt(step) {
		middle := best
		try(middle * step)
		try(middle / step)
	}
	return best, least
}
