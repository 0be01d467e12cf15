package accountant

import "math"

// roundUp is a factor that outweighs the rounding of the few operations before it.
const roundUp = 1 + 16*ulp

// FilterCost returns the μ² that one call of the event takes from a filter, rounded up, or false
// for an event that no filter may pay for: one whose mechanism is not known to be Gaussian-DP
// (discrete noise, a subsample, δ > 0), or a filter itself.
//
//	Gaussian      μ = 1/z          (Dong, Roth, Su 2022, theorem 2.7)
//	Exponential   μ of rangeMu, about .627ε for a small ε
func FilterCost(e Event) (muSquared float64, ok bool) {
	if validate(e) != nil {
		return 0, false
	}
	mu := 0.0
	switch e := e.(type) {
	case Gaussian:
		mu = 1 / e.NoiseMultiplier
	case Exponential:
		mu = rangeMu(e.Epsilon)
	}
	muSquared = float64(mu*mu) * roundUp
	// a cost that underflows to 0 would be free
	return muSquared, muSquared > 0 && !math.IsInf(muSquared, 1)
}

// rangeMu returns the smallest μ, rounded up, for which every ε-bounded-range mechanism is μ-GDP:
// Φ(μ/2) = e^{ε/2}/(1 + e^{ε/2}) (docs/claims/gdpfilter.md has the proof, and that of the bracket).
func rangeMu(epsilon float64) float64 {
	// Φ(−μ/2) = 1/(1 + e^{ε/2}), in logarithms; the left side falls in μ.
	tail := -epsilon/2 - math.Log1p(math.Exp(-epsilon/2))
	slop := 16 * ulp * (1 + math.Abs(tail))
	return bisectUp(0, 0.627*epsilon, func(mu float64) bool {
		return logPhi(-mu/2) <= tail-slop
	}) * roundUp
}
