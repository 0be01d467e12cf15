package critic

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/kernels"
)

// AddSumTo adds to dst the gradient Σ_rows ∇_θ D(x) over the selected rows (nil: all), in whole
// steps of factor², in the order of [Critic.Parameters]. If cells is not nil it adds to it the
// number of rows with each cell active.
//
// The sum is exact and does not depend on the order of rows: as package bounds asks, every factor
// of the gradient, the activations x^l and ∇_{s^l} D of hidden layers, is computed in float32 from
// its row alone and rounded to a whole multiple of factor before they are multiplied, and the
// products are summed as integers (which may wrap around). factor is a power of two in [2⁻²⁶, 1],
// and no factor of the gradient may exceed 2²⁶·factor. It panics on a code that its column does not
// have.
func (c *Critic) AddSumTo(dst, cells []int64, factor float64, columns []table.Codes, rows []int) {
	if len(dst) != len(c.parameters) || cells != nil && len(cells) != c.sizes[0] {
		panic(fmt.Sprintf("critic: sums of %d numbers and %d cells, not %d and %d", len(dst),
			len(cells), len(c.parameters), c.sizes[0]))
	}
	c.each(factor, columns, rows, nil, func(p *pass) {
		p.addTo(dst)
		for i := 0; i < p.rows && cells != nil; i++ {
			for _, cell := range p.cells[i] {
				cells[cell]++
			}
		}
	})
}

// addTo adds to dst the gradients of the rows: Σ inputs·deltasᵀ for each layer's weights, and Σ
// deltas for its biases, of numbers in [−2³¹, 2³¹).
func (p *pass) addTo(dst []int64) {
	one := int32(p.one)
	for l, delta := range p.deltas {
		in, units := p.c.sizes[l], p.c.sizes[l+1]
		delta = delta[:p.rows*units]
		weights, biases := dst[:in*units], dst[in*units:][:units]
		dst = dst[(in+1)*units:]
		if l > 0 {
			kernels.AddOuterTo(weights, p.rows, p.inputs[l][:p.rows*in], delta)
		}
		for i := range p.rows {
			d := row(delta, i, units)
			for k := 0; l == 0 && k < len(p.cells[i]); k++ {
				kernels.AddScaledTo(row(weights, int(p.cells[i][k]), units), one, d)
			}
			kernels.AddScaledTo(biases, one, d)
		}
	}
}

// selected is the number of rows selected; columns must be those of the encoder.
func (c *Critic) selected(columns []table.Codes, rows []int) int {
	if len(columns) != c.encoder.Columns() {
		panic(fmt.Sprintf("critic: %d columns for a critic of %d", len(columns),
			c.encoder.Columns()))
	}
	if rows != nil {
		return len(rows)
	}
	return columns[0].Len()
}

// steps is 1/factor.
func steps(factor float64) int64 {
	if frac, _ := math.Frexp(factor); frac != .5 || factor < 0x1p-26 || factor > 1 {
		panic(fmt.Sprintf("critic: factor %v is not a power of two in [2^-26, 1]", factor))
	}
	return int64(1 / factor)
}
