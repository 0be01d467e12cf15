package accountant

import "math"

// This file prices compositions by zero-concentrated differential privacy: looser than closed
// formulas for one run, and a privacy filter for several (docs/claims/session.md).

// Rho returns ρ such that a valid composition is ρ-zCDP: the sum over the events, +Inf if one has
// none (a subsample, or Approx with δ > 0). Bun & Steinke 2016 (Gaussian 1/(2z²), pure DP ε²/2,
// proposition 1.4), Cesar & Rogers 2021 (bounded range ε²/8, lemma 3.4), a filter as one Gaussian.
func Rho(c Composition) float64 {
	sum := 0.0
	for _, charge := range c {
		rho := math.Inf(1)
		switch e := charge.Event.(type) {
		case Gaussian:
			rho = 1 / (2 * e.NoiseMultiplier * e.NoiseMultiplier)
		case Laplace:
			rho = e.Epsilon * e.Epsilon / 2
		case Exponential:
			rho = e.Epsilon * e.Epsilon / 8
		case GDPFilter:
			rho = e.Mu * e.Mu / 2
		case Approx:
			if e.Delta == 0 {
				rho = e.Epsilon * e.Epsilon / 2
			}
		}
		sum += float64(charge.Count) * rho
	}
	return sum
}

// RhoEpsilon returns the ε at delta of a ρ-zCDP mechanism, whose Rényi divergence of order α is at
// most ρα (Bun & Steinke 2016), by the conversion of Canonne, Kamath and Steinke 2020 (proposition
// 12, https://arxiv.org/abs/2004.00010) at the best order α = 1 + λ:
//
//	ε = ρα + ln(1 − 1/α) − ln(δα)/(α − 1),   where ρλ² = −ln δ − ln(1 + λ)
//
// rho ≥ 0; every λ gives a valid ε, so the numeric one errs on the private side. It is +Inf for
// delta ≤ 0 with rho > 0, and NaN for a NaN or a negative rho.
func RhoEpsilon(rho, delta float64) float64 {
	switch {
	case math.IsNaN(delta) || !(rho >= 0):
		return math.NaN()
	case rho == 0 || delta >= 1:
		return 0
	case delta <= 0 || math.IsInf(rho, 1):
		return math.Inf(1)
	}
	logDelta := math.Log(delta)
	low, lambda := 0.0, math.Sqrt(-logDelta/rho)
	for lambda-low > 1e-12*lambda {
		if x := (low + lambda) / 2; rho*x*x >= -logDelta-math.Log1p(x) {
			lambda = x
		} else {
			low = x
		}
	}
	alpha := 1 + lambda
	return math.Max(0, rho*alpha+math.Log1p(-1/alpha)-(logDelta+math.Log(alpha))/lambda)
}
