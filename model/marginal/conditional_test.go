package marginal

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestConditionals compares each column's chances in each possible row with brute force. With
// potentials of scale 30 they are as far apart as 10⁻⁶⁰.
func TestConditionals(t *testing.T) {
	u := rand.New(rand.NewPCG(7, 6))
	for _, d := range domains {
		for _, scale := range []float64{0, 1, 30} {
			m, j := randomModel(t, d.sizes, d.cliques, scale, u)
			given, all := m.Conditionals(), make([]int, len(d.sizes))
			for c := range all {
				all[c] = c
			}
			cellOf := func(row [][]uint16) (cell int) {
				for c, n := range d.sizes {
					cell = cell*n + int(row[c][0])
				}
				return cell
			}
			rows, joint := m.Sample(50, u), j.marginal(all)
			for i := range rows[0] {
				for c, n := range d.sizes {
					got, want, sums := make([]float32, n), make([]float64, n), [2]float64{}
					given.To(got, rows, i, c)
					row := make([][]uint16, len(rows))
					for k := range row {
						row[k] = []uint16{rows[k][i]}
					}
					shares := make([]float64, n)
					for code := range n {
						row[c][0] = uint16(code)
						want[code] = joint[cellOf(row)]
						sums[0], sums[1] = sums[0]+float64(got[code]), sums[1]+want[code]
					}
					for code := range n {
						shares[code] = float64(got[code]) / sums[0]
						want[code] /= sums[1]
					}
					if slices.ContainsFunc(want, func(x float64) bool { return x != x }) {
						t.Fatalf("%s: a row of no chance", d.name)
					}
					compare(t, fmt.Sprintf("%s, scale %v, column %d", d.name, scale, c), shares, want,
						1e-5)
				}
			}
		}
	}
}
