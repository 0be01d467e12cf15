// Package margerror is the error measure of the marginal literature: the mean, over all sets of k columns, of half the L1 distance
// between the real and the synthetic marginal, each divided by its table's rows (half L1 = total variation distance).
package margerror

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/table"
)

// Mean is the mean total variation distance over all k-column marginals: 0 = equal, 1 = disjoint. The tables must have the same
// columns and at least one row each; k is 1 or more and at most the number of columns.
func Mean(real, synthetic *table.Table, k int) (float64, error) {
	sizes := real.Schema().Sizes()
	if k < 1 || k > len(sizes) || real.Rows() == 0 || synthetic.Rows() == 0 {
		return 0, fmt.Errorf("margerror: no %d-way marginals of %d columns with %d and %d rows", k, len(sizes), real.Rows(), synthetic.Rows())
	}
	cols := make([]int, k)
	for i := range cols {
		cols[i] = i
	}
	sum, sets := 0.0, 0
	for {
		sum += distance(real, synthetic, cols, sizes)
		sets++
		if !next(cols, len(sizes)) {
			return sum / float64(sets), nil
		}
	}
}

// distance is the total variation distance of one marginal.
func distance(a, b *table.Table, cols, sizes []int) float64 {
	cells := 1
	for _, c := range cols {
		cells *= sizes[c]
	}
	ca, cb := make([]int64, cells), make([]int64, cells)
	a.CountTo(ca, cols)
	b.CountTo(cb, cols)
	na, nb := float64(a.Rows()), float64(b.Rows())
	d := 0.0
	for i := range ca {
		d += math.Abs(float64(ca[i])/na - float64(cb[i])/nb)
	}
	return d / 2
}

// next advances cols to the next set of columns below n in lexicographic order.
func next(cols []int, n int) bool {
	k := len(cols)
	for i := k - 1; i >= 0; i-- {
		if cols[i] < n-k+i {
			cols[i]++
			for j := i + 1; j < k; j++ {
				cols[j] = cols[j-1] + 1
			}
			return true
		}
	}
	return false
}
