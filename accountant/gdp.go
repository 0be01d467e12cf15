package accountant

import (
	"fmt"
	"math"
)

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

// GDPMu returns the largest μ, on the private side, at which a μ-GDP mechanism is within the
// budget. A budget with δ = 0 has none.
func GDPMu(b Budget) (float64, error) {
	if err := b.Validate(); err != nil {
		return 0, err
	}
	if b.Delta == 0 {
		return 0, fmt.Errorf("accountant: no Gaussian mechanism has delta 0: %w", ErrUnbounded)
	}
	lo, hi := 0.0, 1.0
	for GDPDelta(hi, b.Epsilon) <= b.Delta {
		lo, hi = hi, 2*hi
	}
	// 1/μ is a noise scale: bisect it upwards so that the end that is returned is the private one. μ =
	// δ is within any budget, as δ(ε) ≤ δ(0) < μ/2.
	scale := bisectUp(1/hi, 1/math.Max(lo, b.Delta), func(scale float64) bool {
		// The two round differently: both must agree.
		return GDPDelta(1/scale, b.Epsilon) <= b.Delta && GDPEpsilon(1/scale, b.Delta) <= b.Epsilon
	})
	return 1 / scale, nil
}

// GaussianSigma returns the smallest σ, on the private side, at which the Gaussian mechanism on a
// vector of the given Euclidean sensitivity (> 0, finite) is within the budget (Balle & Wang 2018,
// algorithm 1, https://arxiv.org/abs/1805.06530).
func GaussianSigma(b Budget, sensitivity float64) (float64, error) {
	if !(sensitivity > 0) || math.IsInf(sensitivity, 1) {
		return 0, fmt.Errorf("accountant: sensitivity %v must be positive and finite: %w", sensitivity,
			ErrEvent)
	}
	mu, err := GDPMu(b)
	if err != nil {
		return 0, err
	}
	sigma := sensitivity / mu
	// the two divisions may have rounded the wrong way
	for GDPDelta(sensitivity/sigma, b.Epsilon) > b.Delta {
		sigma = math.Nextafter(sigma, math.Inf(1))
	}
	return sigma, nil
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
