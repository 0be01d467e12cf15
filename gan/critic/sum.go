package critic

import (
	"fmt"
	"math"

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
	if inputs != nil && len(inputs) != c.sizes[0] {
		panic(fmt.Sprintf("critic: sums of %d inputs, not %d", len(inputs), c.sizes[0]))
	}
	if c.encoder.scaled != nil && factor > valueStep {
		panic(fmt.Sprintf("critic: factor %v is larger than the step of scaled inputs", factor))
	}
	c.addSumTo(dst, inputs, factor, nil, columns, rows)
}

// AddClippedSumTo is [Critic.AddSumTo] with a weight for each row, a whole number that multiplies
// its gradient: dst is then in steps of factor² times that of a weight. It returns the sum of the
// weights. weight gets the rounded factors of the row's gradient: x[0] is empty (every cell of a
// row is 1), x[l] the activations of hidden layer l, and delta[l] ∇_{s} D of layer l+1; they are
// valid during the call.
func (c *Critic) AddClippedSumTo(
	dst []int64, factor float64, weight func(x, delta [][]float64) int64, columns []table.Codes,
	rows []int,
) int64 {
	if c.encoder.scaled != nil {
		panic("critic: rows with scaled columns cannot be clipped")
	}
	return c.addSumTo(dst, nil, factor, weight, columns, rows)
}

// addSumTo is either sum; weight is nil for the first.
func (c *Critic) addSumTo(
	dst, inputs []int64, factor float64, weight func(x, delta [][]float64) int64,
	columns []table.Codes, rows []int,
) (sum int64) {
	total, one := c.selected(columns, rows), steps(factor)
	if len(dst) != len(c.parameters) {
		panic(fmt.Sprintf("critic: sums of %d numbers for %d parameters",
			len(dst), len(c.parameters)))
	}
	p := c.passes.Get().(*pass)
	for first := 0; first < total; first += chunk {
		n := p.read(c.encoder, columns, rows, first, total)
		c.forward(p, n)
		c.backward(p, n)
		for l := range c.layers {
			if l > 0 {
				round(p.x64[l], p.x[l-1].Head(n), one)
			}
			round(p.delta64[l], p.delta[l].Head(n), one)
		}
		wide := make([]bool, len(c.layers))
		if weight != nil {
			sum += c.weigh(wide, p.x64, p.delta64, n, factor, weight)
		}
		at := 0
		for l := range c.layers {
			in, units := c.sizes[l], c.sizes[l+1]
			if l == 0 {
				for i := range n {
					c.addInputs(dst, inputs, p, i, one, wide[0])
				}
			} else {
				addOuterTo(dst[at:][:in*units], n, p.x64[l], p.delta64[l], wide[l])
			}
			at += in * units
			for i := range n {
				addScaledTo(dst[at:][:units], one, p.delta64[l][i*units:], wide[l])
			}
			at += units
		}
	}
	p.clear(min(total, chunk))
	c.passes.Put(p)
	return sum
}

// addInputs adds to the sums the first layer's weights of row i, and its inputs.
func (c *Critic) addInputs(dst, inputs []int64, p *pass, i int, one int64, wide bool) {
	units := c.sizes[1]
	for k, cell := range p.cells[i] {
		x, in := one, int64(1)
		if c.encoder.IsScaled(k) {
			x = int64(p.values[i][k] * float32(one)) // exact
			in = x
		}
		addScaledTo(dst[int(cell)*units:][:units], x, p.delta64[0][i*units:], wide)
		if inputs != nil {
			inputs[cell] += in
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

// weigh multiplies delta of each of n rows, in steps of factor, by the row's weight, and returns
// the sum of the weights. x[l] and delta[l] hold the rows' factors of layer l+1, one row after the
// other. wide[l] becomes true if a product is wider than the kernels multiply.
func (c *Critic) weigh(
	wide []bool, x, delta [][]int64, n int, factor float64, weight func(x, delta [][]float64) int64,
) (sum int64) {
	xs, deltas := make([][]float64, len(x)), make([][]float64, len(delta))
	for l := range x {
		xs[l] = make([]float64, min(len(x[l]), c.sizes[l]))
		deltas[l] = make([]float64, c.sizes[l+1])
	}
	for i := range n {
		for l := range x {
			for j := range xs[l] {
				xs[l][j] = float64(x[l][i*len(xs[l])+j]) * factor
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
				wide[l] = wide[l] || row[j] != int64(int32(row[j]))
			}
		}
	}
	return sum
}

// round sets dst to x·one, rounded to the nearest integers, ties to even; one is a power of two.
func round(dst []int64, x kernels.Matrix, one int64) {
	kernels.RoundTo(dst[:len(x.Data)], x.Data, float64(one))
}

// addOuterTo adds Σ x·yᵀ over n rows; products wrap around.
func addOuterTo(dst []int64, n int, x, y []int64, wide bool) {
	units := len(y) / chunk
	in := len(dst) / units
	if !wide {
		kernels.AddOuterTo(dst, n, x[:n*in], y[:n*units])
		return
	}
	for k, x := range x[:n*in] {
		addScaledTo(dst[k%in*units:][:units], x, y[k/in*units:], true)
	}
}

// addScaledTo adds x times as many of y; products wrap around.
func addScaledTo(dst []int64, x int64, y []int64, wide bool) {
	if !wide {
		kernels.AddScaledTo(dst, int32(x), y[:len(dst)])
		return
	}
	for j := range dst {
		dst[j] += x * y[j]
	}
}
