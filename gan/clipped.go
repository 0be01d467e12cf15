package gan

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/internal/kernels"
	"github.com/decoy-dp/decoy/table"
)

// AddClippedSumTo is [Critic.AddSumTo] with a weight for each row, a whole number that multiplies
// its gradient: dst is then in steps of factor² times that of a weight. It returns the sum of the
// weights. weight gets the rounded factors of the row's gradient: x[0] is empty (every cell of a
// row is 1), x[l] the activations of hidden layer l, and delta[l] ∇_{s} D of layer l+1; they are
// valid during the call.
func (c *Critic) AddClippedSumTo(dst []int64, factor float64,
	weight func(x, delta [][]float64) int64, columns []table.Codes, rows []int) int64 {
	total := c.selected(columns, rows)
	if c.encoder.scaled != nil {
		panic("gan: rows with scaled columns cannot be clipped")
	}
	if frac, _ := math.Frexp(factor); frac != .5 || factor < 0x1p-26 || factor > 1 {
		panic(fmt.Sprintf("gan: factor %v is not a power of two in [2^-26, 1]", factor))
	}
	if len(dst) != len(c.parameters) {
		panic(fmt.Sprintf("gan: a sum of %d numbers for %d parameters", len(dst),
			len(c.parameters)))
	}
	p := c.newCodePass()
	one := int64(1 / factor)
	layers := len(c.layers)
	x, delta := make([][]int64, layers), make([][]int64, layers)
	xs, deltas := make([][]float64, layers), make([][]float64, layers)
	for l := range layers {
		delta[l], deltas[l] = make([]int64, c.sizes[l+1]), make([]float64, c.sizes[l+1])
		if l > 0 {
			x[l], xs[l] = make([]int64, c.sizes[l]), make([]float64, c.sizes[l])
		}
	}
	sum := int64(0)
	for first := 0; first < total; first += chunk {
		n := p.read(c.encoder, columns, rows, first, total)
		c.forward(p, n)
		c.backward(p, n)
		for i := range n {
			for l := range layers {
				scaled(deltas[l], roundTo(delta[l], p.delta[l].Row(i), one), factor)
				if l > 0 {
					scaled(xs[l], roundTo(x[l], p.x[l-1].Row(i), one), factor)
				}
			}
			w := weight(xs, deltas)
			sum += w
			if w == 0 {
				continue
			}
			at := 0
			for l, d := range delta {
				add := kernels.AddScaledTo
				if multiply(d, w) {
					add = addWideTo
				}
				units := len(d)
				if l == 0 {
					for _, cell := range p.cells[i] {
						add(dst[int(cell)*units:][:units], int32(one), d)
					}
				}
				for k, x := range x[l] {
					add(dst[at+k*units:][:units], int32(x), d)
				}
				at += c.sizes[l] * units
				add(dst[at:][:units], int32(one), d)
				at += units
			}
		}
	}
	return sum
}

// multiply multiplies d by a row's weight and reports whether an element is then wider than the
// kernels multiply.
func multiply(d []int64, w int64) (wide bool) {
	for j := range d {
		d[j] *= w
		wide = wide || d[j] != int64(int32(d[j]))
	}
	return wide
}

// addWideTo is kernels.AddScaledTo for y of any size; products wrap around.
func addWideTo(dst []int64, x int32, y []int64) {
	for j, y := range y {
		dst[j] += int64(x) * y
	}
}

// scaled sets dst to the first of x, times factor, a power of two.
func scaled(dst []float64, x []int64, factor float64) {
	for j := range dst {
		dst[j] = float64(x[j]) * factor
	}
}
