package critic

import (
	"fmt"

	"github.com/decoy-dp/decoy/data/table"
)

// rowWeight returns the weight of a row, a whole number, for the rounded factors of its gradient:
// for each layer what it sees, x, and delta. They are valid during the call.
type rowWeight func(x, delta [][]float64) int64

// AddClippedSumTo is [Critic.AddSumTo] with a weight for each row, which multiplies its gradient:
// dst is then in steps of factor² times that of a weight. It returns the sum of the weights. Of the
// factors that weight gets, x[0] is empty (every cell of a row is 1), x[l] the activations of
// hidden layer l, and delta[l] ∇_{s} D of layer l+1.
func (c *Critic) AddClippedSumTo(
	dst []int64, factor float64, weight rowWeight, columns []table.Codes, rows []int,
) (sum int64) {
	if len(dst) != len(c.parameters) {
		panic(fmt.Sprintf("critic: sums of %d numbers for %d parameters", len(dst), len(c.parameters)))
	}
	c.each(factor, columns, rows, nil, func(p *pass) {
		total, narrow := p.weigh(p.inputs, weight)
		if sum += total; narrow {
			p.addTo(dst)
			return
		}
		rest := dst
		for l, delta := range p.deltas {
			in, units := c.sizes[l], c.sizes[l+1]
			for i := range p.rows {
				d := row(delta, i, units)
				for k := 0; l == 0 && k < len(p.cells[i]); k++ {
					addScaledTo(row(rest, int(p.cells[i][k]), units), p.one, d)
				}
				if l > 0 {
					addOuterTo(rest, row(p.inputs[l], i, in), d)
				}
				addScaledTo(row(rest, in, units), p.one, d)
			}
			rest = rest[(in+1)*units:]
		}
	})
	return sum
}

// weigh multiplies deltas of each row by the row's weight, and returns the sum of the weights. x
// are the rows' factors of each layer. narrow reports whether all are still numbers that the
// kernels multiply.
func (p *pass) weigh(x [][]int64, weight rowWeight) (sum int64, narrow bool) {
	xs, deltas := make([][]float64, len(x)), make([][]float64, len(x))
	for l := range x {
		xs[l] = make([]float64, min(len(x[l]), p.c.sizes[l]))
		deltas[l] = make([]float64, p.c.sizes[l+1])
	}
	factor := 1 / float64(p.one)
	narrow = true
	for i := range p.rows {
		for l := range x {
			for j, v := range row(x[l], i, len(xs[l])) {
				xs[l][j] = float64(v) * factor
				narrow = narrow && v == int64(int32(v))
			}
			for j, d := range row(p.deltas[l], i, len(deltas[l])) {
				deltas[l][j] = float64(d) * factor
			}
		}
		w := weight(xs, deltas)
		sum += w
		for l, d := range p.deltas {
			d := row(d, i, len(deltas[l]))
			for j := range d {
				d[j] *= w
				narrow = narrow && d[j] == int64(int32(d[j]))
			}
		}
	}
	return sum, narrow
}

// addOuterTo adds x·yᵀ to dst; products wrap around.
func addOuterTo(dst, x, y []int64) {
	for k, x := range x {
		addScaledTo(row(dst, k, len(y)), x, y)
	}
}

// addScaledTo adds x·y to dst; products wrap around.
func addScaledTo(dst []int64, x int64, y []int64) {
	for j, y := range y {
		dst[j] += x * y
	}
}
