package eval

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/decoy-dp/decoy/table"
)

// ColumnShape is how well one column is reproduced.
type ColumnShape struct {
	Column string
	Metric string // "KSComplement" for numeric columns, "TVComplement" for the others
	// of the metric; 0 if one table has only missing cells here and the other has not, 1 if both have
	Score   float64
	TV      float64 // TVComplement, whatever the metric; NaN where a table has only missing cells
	Missing float64 // MissingSimilarity
}

// ColumnShapes compares every column, in schema order, and returns the mean score. Missing cells
// are left out of p and q, the shares of the codes in the two tables.
//
// Name ColumnShapes. Alias Column Shapes (SDMetrics quality report). Range 0 to
// 1; goal: 1. Source: SDMetrics documentation, Quality Report.
//
// Name KSComplement. Alias KSComplement (SDMetrics). 1 less the Kolmogorov-Smirnov distance
// sup|F_real − F_synthetic| of a numeric column; on bins it is taken at their edges, so that it
// never exceeds that of the values themselves. Range 0 to 1; goal: 1. Source: SDMetrics
// documentation, KSComplement.
//
// Name TVComplement. Alias TVComplement (SDMetrics), which has it for categories only; here a
// numeric column counts by its public bins. 1 less the total variation distance ½·Σ|p − q|. Range 0
// to 1; goal: 1. Source: SDMetrics documentation, TVComplement.
//
// Name MissingSimilarity. Alias MissingValueSimilarity (SDMetrics). 1 less the difference of the
// shares of missing cells. Range 0 to 1; goal: 1. Source: SDMetrics documentation,
// MissingValueSimilarity.
func ColumnShapes(real, synthetic *table.Table) (shapes []ColumnShape, mean float64, err error) {
	columns, err := compatible(real, synthetic)
	if err != nil {
		return nil, 0, err
	}
	for i, c := range columns {
		p, missingReal := presentShares(real, i, c)
		q, missingSynthetic := presentShares(synthetic, i, c)
		s := ColumnShape{Column: c.name, Metric: "TVComplement", TV: math.NaN(),
			Missing: 1 - math.Abs(missingReal-missingSynthetic)}
		if c.numeric() {
			s.Metric = "KSComplement"
		}
		switch {
		case p == nil && q == nil:
			s.Score = 1
		case p != nil && q != nil:
			s.TV = 1 - floats.Distance(p, q, 1)/2
			s.Score = s.TV
			if c.numeric() {
				floats.CumSum(p, p)
				floats.CumSum(q, q)
				s.Score = 1 - floats.Distance(p, q, math.Inf(1))
			}
		}
		shapes = append(shapes, s)
		mean += s.Score / float64(len(columns))
	}
	return shapes, mean, nil
}

// presentShares returns the shares of all codes but missing, nil if there are no such cells, and
// the share of missing cells.
func presentShares(t *table.Table, at int, c column) (shares []float64, missing float64) {
	for _, n := range countOf(t, at) {
		shares = append(shares, float64(n)/float64(t.Rows()))
	}
	if c.missing >= 0 { // the last code
		missing, shares = shares[c.missing], shares[:c.missing]
	}
	present := floats.Sum(shares)
	if present == 0 {
		return nil, missing
	}
	floats.Scale(1/present, shares)
	return shares, missing
}
