package accountant

import (
	"fmt"
	"math"
)

// conversion returns the ε at δ of a mechanism whose Rényi divergence at order α > 1 is at most rdp:
//
//	ε = rdp + ln(1 − 1/α) − ln(δα)/(α − 1)
//
// (Canonne, Kamath, Steinke 2020, proposition 12, https://arxiv.org/abs/2004.00010.)
func conversion(rdp, alpha, delta float64) float64 {
	return rdp + math.Log1p(-1/alpha) - (math.Log(delta)+math.Log(alpha))/(alpha-1)
}

// conversionDelta is conversion solved for ln δ.
func conversionDelta(rdp, alpha, epsilon float64) float64 {
	return (alpha-1)*(rdp-epsilon+math.Log1p(-1/alpha)) - math.Log(alpha)
}

// ZCDPEpsilon returns the ε at delta of a ρ-zCDP mechanism: the minimum over α of the conversion of Canonne, Kamath and Steinke applied to the
// Rényi divergence ρα (Bun & Steinke 2016). rho ≥ 0; every α gives a valid ε, so the numeric minimum errs on the private side. It is
// +Inf for delta ≤ 0 with rho > 0, and NaN for a NaN or a negative rho.
func ZCDPEpsilon(rho, delta float64) float64 {
	switch {
	case math.IsNaN(delta) || !(rho >= 0):
		return math.NaN()
	case rho == 0 || delta >= 1:
		return 0
	case delta <= 0 || math.IsInf(rho, 1):
		return math.Inf(1)
	}
	f := func(u float64) float64 { return conversion(rho*(1+math.Exp(u)), 1+math.Exp(u), delta) }
	// The minimum is near α − 1 = √(ln(1/δ)/ρ).
	centre := math.Log(-math.Log(delta)/rho) / 2
	return math.Max(0, f(minimize(f, centre-6, centre+4)))
}

// ZCDPRho returns the largest ρ, on the private side, at which a ρ-zCDP mechanism is within the budget. A budget with δ = 0 has none.
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
	return 1 / bisectUp(0, hi, func(x float64) bool { return ZCDPEpsilon(1/x, b.Delta) <= b.Epsilon }), nil
}

// minimize returns the point of [lo, hi] with the smallest value seen: a scan of 24 points, then a golden-section search about the best.
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
