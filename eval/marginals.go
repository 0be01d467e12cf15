package eval

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/table"
)

// MarginalDistance is how far the joint distribution of some columns is off.
type MarginalDistance struct {
	Columns []int   // positions in the schema, increasing
	TV      float64 // total variation distance, 0 to 1
}

// MarginalDistances compares the marginals of all sets of k columns: with p and q the shares of the
// rows that have each combination of codes (missing is a code), the total variation distance is
// ½·Σ|p − q|. Sets are in lexicographic order. k is from 1 to the number of columns.
func MarginalDistances(real, synthetic *table.Table, k int) ([]MarginalDistance, error) {
	columns, err := compatible(real, synthetic)
	if err != nil {
		return nil, err
	}
	if k < 1 || k > len(columns) {
		return nil, fmt.Errorf("eval: there are no %d-way marginals of %d columns: %w", k,
			len(columns), ErrTables)
	}
	var out []MarginalDistance
	for set := allColumns(k); set != nil; set = nextSet(set, len(columns)) {
		out = append(out, MarginalDistance{Columns: set})
	}
	inParallel(len(out), func() func(int) {
		return func(i int) { out[i].TV = totalVariation(real, synthetic, out[i].Columns, columns) }
	})
	return out, nil
}

// MarginalError is the mean of [MarginalDistances] over all sets of k columns.
//
// Name MarginalError. Alias workload error, average total variation distance (the literature on
// marginals; private-pgm's scripts); SDNist's k-marginal score is 1000·(1 − error). Range 0 to 1;
// goal: 0, in practice that of two samples of the real table. Source: McKenna, Mullins, Sheldon &
// Miklau 2022, arXiv 2201.12677, section 2.
func MarginalError(real, synthetic *table.Table, k int) (float64, error) {
	all, err := MarginalDistances(real, synthetic, k)
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
func totalVariation(a, b *table.Table, cols []int, columns []column) float64 {
	cells := 1
	for _, c := range cols {
		cells *= columns[c].size
		if cells > denseCells {
			return sparseTotalVariation(a, b, cols)
		}
	}
	ca, cb := make([]int64, cells), make([]int64, cells)
	a.CountTo(ca, cols)
	b.CountTo(cb, cols)
	na, nb := float64(a.Rows()), float64(b.Rows())
	sum := 0.0
	for i, n := range ca {
		if n != 0 || cb[i] != 0 {
			sum += math.Abs(float64(n)/na - float64(cb[i])/nb)
		}
	}
	return sum / 2
}

func sparseTotalVariation(a, b *table.Table, cols []int) float64 {
	groups, count := groupRows(cols, a, b)
	ca, cb := groupSizes(groups[0], count), groupSizes(groups[1], count)
	sum := 0.0
	for i := range ca {
		sum += math.Abs(float64(ca[i])/float64(a.Rows()) - float64(cb[i])/float64(b.Rows()))
	}
	return sum / 2
}

// nextSet returns the set of columns below n that follows set in lexicographic
// order, or nil after the last.
func nextSet(set []int, n int) []int {
	out := append([]int(nil), set...)
	k := len(out)
	for i := k - 1; i >= 0; i-- {
		if out[i] < n-k+i {
			out[i]++
			for j := i + 1; j < k; j++ {
				out[j] = out[j-1] + 1
			}
			return out
		}
	}
	return nil
}
