package accountant

import "math"

// The functions of this file are the classical theorems, in the form in which lectures state them. They are here to compare with and are never
// the accountant's answer: Composition.Epsilon is tighter in every case. They assume arguments in range and return what the formula gives.

// Basic returns the k-fold basic composition of (ε, δ)-DP: (kε, kδ) (Dwork & Roth 2014, theorem 3.16).
func Basic(epsilon, delta float64, k int) Budget {
	return Budget{Epsilon: float64(k) * epsilon, Delta: float64(k) * delta}
}

// Advanced returns the k-fold advanced composition of (ε, δ)-DP with slack δ' > 0:
//
//	ε√(2k·ln(1/δ')) + kε(e^ε − 1)/(e^ε + 1),  kδ + δ'
//
// (Dwork, Rothblum, Vadhan 2010, with the mean of Kairouz, Oh, Viswanath 2017, theorem 3.4; it needs adaptivity over neighbours only.)
func Advanced(epsilon, delta float64, k int, deltaPrime float64) Budget {
	n := float64(k)
	return Budget{
		Epsilon: epsilon*math.Sqrt(2*n*math.Log(1/deltaPrime)) + n*epsilon*math.Tanh(epsilon/2),
		Delta:   n*delta + deltaPrime,
	}
}

// Amplify returns the guarantee of an (ε, δ)-DP mechanism run on a Poisson sample of rate q, under add-remove: (ln(1 − q + qe^ε), qδ)
// (Balle, Barthe, Gaboardi 2018, theorem 8).
func Amplify(epsilon, delta, q float64) Budget {
	return Budget{Epsilon: math.Log1p(q * math.Expm1(epsilon)), Delta: q * delta}
}

// ClassicalSigma returns √(2·ln(1.25/δ))/ε, the textbook noise of the Gaussian mechanism at sensitivity 1 (Dwork & Roth 2014, theorem A.1). It is
// valid for ε < 1 only and is never used here; above that it is too small: at ε = 10, δ = 1e-5 it gives .484 where .49989 is needed.
func ClassicalSigma(epsilon, delta float64) float64 {
	return math.Sqrt(2*math.Log(1.25/delta)) / epsilon
}

// LaplaceScale returns the scale Δ₁/ε of the Laplace mechanism (Dwork, McSherry, Nissim, Smith 2006).
func LaplaceScale(epsilon, sensitivity float64) float64 {
	return sensitivity / epsilon
}
