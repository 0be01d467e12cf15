package accountant

import "math"

// Group is what an (ε, δ)-DP release costs a group of k units, k ≥ 1, that leave or come together:
// (kε, δ·(1 + e^ε + ... + e^{(k−1)ε})) (Dwork, Roth 2014, theorem 2.2; Vadhan 2017, lemma 2.2), the
// second rounded up by a part in 10¹² and at most 1. Of a claim with a unit it says what a family
// of k patients may expect. It panics for k < 1.
func Group(b Budget, k int) Budget {
	if k < 1 {
		panic("accountant: a group of less than one unit")
	}
	out := Budget{Epsilon: float64(k) * b.Epsilon, Delta: float64(k) * b.Delta}
	if b.Epsilon > 0 {
		out.Delta = b.Delta * math.Expm1(out.Epsilon) / math.Expm1(b.Epsilon)
	}
	if k > 1 {
		out.Epsilon = math.Nextafter(out.Epsilon, math.Inf(1))
		out.Delta *= 1 + 1e-12
	}
	if !(out.Delta <= 1) {
		out.Delta = 1
	}
	return out
}
