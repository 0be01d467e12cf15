package accountant

import "math"

// maxResponses bounds the calls whose losses are added up one by one.
const maxResponses = 1 << 14

// responsesEpsilon returns the ε at delta of n calls of one ε₀-DP event beside μ-GDP: a sum over
// the losses of n randomised responses, the largest of all such calls (Kairouz, Oh, Viswanath
// 2017, theorem 3.3, which is μ = 0),
//
//	δ(ε) = Σ_j C(n, j)·p^(n−j)·(1 − p)^j·δ_μ(ε − (n − 2j)·ε₀),   p = e^ε₀/(1 + e^ε₀)
//
// It is the upper end of a bisection below most, which is returned where that is no better. Losses
// and the sum are rounded up: the error of a weight is a relative 1e-10 at most. Of unlikely losses
// δ_μ is taken to be 1.
func responsesEpsilon(mu2 float64, n int, epsilon, delta, most float64) float64 {
	if n > maxResponses || delta == 0 { // without δ the sum of all is reached
		return most
	}
	yes, no := -math.Log1p(math.Exp(-epsilon)), -epsilon-math.Log1p(math.Exp(-epsilon))
	all, _ := math.Lgamma(float64(n + 1))
	weights, losses := make([]float64, n+1), make([]float64, n+1)
	for j := range weights {
		some, _ := math.Lgamma(float64(j + 1))
		others, _ := math.Lgamma(float64(n - j + 1))
		weights[j] = math.Exp(all - some - others + float64(n-j)*yes + float64(j)*no)
		losses[j] = math.Nextafter(float64(n-2*j)*epsilon, math.Inf(1))
	}
	mu := math.Sqrt(mu2) * roundUp
	within := func(x float64) bool {
		sum := 0.0
		for j, w := range weights {
			if w > 1e-18*delta {
				w *= GDPDelta(mu, x-losses[j])
			}
			sum += w
		}
		return sum*(1+1e-9) <= delta
	}
	if math.IsInf(most, 1) || !within(most) {
		return most
	}
	if within(0) {
		return 0
	}
	return bisectUp(0, most, within)
}
