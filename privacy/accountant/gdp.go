package accountant

import "math"

// GDPDelta returns the smallest δ at which a μ-GDP mechanism is (ε, δ)-DP:
//
//	δ = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ)
//
// (Dong, Roth, Su 2022, Gaussian differential privacy, corollary 1; Balle & Wang 2018, theorem 8.)
// mu ≥ 0, epsilon may have either sign. A negative mu or a NaN gives NaN. A bound on the
// floating-point error is added, so the result is never below the true δ; for μ ≥ 0.001 it exceeds
// it by a relative 1e-9 at most.
func GDPDelta(mu, epsilon float64) float64 {
	switch {
	case math.IsNaN(epsilon) || !(mu >= 0):
		return math.NaN()
	case mu == 0 || math.IsInf(epsilon, 1):
		return math.Max(0, -math.Expm1(epsilon))
	case math.IsInf(mu, 1):
		return 1
	}
	// δ = Φ(a)·(1 − e^{ε + ln Φ(b) − ln Φ(a)}); the logarithms have an absolute error of a few ulps of
	// their size.
	logA, logB := logPhi(mu/2-epsilon/mu), logPhi(-mu/2-epsilon/mu)
	if math.IsInf(logA, -1) {
		return 0
	}
	slop := 8 * ulp * (1 + math.Abs(epsilon) + math.Abs(logA) + math.Abs(logB))
	return math.Min(1, math.Exp(logA+slop)*math.Max(0, -math.Expm1(epsilon+logB-logA-slop)))
}

// GDPEpsilon returns an ε ≥ 0 at which a μ-GDP mechanism is (ε, δ)-DP: the upper end of a bisection
// of GDPDelta, at most a relative 1e-12 above the smallest. It is +Inf for delta ≤ 0 (unless mu is
// 0) and NaN for mu < 0 or NaN.
func GDPEpsilon(mu, delta float64) float64 {
	switch {
	case math.IsNaN(delta) || !(mu >= 0):
		return math.NaN()
	case mu == 0 || GDPDelta(mu, 0) <= delta:
		return 0
	case delta <= 0 || math.IsInf(mu, 1):
		return math.Inf(1)
	}
	hi := mu
	for GDPDelta(mu, hi) > delta {
		hi *= 2
	}
	return bisectUp(0, hi, func(epsilon float64) bool { return GDPDelta(mu, epsilon) <= delta })
}

// bisectUp returns a float64 x in (lo, hi] with ok(x), for a predicate that is false up to some
// point and true from there to hi; x exceeds that point by at most a relative 1e-12. It assumes
// ok(hi) and never evaluates lo.
func bisectUp(lo, hi float64, ok func(float64) bool) float64 {
	for hi-lo > 1e-12*hi {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if ok(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// ulp is the unit roundoff of float64.
const ulp = 1.0 / (1 << 53)

// logPhi returns ln Φ(x), Φ the standard normal distribution function, with an absolute error of a
// few ulps of 1 + |ln Φ|.
func logPhi(x float64) float64 {
	if x > -30 {
		return math.Log(math.Erfc(-x/math.Sqrt2) / 2)
	}
	// Asymptotic series of the Mills ratio (Abramowitz & Stegun 26.2.12); at x = -30 the first omitted
	// term is 2e-14.
	w := 1 / (x * x)
	return -x*x/2 - math.Log(-x) - math.Log(2*math.Pi)/2 +
		math.Log1p(w*(-1+w*(3+w*(-15+w*(105-w*945)))))
}
