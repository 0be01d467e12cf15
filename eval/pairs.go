package eval

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

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
	pairs, err := marginalDistances(real, synthetic, 2)
	if err != nil {
		return nil, 0, err
	}
	for _, p := range pairs {
		i, j := p.Columns[0], p.Columns[1]
		t := PairTrend{columns[i].name, columns[j].name, "ContingencySimilarity", 1 - p.TV}
		off := math.Abs(correlation(real, columns, i, j) - correlation(synthetic, columns, i, j))
		if !math.IsNaN(off) {
			t.Metric, t.Score = "CorrelationSimilarity", 1-off/2
		}
		trends = append(trends, t)
		mean += t.Score / float64(len(pairs))
	}
	return trends, mean, nil
}

// correlation returns Pearson's correlation of the middles of two numeric columns, NaN of others
// and where one has one value only.
func correlation(t *table.Table, columns []column, i, j int) float64 {
	a, b := columns[i], columns[j]
	if !a.numeric() || !b.numeric() {
		return math.NaN()
	}
	var x, y []float64
	codes := t.Column(j)
	forEachCode(t.Column(i), func(row, ca int) {
		if cb := int(codes.At(row)); ca < a.values && cb < b.values {
			x, y = append(x, a.place[ca]), append(y, b.place[cb])
		}
	})
	if len(x) < 2 || floats.Min(x) == floats.Max(x) || floats.Min(y) == floats.Max(y) {
		return math.NaN()
	}
	return max(-1, min(1, stat.Correlation(x, y, nil)))
}
