package bounds

import "fmt"

// Sum is the exact sum over a batch of what rows contribute, in integers. Certificate.weightStep
// is 1 except in modes that clip, where it is 2⁻⁸ and a row counts with its weight: every
// contribution of it is multiplied by that, in all three parts.
type Sum struct {
	Rows int64 // number of rows, in steps of rowStep
	// Σx, in steps of F·rowStep (an active cell is 1/F of them); may be nil unless the mode is
	// Residual
	Inputs   []int64
	Gradient []int64 // Σg in the order W¹, b¹, W², ..., in steps of Grid
}

// Grid is the step of the released vector, a power of two: F², times rowStep.
func (c *Certificate) Grid() float64 { return c.factor * c.factor * c.weightStep() }

// rowStep is the step of a clipped row's weight: coarse enough that weighted contributions stay
// exact, and fine enough that rounding a weight down costs at most 1/256 of a row.
const rowStep = 0x1p-8

// weightStep is the step of a row's weight: 1, and rowStep in modes that clip.
func (c *Certificate) weightStep() float64 {
	if c.mode.Clipped() {
		return rowStep
	}
	return 1
}

// EncodeTo sets dst to the vector to release, in steps of Grid: the sum less rows times the centre
// and, in mode Residual, less what the sum of the inputs predicts. Coordinate k then needs noise of
// standard deviation z·c_k and the result may leave. It is linear over the integers, modulo 2⁶⁴. It
// panics on lengths that do not fit the network; dst may not overlap s.
func (c *Certificate) EncodeTo(dst []int64, s Sum) {
	length("dst", len(dst), len(c.scales))
	length("gradient", len(s.Gradient), c.Parameters())
	inputs := c.Inputs()
	copy(dst[inputs:], s.Gradient)
	if inputs > 0 {
		length("inputs", len(s.Inputs), inputs)
		perStep := int64(1 / c.factor) // of F in F²
		for i, x := range s.Inputs {
			dst[i] = x * perStep
		}
		predict(dst[inputs:], s.Inputs, c.residual.slope, c.residual.linear, c.sizes[1], -1)
	}
	for k, mu := range c.centre {
		dst[k] -= mu * s.Rows
	}
}

// predict adds to the gradients of W¹ and, with linear, W² what the inputs predict of them, times
// scale.
func predict[T int64 | float64](gradient, inputs []T, slope, linear []int64, h int, scale T) {
	output := gradient[len(inputs)*h+h:]
	for i, x := range inputs {
		x *= scale
		g := gradient[i*h:][:h]
		for j, p := range slope[i*h:][:h] {
			g[j] += T(p) * x
		}
		if linear == nil {
			continue
		}
		for j, p := range linear[i*h:][:h] {
			output[j] += T(p) * x
		}
	}
}

// length panics unless a slice has the length it must have.
func length(what string, got, want int) {
	if got != want {
		panic(fmt.Sprintf("bounds: %s has length %d, want %d", what, got, want))
	}
}
