package accountant

import "math"

// Shares is a vector sum to which each of several honest parties has added noise of its own: an
// independent draw of the discrete Gaussian in every coordinate. Its standard deviation σ_k in
// coordinate k is the same at all parties, and at least σ = Sigma. If Δ_k is how far the coordinate
// moves between two neighbours, Sensitivity bounds √Σ_k (Δ_k·σ/σ_k)²: the L2 norm where all σ_k are
// the same.
type Shares struct {
	Honest      int     `json:"honest"`      // n ≥ 1 parties, whose noise nobody else knows
	Cells       int     `json:"cells"`       // d ≥ 1 coordinates
	Sensitivity float64 `json:"sensitivity"` // Δ
	Sigma       float64 `json:"sigma"`       // σ, at least minShareSigma
}

// minShareSigma is the least σ that the theorem is about: √½, rounded up.
const minShareSigma = .7071067811865476

// Rho is a ρ such that the sum is ρ-zCDP (Kairouz, Liu, Steinke 2021, theorem 1,
// https://arxiv.org/abs/2102.06387), rounded up; +Inf below minShareSigma:
//
//	ρ = ½ε²,  ε = min{√(Δ²/(nσ²) + τd/2), Δ/(√n·σ) + τ√d},  τ = 10·Σ_{k=1}^{n−1} e^(−2π²σ²k/(k+1))
//
// τ bounds how far the sum of n discrete Gaussians is from a discrete Gaussian. The theorem has one
// σ for all coordinates: docs/claims/shares.md takes it to several.
func (s Shares) Rho() float64 {
	n, d := float64(s.Honest), float64(s.Cells)
	if !(s.Sigma >= minShareSigma) || s.Honest < 1 || s.Cells < 1 || !(s.Sensitivity > 0) {
		return math.Inf(1)
	}
	tau := 0.0
	for k := 1.0; k < n; k++ {
		tau += 10 * math.Exp(-2*math.Pi*math.Pi*s.Sigma*s.Sigma*k/(k+1))
	}
	ratio := s.Sensitivity / s.Sigma
	square := ratio*ratio/n + tau*d/2
	if linear := ratio/math.Sqrt(n) + tau*math.Sqrt(d); linear*linear < square {
		square = linear * linear
	}
	return square / 2 * (1 + 1e-12)
}

// Within is s with the smallest Sigma, to a relative 1e-9 above, at which the sum is ρ-zCDP, for a
// positive and finite rho.
func (s Shares) Within(rho float64) Shares {
	low, high := minShareSigma, minShareSigma
	at := func(sigma float64) bool { s.Sigma = sigma; return s.Rho() <= rho }
	for !at(high) && high < math.MaxFloat64/4 {
		low, high = high, 2*high
	}
	for high-low > 1e-9*high {
		if mid := low + (high-low)/2; at(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	s.Sigma = high
	return s
}
