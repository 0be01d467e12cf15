package marginal

import (
	"math"
	"slices"
)

// Refine joins a measurement of one column, with one Sigma, and an independent one of the same
// column over groups of its codes (or of each code): the best linear unbiased estimate. A group of
// k codes of noise σ that add up to S, and whose count is G with noise τ, moves each of its codes
// by (G − S)·σ²/(kσ² + τ²). The Sigma of the result is the root mean square of the noise that its
// codes have left; those of one group are correlated.
func Refine(m, coarse Measurement) Measurement {
	groups := make([]uint16, len(m.Counts))
	for i := range groups {
		groups[i] = uint16(i)
	}
	if coarse.Groups != nil && coarse.Groups[0] != nil {
		groups = coarse.Groups[0]
	}
	sums, codes := make([]float64, len(coarse.Counts)), make([]float64, len(coarse.Counts))
	for i, g := range groups {
		sums[g] += m.Counts[i]
		codes[g]++
	}
	variance, left := m.Sigma*m.Sigma, 0.0
	out := Measurement{Cols: m.Cols, Groups: m.Groups, Counts: slices.Clone(m.Counts)}
	for i, g := range groups {
		tau := coarse.sigma(int(g))
		weight := variance / (codes[g]*variance + tau*tau)
		out.Counts[i] += weight * (coarse.Counts[g] - sums[g])
		left += variance * (1 - weight)
	}
	out.Sigma = math.Sqrt(left / float64(len(groups)))
	return out
}
