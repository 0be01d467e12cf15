// Package stattest holds the statistical tests that the tests of other packages share.
package stattest

// FalseAlarm is the probability with which each test rejects a true null.
const FalseAlarm = 1e-6

// ChiSquare tests counts against the cell probabilities p (summing to 1).
func ChiSquare(counts []int64, p []float64) (statistic, threshold float64, ok bool) {
	panic("stattest: not written yet")
}

// KolmogorovSmirnov tests a sample against a continuous distribution function.
func KolmogorovSmirnov(sample []float64, cdf func(float64) float64) (statistic, threshold float64, ok bool) {
	panic("stattest: not written yet")
}

// Binomial tests successes of n trials against success probability p, two-sided.
func Binomial(successes, n int64, p float64) (statistic, threshold float64, ok bool) {
	panic("stattest: not written yet")
}

// TwoSample tests whether two count vectors over the same cells come from one distribution.
func TwoSample(a, b []int64) (statistic, threshold float64, ok bool) {
	panic("stattest: not written yet")
}
