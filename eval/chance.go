package eval

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// apart reports whether two shares of n and of m rows differ by more than 4.5 standard errors, by
// which two samples of one population differ with a probability of 7·10⁻⁶.
func apart(p float64, n int, q float64, m int) bool {
	a, b := float64(n), float64(m)
	pooled := (p*a + q*b) / (a + b)
	return math.Abs(p-q) > 4.5*math.Sqrt(pooled*(1-pooled)*(1/a+1/b))
}

// gone reports whether m rows without a value are none of x that n rows have by chance: all of them
// are among the n with the probability (n/(n+m))ˣ, here of at most 10⁻⁴ (Fisher's exact test).
func gone(x int64, n, m int) bool {
	return float64(x)*math.Log1p(float64(m)/float64(n)) >= math.Log(1e4)
}

// beyondRange is a share of a population that lies out of the range of n of its rows with a
// probability of 8·10⁻⁵: it is distributed as Beta(2, n−1).
func beyondRange(n int) float64 { return 12 / float64(n) }

// unlikely is the share that values which at most t of the cells a have make up of the cells b,
// these values, the most frequent first, and what that share is in another sample of the population
// of a: about that of the cells of values that at most t+1 have. It is 0 without cells. Source:
// Good 1953, Biometrika 40, equation 9.
func unlikely(a, b []int64, t int64) (share, chance float64, top []int) {
	var n, m, few, found int64
	for i, x := range a {
		n, m = n+x, m+b[i]
		if x <= t+1 {
			few += x
		}
		if x <= t && b[i] > 0 {
			found += b[i]
			top = append(top, i)
		}
	}
	slices.SortStableFunc(top, func(i, j int) int { return cmp.Compare(b[j], b[i]) })
	return float64(found) / float64(max(m, 1)), float64(few) / float64(max(n, 1)), top
}

// named joins the names of the first three values.
func named(values []int, between string, name func(int) string) string {
	var out []string
	for _, v := range values[:min(len(values), 3)] {
		out = append(out, name(v))
	}
	return strings.Join(out, between)
}
