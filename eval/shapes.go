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
	// how far two real tables of these sizes are from a full score with a probability of 10⁻⁴
	Chance float64
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
		p, present := presentShares(real, i, c)
		q, others := presentShares(synthetic, i, c)
		s := ColumnShape{Column: c.name, Metric: "TVComplement", TV: math.NaN(), Missing: 1 -
			math.Abs(present/float64(real.Rows())-others/float64(synthetic.Rows()))}
		if c.numeric() {
			s.Metric = "KSComplement"
		}
		switch {
		case p == nil && q == nil:
			s.Score = 1
		case p != nil && q != nil:
			s.TV = max(0, 1-floats.Distance(p, q, 1)/2)
			inverses := float64(real.Rows())/present/independent(real.Units(), real.Rows()) +
				float64(synthetic.Rows())/others/independent(synthetic.Units(), synthetic.Rows())
			s.Score, s.Chance = s.TV, expectedTV(p, q, inverses)
			if c.numeric() {
				s.Chance = 0
				floats.CumSum(p, p)
				floats.CumSum(q, q)
				s.Score = max(0, 1-floats.Distance(p, q, math.Inf(1)))
			}
			// Kolmogorov's bound; McDiarmid's of what a distance exceeds its expectation by
			s.Chance += math.Sqrt(math.Log(1e4) / 2 * inverses)
		}
		shapes = append(shapes, s)
		mean += s.Score / float64(len(columns))
	}
	return shapes, mean, nil
}

// expectedTV is the total variation distance to expect of two samples of one population with the
// shares (p + q)/2; inverses is the sum of one over the cells of each.
func expectedTV(p, q []float64, inverses float64) (out float64) {
	for i := range p {
		share := (p[i] + q[i]) / 2
		out += math.Sqrt(share * (1 - share) * inverses / (2 * math.Pi))
	}
	return out
}

// presentShares returns the shares of all codes but missing, nil if there are no such cells, and
// how many cells there are.
func presentShares(t *table.Table, at int, c column) (shares []float64, present float64) {
	for _, n := range t.Counts(at)[:c.values] {
		shares = append(shares, float64(n))
	}
	if present = floats.Sum(shares); present == 0 {
		return nil, 0
	}
	floats.Scale(1/present, shares)
	return shares, present
}
