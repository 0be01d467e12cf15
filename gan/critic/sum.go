package critic

import (
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/internal/kernels"
	"github.com/decoy-dp/decoy/table"
)

// AddSumTo adds to dst the gradient Σ_rows ∇_θ D(x) over the selected rows (nil: all), in whole
// steps of factor², in the order of [Critic.Parameters]. If inputs is not nil it adds to it the sum
// of the rows' inputs: the number of rows with each cell active, and of a scaled column its sum in
// steps of factor.
//
// The sum is exact and does not depend on the order of rows: as package bounds asks, every factor
// of the gradient, the activations x^l and ∇_{s^l} D of hidden layers, is computed in float32 from
// its row alone and rounded to a whole multiple of factor before they are multiplied, and the
// products are summed as integers (which may wrap around). factor is a power of two in [2⁻²⁶, 1],
// and no factor of the gradient may exceed 2²⁶·factor; with scaled columns it is at most 2⁻¹⁶. It
// panics on a code that its column does not have.
func (c *Critic) AddSumTo(dst, inputs []int64, factor float64, columns []table.Codes, rows []int) {
	if len(dst) != len(c.parameters) || inputs != nil && len(inputs) != c.sizes[0] {
		panic(fmt.Sprintf("critic: sums of %d numbers and %d inputs, not %d and %d", len(dst),
			len(inputs), len(c.parameters), c.sizes[0]))
	}
	if slices.Contains(c.encoder.scaled, true) && factor > valueStep {
		panic(fmt.Sprintf("critic: factor %v is larger than the step of scaled inputs", factor))
	}
	c.Each(factor, columns, rows, nil, func(p *Pass) { p.AddTo(dst, inputs) })
}

// AddTo adds to dst the gradients of the rows of the pass: Σ X·Deltaᵀ for each layer's weights, and
// Σ Delta for its biases, of numbers in [−2³¹, 2³¹). If inputs is not nil it adds the inputs to it.
func (p *Pass) AddTo(dst, inputs []int64) {
	for l, delta := range p.Delta {
		in, units := p.c.sizes[l], p.c.sizes[l+1]
		delta = delta[:p.N*units]
		weights, biases := dst[:in*units], dst[in*units:][:units]
		dst = dst[(in+1)*units:]
		if l == 0 {
			p.addInputs(weights, inputs)
		} else {
			kernels.AddOuterTo(weights, p.N, p.X[l][:p.N*in], delta)
		}
		for i := range p.N {
			kernels.AddScaledTo(biases, int32(p.one), delta[i*units:][:units])
		}
	}
}

// addInputs adds to the sums the first layer's weights, and the inputs.
func (p *Pass) addInputs(dst, inputs []int64) {
	units := p.c.sizes[1]
	for i := range p.N {
		for k, cell := range p.cells[i] {
			x, in := p.one, int64(1)
			if p.c.encoder.IsScaled(k) {
				x = int64(p.values[i][k] * float32(p.one)) // exact
				in = x
			}
			kernels.AddScaledTo(dst[int(cell)*units:][:units], int32(x),
				p.Delta[0][i*units:][:units])
			if inputs != nil {
				inputs[cell] += in
			}
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
