// Package clipped is the sums over private rows of package critic in which each row counts with a
// weight: of the gradients of its score, and of those of its gradient penalty.
package clipped

import (
	"fmt"

	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/table"
)

// Critic is a critic, and the generated rows, as it sees them, that its gradient penalty is taken
// towards.
type Critic struct {
	*critic.Critic
	Generated []float32 // inputs of each row, row after row
}

// AddClippedSumTo is [critic.Critic.AddSumTo] with a weight for each row, a whole number that
// multiplies its gradient: dst is then in steps of factor² times that of a weight. It returns the
// sum of the weights. weight gets the rounded factors of the row's gradient: x[0] is empty (every
// cell of a row is 1), x[l] the activations of hidden layer l, and delta[l] ∇_{s} D of layer l+1;
// they are valid during the call.
func (c Critic) AddClippedSumTo(
	dst []int64, factor float64, weight func(x, delta [][]float64) int64, columns []table.Codes,
	rows []int,
) (sum int64) {
	sizes := c.Sizes()
	if c.Encoder().ScaledColumns() != nil || len(dst) != len(c.Parameters()) {
		panic(fmt.Sprintf("clipped: sums of %d numbers for %d parameters, or scaled columns",
			len(dst), len(c.Parameters())))
	}
	c.Each(factor, columns, rows, nil, func(p *critic.Pass) {
		total, narrow := weigh(p.N, sizes, p.X, p.Delta, factor, weight)
		if sum += total; narrow {
			p.AddTo(dst, nil)
			return
		}
		at, one := 0, int64(1/factor)
		for l, delta := range p.Delta {
			in, units := sizes[l], sizes[l+1]
			for i := range p.N {
				d := delta[i*units:][:units]
				if l == 0 {
					for _, cell := range p.Cells(i) {
						addScaledTo(dst[at+int(cell)*units:], one, d)
					}
				} else {
					addOuterTo(dst[at:], p.X[l][i*in:][:in], d)
				}
				addScaledTo(dst[at+in*units:], one, d)
			}
			at += (in + 1) * units
		}
	})
	return sum
}

// weigh multiplies delta of each of n rows, in steps of factor, by the row's weight, and returns
// the sum of the weights. x[l] and delta[l] hold the rows' factors of layer l+1, one row after the
// other. narrow reports whether all are still numbers that the kernels multiply.
func weigh(
	n int, sizes []int, x, delta [][]int64, factor float64,
	weight func(x, delta [][]float64) int64,
) (sum int64, narrow bool) {
	xs, deltas := make([][]float64, len(x)), make([][]float64, len(delta))
	for l := range x {
		xs[l] = make([]float64, min(len(x[l]), sizes[l]))
		deltas[l] = make([]float64, sizes[l+1])
	}
	narrow = true
	for i := range n {
		for l := range x {
			for j := range xs[l] {
				v := x[l][i*len(xs[l])+j]
				xs[l][j] = float64(v) * factor
				narrow = narrow && v == int64(int32(v))
			}
			for j := range deltas[l] {
				deltas[l][j] = float64(delta[l][i*len(deltas[l])+j]) * factor
			}
		}
		w := weight(xs, deltas)
		sum += w
		for l := range delta {
			row := delta[l][i*len(deltas[l]):][:len(deltas[l])]
			for j := range row {
				row[j] *= w
				narrow = narrow && row[j] == int64(int32(row[j]))
			}
		}
	}
	return sum, narrow
}

// addOuterTo adds x·yᵀ to dst; products wrap around.
func addOuterTo(dst, x, y []int64) {
	for k, x := range x {
		addScaledTo(dst[k*len(y):], x, y)
	}
}

// addScaledTo adds x·y to dst; products wrap around.
func addScaledTo(dst []int64, x int64, y []int64) {
	for j, y := range y {
		dst[j] += x * y
	}
}
