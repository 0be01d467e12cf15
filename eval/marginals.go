package eval

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/combin"

	"github.com/decoy-dp/decoy/table"
)

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
		return nil, fmt.Errorf("eval: there are no %d-way marginals of %d columns: %w", k,
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
