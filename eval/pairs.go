package eval

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/table"
)

// PairTrend is how well the relation of two columns is reproduced.
type PairTrend struct {
	First, Second string
	// "CorrelationSimilarity" where both are numeric, "ContingencySimilarity" otherwise
	Metric string
	Score  float64
}

// ColumnPairTrends compares every pair of columns, in schema order, and returns
// the mean score. Two numeric columns of which one has no spread in one of the
// tables are compared by their contingency.
//
// Name ColumnPairTrends. Alias Column Pair Trends (SDMetrics quality report).
// Range 0 to 1; goal: 1. Source: SDMetrics documentation, Quality Report.
//
// Name CorrelationSimilarity. Alias CorrelationSimilarity (SDMetrics). 1 − |ρ_real −
// ρ_synthetic|/2, with ρ Pearson's correlation of two numeric columns over the rows where neither
// is missing; numbers count as the middle of their bin. Range 0 to 1; goal: 1. Source: SDMetrics
// documentation, CorrelationSimilarity.
//
// Name ContingencySimilarity. Alias ContingencySimilarity (SDMetrics). 1 less the total variation
// distance between the joint distributions of two columns; missing is a category, and numbers count
// by their public bins. Range 0 to 1; goal: 1. Source: SDMetrics documentation,
// ContingencySimilarity.
func ColumnPairTrends(real, synthetic *table.Table) (trends []PairTrend, mean float64, err error) {
	columns, err := compatible(real, synthetic)
	if err != nil {
		return nil, 0, err
	}
	if len(columns) < 2 {
		return nil, 0, fmt.Errorf("eval: a table of one column has no pairs: %w", ErrTables)
	}
	pairs, err := MarginalDistances(real, synthetic, 2)
	if err != nil {
		return nil, 0, err
	}
	for _, p := range pairs {
		at := [2]int(p.Columns)
		t := PairTrend{columns[at[0]].name, columns[at[1]].name, "ContingencySimilarity", 1 - p.TV}
		if columns[at[0]].numeric() && columns[at[1]].numeric() {
			a, okReal := correlation(real, columns, at)
			b, okSynthetic := correlation(synthetic, columns, at)
			if okReal && okSynthetic {
				t.Metric, t.Score = "CorrelationSimilarity", 1-math.Abs(a-b)/2
			}
		}
		trends = append(trends, t)
		mean += t.Score / float64(len(pairs))
	}
	return trends, mean, nil
}

// correlation returns Pearson's correlation of the middles of two numeric
// columns, and false if it is undefined.
func correlation(t *table.Table, columns []column, at [2]int) (float64, bool) {
	a, b := columns[at[0]], columns[at[1]]
	codes := t.Column(at[1])
	each := func(f func(u, v float64)) {
		forEachCode(t.Column(at[0]), func(i, ca int) {
			if cb := int(codes.At(i)); ca != a.missing && cb != b.missing {
				f(a.place[ca], b.place[cb])
			}
		})
	}
	var n, mx, my, sxx, syy, sxy float64
	each(func(u, v float64) { n++; mx += u; my += v })
	mx, my = mx/n, my/n
	each(func(u, v float64) {
		sxx += (u - mx) * (u - mx)
		syy += (v - my) * (v - my)
		sxy += (u - mx) * (v - my)
	})
	// mean square of the deviations of a constant from its computed mean, or less
	const rounding = 1e-26
	if n < 2 || sxx <= rounding*n || syy <= rounding*n {
		return 0, false
	}
	return max(-1, min(1, sxy/math.Sqrt(sxx*syy))), true
}
