// Package stattest holds what the tests of other packages share: statistical tests and, at the end
// of the file, what is said of errors.
//
// A statistical test returns (statistic, threshold, ok), ok meaning statistic ≤ threshold. Under
// the null ok is false with probability at most [FalseAlarm], so a caller states the null and the
// sample size, fails when ok is false, and also shows that a wrong null (a scale 30 % off) gives ok
// false. A test that fails is never retried: at this rate a failure is a bug. Nothing here is for
// data: wrong shapes, NaN and samples too small to decide anything panic.
package stattest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// FalseAlarm is the largest probability with which a test rejects a true null.
const FalseAlarm = 1e-6

// nominal is the level of the chi-square quantile behind [ChiSquare] and [TwoSample]. The statistic
// is discrete and its limit law is not exact; with cells of [minExpected] the true rate was
// computed exactly for two cells of every shape (see the tests) and stays within a factor of 5 of
// the nominal one, hence below FalseAlarm.
const nominal = FalseAlarm / 5

// minExpected is the expected count below which [ChiSquare] and [TwoSample] pool a cell with the
// next one.
const minExpected = 25

// ChiSquare tests the null that counts[i] observations fell into cell i with probability p[i],
// independently.
//
// The statistic is the likelihood-ratio chi-square G = 2·Σ counts·ln(counts/expected), not
// Pearson's sum: far out in the tail, where the threshold lies, a skewed cell makes Pearson's sum
// reject a true null several times too often, while the likelihood ratio keeps its rate.
// Neighbouring cells are pooled, left to right, until each expects [minExpected]; order cells so
// that neighbours belong together. A count in a cell of probability zero gives +Inf.
//
// It panics if the lengths differ, p is not a distribution (sum within 1e-9 of 1), or fewer than
// two cells remain.
func ChiSquare(counts []int64, p []float64) (statistic, threshold float64, ok bool) {
	if len(counts) != len(p) {
		panic(fmt.Sprintf("stattest: %d counts for %d probabilities", len(counts), len(p)))
	}
	n, sum := total(counts), 0.0
	for i, q := range p {
		if !(q >= 0) {
			panic("stattest: a probability is negative or NaN")
		}
		if q == 0 && counts[i] > 0 {
			statistic = math.Inf(1)
		}
		sum += q
	}
	if math.Abs(sum-1) > 1e-9 {
		panic(fmt.Sprintf("stattest: the probabilities sum to %v", sum))
	}
	cells := pool(len(p), func(i int) float64 { return n * p[i] })
	for _, c := range cells {
		statistic += deviance(sumOf(counts, c), n*sumOf(p, c))
	}
	threshold = quantile(len(cells) - 1)
	return statistic, threshold, statistic <= threshold
}

// TwoSample tests the null that the observations counted in a and those counted in b fall into the
// cells with the same, unknown, probabilities. Statistic, pooling and panics are those of
// [ChiSquare].
func TwoSample(a, b []int64) (statistic, threshold float64, ok bool) {
	if len(a) != len(b) {
		panic(fmt.Sprintf("stattest: %d cells against %d", len(a), len(b)))
	}
	na, nb := total(a), total(b)
	share := na / (na + nb)
	cells := pool(len(a), func(i int) float64 { return float64(a[i]+b[i]) * min(share, 1-share) })
	for _, c := range cells {
		ca, cb := sumOf(a, c), sumOf(b, c)
		statistic += deviance(ca, (ca+cb)*share) + deviance(cb, (ca+cb)*(1-share))
	}
	threshold = quantile(len(cells) - 1)
	return statistic, threshold, statistic <= threshold
}

// KolmogorovSmirnov tests the null that the sample is independent draws from the distribution
// function cdf.
//
// The statistic is the largest distance between cdf and the empirical distribution function. The
// threshold √(ln(2/α)/2n) is the Dvoretzky–Kiefer–Wolfowitz inequality with Massart's constant
// (Massart 1990, Annals of Probability 18, Corollary 1): it holds at every n. The cdf must be
// continuous: with jumps a true null is rejected. It panics on an empty sample and on NaN. The
// sample is not changed.
func KolmogorovSmirnov(
	sample []float64, cdf func(float64) float64,
) (statistic, threshold float64, ok bool) {
	if len(sample) == 0 {
		panic("stattest: no observations")
	}
	n := float64(len(sample))
	for i, x := range slices.Sorted(slices.Values(sample)) {
		f := cdf(x)
		if math.IsNaN(x) || math.IsNaN(f) {
			panic("stattest: NaN")
		}
		statistic = max(statistic, f-float64(i)/n, float64(i+1)/n-f)
	}
	threshold = math.Sqrt(math.Log(2/FalseAlarm) / (2 * n))
	return statistic, threshold, statistic <= threshold
}

