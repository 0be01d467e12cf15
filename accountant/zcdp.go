package accountant

import (
	"fmt"
	"math"
)

// ZCDPEpsilon returns the ε at delta of a ρ-zCDP mechanism, whose Rényi divergence of order α is at
// most ρα (Bun & Steinke 2016), by the conversion of Canonne, Kamath and Steinke 2020 (proposition
// 12, https://arxiv.org/abs/2004.00010) at the best order α = 1 + λ:
//
//	ε = ρα + ln(1 − 1/α) − ln(δα)/(α − 1),   where ρλ² = −ln δ − ln(1 + λ)
//
// rho ≥ 0; every λ gives a valid ε, so the numeric one errs on the private side. It is +Inf for
// delta ≤ 0 with rho > 0, and NaN for a NaN or a negative rho.
func ZCDPEpsilon(rho, delta float64) float64 {
	switch {
	case math.IsNaN(delta) || !(rho >= 0):
		return math.NaN()
	case rho == 0 || delta >= 1:
		return 0
	case delta <= 0 || math.IsInf(rho, 1):
		return math.Inf(1)
	}
	logDelta := math.Log(delta)
	lambda := bisectUp(0, math.Sqrt(-logDelta/rho), func(x float64) bool {
		return rho*x*x >= -logDelta-math.Log1p(x)
	})
	alpha := 1 + lambda
	return math.Max(0, rho*alpha+math.Log1p(-1/alpha)-(logDelta+math.Log(alpha))/lambda)
}

// ZCDPRho returns the largest ρ, on the private side, at which a ρ-zCDP mechanism is within the
// budget. A budget with δ = 0 has none.
func ZCDPRho(b Budget) (float64, error) {
	if err := b.Validate(); err != nil {
		return 0, err
	}
	if b.Delta == 0 {
		return 0, fmt.Errorf("accountant: zCDP gives no pure guarantee: %w", ErrUnbounded)
	}
	// Bisect 1/ρ upwards: the end that is returned is the private one.
	hi := 2 / b.Epsilon
	for ZCDPEpsilon(1/hi, b.Delta) > b.Epsilon {
		hi *= 2
	}
	return 1 / bisectUp(0, hi, func(x float64) bool {
		return ZCDPEpsilon(1/x,
			b.Delta) <= b.Epsilon
	}), nil
}
