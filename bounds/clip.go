package bounds

import "math"

// clipper gives rows the weights that bring them into the ellipsoid of a certificate in mode ball:
// in the norm ‖v/c‖₂ of its scales, about its centre. It is immutable.
type clipper struct {
	sizes          []int
	scales, centre []float64
	limit          float64 // of a row's norm
	gamma          float64 // of all roundings on the way to a row's squared norm
	ones           []int   // first coordinate of each block of one cell, which is always 1
	// Of hidden unit j, the blocks' part of a row's squared norm is square·δ² − 2·cross·δ +
	// constant: the scales of a block's cells are equal, so which one is active does not matter.
	square, cross, constant []float64
}

// NewClipper returns the clipper of a certificate in mode ball. It panics for other modes, whose
// certificates need no clipping.
func NewClipper(c *Certificate) *clipper {
	if !c.mode.Clipped() {
		panic("bounds: a clipper for mode " + c.mode.String())
	}
	return newClipper(c.sizes, c.fields, c.scales, c.Centre(), c.norm/float64(c.unitRows))
}

func newClipper(sizes []int, fields []Field, scales, centre []float64, limit float64) *clipper {
	h := sizes[1]
	// A coordinate or a block's cell is one term of a sum or of a sum of sums; each has fewer than
	// sixteen roundings of its own.
	out := &clipper{
		sizes: sizes, scales: scales, centre: centre, limit: limit,
		gamma:  gamma(len(scales)+16, unit64),
		square: make([]float64, h), cross: make([]float64, h), constant: make([]float64, h),
	}
	first := 0 // coordinate of the field
	for _, f := range fields {
		at, cells := first, f.cells
		first += cells * h
		if cells == 1 {
			out.ones = append(out.ones, at)
			continue
		}
		for j := range h {
			t, w := centre[at+j], 1/(scales[at+j]*scales[at+j])
			out.square[j] += w
			out.cross[j] += w * t
			out.constant[j] += w * t * t * float64(cells)
		}
	}
	return out
}

// Weight returns the weight of a row, in steps of 2⁻⁸ from 0 to 256, by which all its contributions
// are to be multiplied: the largest that brings its centred gradient to the norm that the
// certificate promises, 1 if it is there already. x[l] holds the rounded activations of hidden
// layer l ≥ 1, x[0] nothing, and delta[l] the rounded δ of layer l+1, the last {1}; it panics if
// their lengths do not fit. For hidden layers beyond the first it costs a multiplication for every
// weight. A row whose norm is not finite has weight 0.
//
// Let S be the squared norm, P the part of it that is computed with cancellation, p − 2·cross·δ for
// each hidden unit, without the cancellation (p), and Ŝ, P̂ what is computed. As 2·cross·δ ≤ p, the
// absolute values of all terms add up to at most S + 2P, so |Ŝ − S| ≤ γ(S + 2P) and P ≤ P̂/(1−γ),
// and with γ < 2⁻²⁶ then S ≤ (1 + 2γ)·Ŝ + 4γ·P̂. γ's terms include the roundings of this line.
func (k *clipper) Weight(x, delta [][]float64) int64 {
	layers := len(k.sizes) - 1
	length("x", len(x), layers)
	length("delta", len(delta), layers)
	sum, positive := 0., 0. // positive: the terms without cancellation, for the rounding error
	for j, d := range delta[0] {
		p := k.square[j]*d*d + k.constant[j]
		sum += p - 2*k.cross[j]*d
		positive += p
	}
	add := func(at int, x float64, delta []float64) {
		for j, d := range delta {
			v := (x*d - k.centre[at+j]) / k.scales[at+j]
			sum += v * v
		}
	}
	for _, at := range k.ones {
		add(at, 1, delta[0])
	}
	at := k.sizes[0] * k.sizes[1]
	for l := range layers {
		length("delta of a layer", len(delta[l]), k.sizes[l+1])
		if l > 0 {
			length("x of a layer", len(x[l]), k.sizes[l])
			for _, x := range x[l] {
				add(at, x, delta[l])
				at += len(delta[l])
			}
		}
		add(at, 1, delta[l])
		at += len(delta[l])
	}
	norm := math.Sqrt(sum + 2*k.gamma*sum + 4*k.gamma*positive)
	if !(norm <= math.MaxFloat64) {
		return 0
	}
	return int64(min(1, k.limit/norm) / rowStep)
}
