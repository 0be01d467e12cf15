package marginal

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Refine joins a measurement with one Sigma and an independent one of the same cells, or, of one
// column, one over groups of its codes: the best linear unbiased estimate. A group of
// k codes of noise σ that add up to S, and whose count is G with noise τ, moves each of its codes
// by (G − S)·σ²/(kσ² + τ²). The Sigma of the result is the root mean square of the noise that its
// codes have left; those of one group are correlated.
func Refine(m, coarse Measurement) Measurement {
	out := Measurement{Cols: m.Cols, Groups: m.Groups, Counts: slices.Clone(m.Counts)}
	variance := slices.Repeat([]float64{m.Sigma * m.Sigma}, len(m.Counts))
	noise := make([]float64, len(coarse.Counts))
	for g := range noise {
		noise[g] = coarse.SigmaOf(g) * coarse.SigmaOf(g)
	}
	var groups []uint16
	if coarse.Groups != nil {
		groups = coarse.Groups[0]
	}
	join(out.Counts, variance, groups, coarse.Counts, noise)
	out.Sigma = math.Sqrt(floats.Sum(variance) / float64(len(variance)))
	return out
}

// join joins counts y of the given variances and independent ones of groups of these codes, or of
// each if groups is nil: the best linear unbiased estimate, and its variances.
func join(y, variance []float64, groups []uint16, sums, noise []float64) {
	all, of := make([]float64, len(sums)), func(i int) int { return i }
	if groups != nil {
		of = func(i int) int { return int(groups[i]) }
	}
	left := slices.Clone(sums)
	for i, v := range variance {
		all[of(i)] += v
		left[of(i)] -= y[i]
	}
	for i, v := range variance {
		g := of(i)
		if math.IsInf(v, 1) { // no measurement before
			if groups == nil {
				y[i], variance[i] = sums[g], noise[g]
			}
			continue
		}
		weight := v / (all[g] + noise[g])
		y[i] += weight * left[g]
		variance[i] = v * (1 - weight)
	}
}
