package eval

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/combin"

	"github.com/decoy-dp/decoy/data/table"
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
			inverses := float64(real.Rows())/present/effectiveRows(real.Units(), real.Rows()) +
				float64(synthetic.Rows())/others/effectiveRows(synthetic.Units(), synthetic.Rows())
			s.Score = s.TV
			if !c.numeric() { // the distance to expect of two samples with the shares (p + q)/2
				for i := range p {
					share := (p[i] + q[i]) / 2
					s.Chance += math.Sqrt(share * (1 - share) * inverses / (2 * math.Pi))
				}
			} else {
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
		return nil, 0, fmt.Errorf("a table of one column has no pairs: %w", ErrTables)
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

// marginalDistance is how far the joint distribution of some columns is off.
type marginalDistance struct {
	Columns []int   // positions in the schema, increasing
	TV      float64 // total variation distance, 0 to 1
}

// marginalDistances compares the marginals of all sets of k columns: with p and q the shares of the
// rows that have each combination of codes (missing is a code), the total variation distance is
// ½·Σ|p − q|. Sets are in lexicographic order. k is from 1 to the number of columns.
func marginalDistances(real, synthetic *table.Table, k int) ([]marginalDistance, error) {
	columns, err := compatible(real, synthetic)
	if err != nil {
		return nil, err
	}
	if k < 1 || k > len(columns) {
		return nil, fmt.Errorf("there are no %d-way marginals of %d columns: %w", k,
			len(columns), ErrTables)
	}
	var out []marginalDistance
	for _, set := range combin.Combinations(len(columns), k) {
		out = append(out, marginalDistance{Columns: set})
	}
	inParallel(len(out), func() func(int) {
		return func(i int) { out[i].TV = totalVariation(real, synthetic, out[i].Columns...) }
	})
	return out, nil
}

// MarginalError is the mean of [marginalDistances] over all sets of k columns.
//
// Name MarginalError. Alias workload error, average total variation distance (the literature on
// marginals; private-pgm's scripts); SDNist's k-marginal score is 1000·(1 − error). Range 0 to 1;
// goal: 0, in practice that of two samples of the real table. Source: McKenna, Mullins, Sheldon &
// Miklau 2022, arXiv 2201.12677, section 2.
func MarginalError(real, synthetic *table.Table, k int) (float64, error) {
	all, err := marginalDistances(real, synthetic, k)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, m := range all {
		sum += m.TV
	}
	return sum / float64(len(all)), nil
}

// denseCells is the size of a marginal above which only combinations that occur are counted.
const denseCells = 1 << 22

// totalVariation compares one marginal.
func totalVariation(a, b *table.Table, cols ...int) float64 {
	cells, sizes := 1, a.Schema().Sizes()
	for _, c := range cols {
		cells = min(cells*sizes[c], denseCells+1)
	}
	var count [][]int64
	if cells > denseCells {
		count = countClasses(cols, a, b)
	} else {
		count = [][]int64{a.Counts(cols...), b.Counts(cols...)}
	}
	sum := 0.0
	for i, n := range count[0] {
		sum += math.Abs(float64(n)/float64(a.Rows()) - float64(count[1][i])/float64(b.Rows()))
	}
	return sum / 2
}
