package eval

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// effectiveRows is how many rows of as many units tell as much as rows that belong to units, if all
// rows of a unit are alike: (Σk)²/Σk² of k rows. Without units it is that of the rows. Source:
// Kish 1965, Survey Sampling, section 11.7.
func effectiveRows(units []uint32, rows int) float64 {
	of, squares := map[uint32]float64{}, 0.
	for _, unit := range units {
		squares += 2*of[unit] + 1
		of[unit]++
	}
	if units == nil {
		return float64(rows)
	}
	return float64(rows) * float64(rows) / max(1, squares)
}

// differ reports whether two shares of a and of b rows differ by more than 4.5 standard errors, by
// which two samples of one population differ with a probability of 7·10⁻⁶.
func differ(p, a, q, b float64) bool {
	pooled := (p*a + q*b) / (a + b)
	return math.Abs(p-q) > 4.5*math.Sqrt(pooled*(1-pooled)*(1/a+1/b))
}

// missedBeyondChance reports whether it is no chance that none of m rows has a value that x of n
// others have: all are among the n with the probability (n/(n+m))ˣ, here of at most 10⁻⁴ (Fisher's
// exact test).
func missedBeyondChance(x, n, m float64) bool {
	return x*math.Log1p(m/n) >= math.Log(1e4)
}

// beyondRange is a share of a population that lies out of the range of n of its rows with a
// probability of 8·10⁻⁵: it is distributed as Beta(2, n−1).
func beyondRange(n float64) float64 { return 12 / n }

// unseen is the share that values which at most t of the cells a have make up of the cells b,
// these values, the most frequent first, and what that share is in another sample of the population
// of a: about that of the cells of values that at most t and those of one more unit have, which has
// so many cells, all alike. It is 0 without cells. Source: Good 1953, Biometrika 40, equation 9.
func unseen(a, b []int64, t int64, alike float64) (share, chance float64, top []int) {
	var n, m, few, found int64
	for i, x := range a {
		n, m = n+x, m+b[i]
		if float64(x) <= float64(t)+alike {
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
