package eval

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/table"
)

// KSComplement is 1 less the Kolmogorov-Smirnov distance sup|F_real − F_synthetic|
// of a numeric column, missing cells left out. On bins the distance is taken at
// their edges, so that it never exceeds that of the values themselves.
//
// Name KSComplement. Alias KSComplement (SDMetrics). Range 0 to 1; goal: 1.
// Source: SDMetrics documentation, KSComplement.
//
// A column that is not numeric, or that has only missing cells in one of the
// tables, gives an error that wraps [ErrColumn].
func KSComplement(real, synthetic *table.Table, name string) (float64, error) {
	c, p, q, err := columnShares(real, synthetic, name)
	if err != nil {
		return 0, err
	}
	if !c.numeric() {
		return 0, fmt.Errorf("eval: KSComplement of column %q, which is not numeric: %w", name, ErrColumn)
	}
	farthest, below := 0.0, 0.0
	for i := range p {
		below += p[i] - q[i]
		farthest = max(farthest, math.Abs(below))
	}
	return 1 - farthest, nil
}

// TVComplement is 1 less the total variation distance ½·Σ|p − q| between the
// shares of the codes of a column, missing cells left out.
//
// Name TVComplement. Alias TVComplement (SDMetrics). Range 0 to 1; goal: 1. Source: SDMetrics
// documentation, TVComplement. SDMetrics has it for categories only; here a numeric column counts
// by its public bins. Errors are those of [KSComplement].
func TVComplement(real, synthetic *table.Table, name string) (float64, error) {
	_, p, q, err := columnShares(real, synthetic, name)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for i := range p {
		sum += math.Abs(p[i] - q[i])
	}
	return 1 - sum/2, nil
}

// MissingSimilarity is 1 less the difference of the shares of missing cells of a
// column; 1 for a column that cannot be missing.
//
// Name MissingSimilarity. Alias MissingValueSimilarity (SDMetrics). Range 0 to 1;
// goal: 1. Source: SDMetrics documentation, MissingValueSimilarity.
func MissingSimilarity(real, synthetic *table.Table, name string) (float64, error) {
	columns, at, err := named(real, synthetic, name)
	if err != nil {
		return 0, err
	}
	c := columns[at]
	if c.missing < 0 {
		return 1, nil
	}
	var rate [2]float64
	for i, t := range []*table.Table{real, synthetic} {
		count := make([]int64, c.size)
		t.CountTo(count, []int{at})
		rate[i] = float64(count[c.missing]) / float64(t.Rows())
	}
	return 1 - math.Abs(rate[0]-rate[1]), nil
}

// ColumnShape is how well one column is reproduced.
type ColumnShape struct {
	Column string
	Metric string // "KSComplement" for numeric columns, "TVComplement" for the others
	// of the metric; 0 if one table has only missing cells here and the other has not, 1 if both have
	Score   float64
	Missing float64 // MissingSimilarity
}

// ColumnShapes compares every column, in schema order, and returns the mean score.
//
// Name ColumnShapes. Alias Column Shapes (SDMetrics quality report). Range 0 to
// 1; goal: 1. Source: SDMetrics documentation, Quality Report.
func ColumnShapes(real, synthetic *table.Table) (shapes []ColumnShape, mean float64, err error) {
	columns, err := compatible(real, synthetic)
	if err != nil {
		return nil, 0, err
	}
	for i, c := range columns {
		s := ColumnShape{Column: c.name, Metric: "TVComplement"}
		metric := TVComplement
		if c.numeric() {
			s.Metric, metric = "KSComplement", KSComplement
		}
		if s.Missing, err = MissingSimilarity(real, synthetic, c.name); err != nil {
			return nil, 0, err
		}
		_, emptyReal := presentShares(real, i, c)
		_, emptySynthetic := presentShares(synthetic, i, c)
		switch {
		case emptyReal && emptySynthetic:
			s.Score = 1
		case emptyReal || emptySynthetic:
			s.Score = 0
		default:
			if s.Score, err = metric(real, synthetic, c.name); err != nil {
				return nil, 0, err
			}
		}
		shapes = append(shapes, s)
		mean += s.Score / float64(len(columns))
	}
	return shapes, mean, nil
}

// named checks the tables and finds a column.
func named(real, synthetic *table.Table, name string) ([]column, int, error) {
	columns, err := compatible(real, synthetic)
	if err != nil {
		return nil, 0, err
	}
	at := real.Schema().Index(name)
	if at < 0 {
		return nil, 0, fmt.Errorf("eval: the schema has no column %q: %w", name, ErrColumn)
	}
	return columns, at, nil
}

// columnShares returns the shares of all codes but missing in both tables.
func columnShares(real, synthetic *table.Table, name string) (c column, p, q []float64, err error) {
	columns, at, err := named(real, synthetic, name)
	if err != nil {
		return column{}, nil, nil, err
	}
	c = columns[at]
	p, emptyReal := presentShares(real, at, c)
	q, emptySynthetic := presentShares(synthetic, at, c)
	if emptyReal || emptySynthetic {
		return column{}, nil, nil,
			fmt.Errorf("eval: column %q has only missing cells: %w", name, ErrColumn)
	}
	return c, p, q, nil
}

// presentShares returns the shares of all codes but missing, and whether there are no such cells.
func presentShares(t *table.Table, at int, c column) (shares []float64, empty bool) {
	count := make([]int64, c.size)
	t.CountTo(count, []int{at})
	if c.missing >= 0 {
		count = count[:c.missing] // the last code
	}
	total := int64(0)
	for _, n := range count {
		total += n
	}
	if total == 0 {
		return nil, true
	}
	shares = make([]float64, len(count))
	for i, n := range count {
		shares[i] = float64(n) / float64(total)
	}
	return shares, false
}
