package bounds

import "math"

// Clipper gives rows the weights that bring them into a [Ball] certificate's ellipsoid. It is immutable.
type Clipper struct {
	c       *Certificate
	scalars []int // first coordinate of each scalar field's weights
	ones    []int // of each block of one cell: a scalar that is always 1
	// Of hidden unit j, the blocks' part of a row's squared norm is square·δ² − 2·cross·δ + constant: the scales of a block's cells are
	// equal, so which one is active does not matter.
	square, cross, constant []float64
}

// NewClipper returns the clipper of a certificate in mode Ball. It panics for other modes, whose certificates need no clipping.
func NewClipper(c *Certificate) *Clipper {
	if c.mode != Ball {
		panic("bounds: a clipper for mode " + c.mode.String())
	}
	h := c.sizes[1]
	out := &Clipper{c: c, square: make([]float64, h), cross: make([]float64, h), constant: make([]float64, h)}
	for _, f := range c.fields {
		if f.cells == 0 {
			out.scalars = append(out.scalars, f.offset*h)
			continue
		}
		if f.cells == 1 {
			out.ones = append(out.ones, f.offset*h)
			continue
		}
		for j := range h {
			k := f.offset*h + j
			t, w := c.centreAt(k), 1/(c.scales[k]*c.scales[k])
			out.square[j] += w
			out.cross[j] += w * t
			out.constant[j] += w * t * t * float64(f.cells)
		}
	}
	return out
}

// Weight returns the weight of a row, in steps of 2⁻⁸ from 0 to 256, by which all its contributions are to be multiplied: the
// largest that brings its centred gradient to the norm that the certificate promises, 1 if it is there already.
// x[0] holds the values of the scalar fields in order (nothing for blocks), x[l] the rounded activations of hidden layer l ≥ 1, and delta[l]
// the rounded δ of layer l+1, the last {1}; they panic if their lengths do not fit. For hidden layers beyond the first it costs a
// multiplication for every weight.
func (k *Clipper) Weight(x, delta [][]float64) int64 {
	layers := len(k.c.sizes) - 1
	k.c.length("x", len(x), layers)
	k.c.length("delta", len(delta), layers)
	k.c.length("x[0]", len(x[0]), len(k.scalars))
	sum, positive := 0., 0. // positive: the terms without cancellation, for the rounding error
	for j, d := range delta[0] {
		p := k.square[j]*d*d + k.constant[j]
		sum += p - 2*k.cross[j]*d
		positive += p
	}
	add := func(at int, x float64, delta []float64) {
		for j, d := range delta {
			v := (x*d - k.c.centreAt(at+j)) / k.c.scales[at+j]
			sum += v * v
		}
	}
	for i, at := range k.scalars {
		add(at, x[0][i], delta[0])
	}
	for _, at := range k.ones {
		add(at, 1, delta[0])
	}
	at := k.c.sizes[0] * k.c.sizes[1]
	for l := range layers {
		k.c.length("delta of a layer", len(delta[l]), k.c.sizes[l+1])
		if l > 0 {
			k.c.length("x of a layer", len(x[l]), k.c.sizes[l])
			for _, x := range x[l] {
				add(at, x, delta[l])
				at += len(delta[l])
			}
		}
		add(at, 1, delta[l])
		at += len(delta[l])
	}
	norm := math.Sqrt(sum + 0x1p-30*sum + 0x1p-40*positive) // more than the rounding of 2²⁰ terms, and of 2¹⁰ that cancel
	limit := k.c.norm / float64(k.c.unitRows)
	return int64(min(1, limit/norm) / weightStep)
}

// centreAt is μ_k in units of the data.
func (c *Certificate) centreAt(k int) float64 { return float64(c.centre[k]) * c.factor * c.factor }