// Binomial tests the null that each of n independent trials succeeds with probability p.
//
// The statistic is −log₁₀ of twice the smaller exact binomial tail, the threshold −log₁₀
// [FalseAlarm] = 6. The test is exact, so it cannot reject what is too small to be evidence. It
// panics unless 0 ≤ successes ≤ n, n > 0, 0 ≤ p ≤ 1.
func Binomial(successes, n int64, p float64) (statistic, threshold float64, ok bool) {
	if n <= 0 || successes < 0 || successes > n || !(p >= 0 && p <= 1) {
		panic(fmt.Sprintf("stattest: %d successes of %d trials at probability %v", successes, n, p))
	}
	tail := min(1, 2*min(atLeast(successes, n, p), atLeast(n-successes, n, 1-p)))
	statistic, threshold = -math.Log10(tail), -math.Log10(FalseAlarm)
	return statistic, threshold, statistic <= threshold
}

// atLeast returns P(X ≥ s) for X ~ Binomial(n, p), as a regularized incomplete beta function.
func atLeast(s, n int64, p float64) float64 {
	if s == 0 {
		return 1
	}
	return mathext.RegIncBeta(float64(s), float64(n-s)+1, p)
}

// quantile returns the value that a chi-square variable with df degrees of freedom exceeds with
// probability nominal.
func quantile(df int) float64 {
	if df < 1 {
		panic("stattest: fewer than two cells reach the smallest expected count")
	}
	return distuv.ChiSquared{K: float64(df)}.Quantile(1 - nominal)
}

// deviance returns 2·observed·ln(observed/expected), with 0·ln 0 = 0.
func deviance(observed, expected float64) float64 {
	if observed == 0 {
		return 0
	}
	return 2 * observed * math.Log(observed/expected)
}

type cell struct{ from, to int } // the half-open range of pooled cells

// pool groups n neighbouring cells, left to right, so that each group's expected count reaches
// minExpected. What is left at the right end joins the last group.
func pool(n int, expected func(i int) float64) []cell {
	var cells []cell
	from, sum := 0, 0.0
	for i := range n {
		if sum += expected(i); sum >= minExpected {
			cells = append(cells, cell{from, i + 1})
			from, sum = i+1, 0
		}
	}
	if len(cells) > 0 {
		cells[len(cells)-1].to = n
	}
	return cells
}

func sumOf[T int64 | float64](x []T, c cell) float64 {
	var sum T
	for _, v := range x[c.from:c.to] {
		sum += v
	}
	return float64(sum)
}

func total(counts []int64) float64 {
	for _, c := range counts {
		if c < 0 {
			panic("stattest: a count is negative")
		}
	}
	return sumOf(counts, cell{0, len(counts)})
}

// Must is x, and panics with err if there is one: for what no test expects to fail.
func Must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// Check ends a test with err if there is one.
func Check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Err is the error of a call with one more result.
func Err[T any](_ T, err error) error { return err }

// Wraps reports an error, of what the format says, that does not wrap want.
func Wraps(t testing.TB, err, want error, format string, args ...any) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf(format+": error %v, want %v", append(args, err, want)...)
	}
}

// Passes reports an error, of what the format says.
func Passes(t testing.TB, err error, format string, args ...any) {
	t.Helper()
	Wraps(t, err, nil, format, args...)
}

// Fails reports, with what the format says, that there is no error.
func Fails(t testing.TB, err error, format string, args ...any) {
	t.Helper()
	if err == nil {
		t.Errorf(format, args...)
	}
}

// Panics reports a function that returns, of what the format says.
func Panics(t testing.TB, f func(), format string, args ...any) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf(format+": no panic", args...)
		}
	}()
	f()
}
