package bounds

import (
	"fmt"
	"math"
	"slices"
)

// ranges holds an interval for every number that the model of arithmetic lets a row produce, over
// all rows of the domain. Hidden layers are numbered l = 0..H-1, and layer l has sizes[l+1] units.
type ranges struct {
	pre   [][]interval // pre[l]: s of hidden layer l, as computed
	scale [][]interval // scale[l]: φ'(s) of hidden layer l
	// act[0]: the inputs; act[l+1]: x of hidden layer l rounded to F. The factor x̂ of layer l is
	// act[l].
	act   [][]interval
	down  []interval   // ∇x of hidden layer 0, as computed, before φ' (nil without a hidden layer)
	delta [][]interval // delta[l]: δ of layer l rounded to F; the last is {1}
	// least[k][j]: smallest weight of block k into unit j of the first layer; of a number, or 0
	least [][]float64
	most  [][]float64 // most[k][j]: the largest
	slack []float64   // slack[j]: that of s_j of the first layer
	sum   float64     // largest Σ|terms| of any sum that the critic computes, forward or backward
}

// propagate runs the network on intervals, forward and backward. f is the factor grid.
//
// Forward: lower(s_j) = b_j + Σ_i min over x_i of W_ij·x_i over independent inputs, and over the
// first layer's fields, whose choices are independent: for a block the minimum over its cells, so
// the first layer is exact. φ is monotone. φ' is {1} where lower(s) > 0, {α} where upper(s) < 0,
// else [α, 1]; the strict signs make it hold for either choice of φ'(0).
//
// Backward: δ = φ'·∇x by corners, ∇x = Wδ by signs. Each end is moved out by the rounding that the
// model allows, so that by induction over the layers what is computed from numbers in the intervals
// stays in the next.
func propagate(n *network, in *Input, f float64) *ranges {
	hidden := len(n.layers) - 1
	r := &ranges{act: [][]interval{slices.Repeat([]interval{{0, 1}}, in.size)},
		delta: make([][]interval, hidden+1)}
	var x []interval
	for l := range hidden {
		var s []interval
		if l == 0 {
			s = r.first(n, in)
		} else {
			s = r.affine(n, l, x)
		}
		scale, rounded := make([]interval, len(s)), make([]interval, len(s))
		x = make([]interval, len(s))
		for j, s := range s {
			scale[j] = slopes(s, n.slope)
			x[j] = activate(s, n)
			rounded[j] = x[j].rounded(f)
		}
		r.pre, r.scale, r.act = append(r.pre, s), append(r.scale, scale), append(r.act, rounded)
	}
	if hidden == 0 {
		r.first(n, in)
	} else {
		r.affine(n, hidden, x) // the score, for its sum only
	}
	back := []interval{{1, 1}}
	r.delta[hidden] = back
	for l := hidden - 1; l >= 0; l-- {
		down := r.pullback(n, l+1, back)
		back = make([]interval, len(down))
		r.delta[l] = make([]interval, len(down))
		for j := range down {
			back[j] = product(r.scale[l][j], down[j])
			r.delta[l][j] = back[j].rounded(f)
		}
		r.down = down
	}
	return r
}

// first gives s of the first layer and keeps what conditional intervals need.
func (r *ranges) first(n *network, in *Input) []interval {
	w := n.layers[0].Weights
	h := n.sizes[1]
	s, size := make([]interval, h), make([]float64, h)
	for j, b := range n.layers[0].Bias {
		b := float64(b)
		s[j], size[j] = interval{b, b}, math.Abs(b)
	}
	r.least, r.most = make([][]float64, len(in.fields)), make([][]float64, len(in.fields))
	for k, field := range in.fields {
		row := w[field.offset*h : (field.offset+1)*h]
		least, most := make([]float64, h), make([]float64, h)
		for j, w := range row {
			least[j], most[j] = float64(w), float64(w)
			if field.cells == 0 {
				least[j], most[j] = min(least[j], 0), max(most[j], 0)
			}
		}
		for c := 1; c < field.cells; c++ {
			row := w[(field.offset+c)*h:][:h]
			for j, w := range row {
				w := float64(w)
				least[j], most[j] = min(least[j], w), max(most[j], w)
			}
		}
		for j := range s {
			s[j].lo += least[j]
			s[j].hi += most[j]
			size[j] += max(-least[j], most[j])
		}
		r.least[k], r.most[k] = least, most
	}
	r.slack = size
	for j := range s {
		r.sum = max(r.sum, size[j])
		r.slack[j] = slack(len(in.fields)+1, size[j])
		s[j] = s[j].widen(r.slack[j])
	}
	return s
}

// affine gives s = Wᵀx + b of layer l ≥ 1.
func (r *ranges) affine(n *network, l int, x []interval) []interval {
	weights := n.layers[l].Weights
	h := n.sizes[l+1]
	s, rest := make([]interval, h), make([]float64, 3*h)
	middle, reach, size := rest[:h:h], rest[h:2*h:2*h], rest[2*h:]
	for j, b := range n.layers[l].Bias {
		middle[j], size[j] = float64(b), math.Abs(float64(b))
	}
	for i := 0; i < len(x); i += 2 { // two rows at a time: each loads and stores the sums
		first, a := weights[i*h:][:h], x[i].midRadius()
		second, b := first, midRadius{}
		if i+1 < len(x) {
			second, b = weights[(i+1)*h:][:h], x[i+1].midRadius()
		}
		middle, reach, size, second := middle[:len(first)], reach[:len(first)], size[:len(first)],
			second[:len(first)]
		for j, v := range first {
			v, w := float64(v), float64(second[j])
			middle[j] += v*a.mid + w*b.mid
			v, w = math.Abs(v), math.Abs(w)
			reach[j] += v*a.rad + w*b.rad
			size[j] += v*a.size + w*b.size
		}
	}
	for j := range s {
		r.sum = max(r.sum, size[j])
		s[j] = interval{middle[j] - reach[j], middle[j] + reach[j]}.widen(slack(len(x)+1,
			size[j]))
	}
	return s
}

// slopes is the interval of φ'(s).
func slopes(s interval, slope float64) interval {
	switch {
	case s.lo > 0:
		return interval{1, 1}
	case s.hi < 0:
		return interval{slope, slope}
	}
	return interval{slope, 1}
}

// activate is the interval of φ(s), whose negative branch has one rounding.
func activate(s interval, n *network) interval {
	phi := func(s float64) float64 {
		if s >= 0 {
			return s
		}
		return n.slope * s
	}
	x := interval{phi(s.lo), phi(s.hi)}
	return x.widen(slack(1, x.size()))
}

// product is the interval of φ'·∇x, which has one rounding.
func product(scale, down interval) interval {
	p := scale.times(down)
	return p.widen(slack(1, p.size()))
}

// pullback gives ∇x = Wδ of the inputs of layer l from δ of its units.
func (r *ranges) pullback(n *network, l int, back []interval) []interval {
	weights := n.layers[l].Weights
	h := n.sizes[l+1]
	delta := make([]midRadius, h)
	for j, d := range back {
		delta[j] = d.midRadius()
	}
	out := make([]interval, n.sizes[l])
	end := func(i int, middle, reach, size float64) {
		r.sum = max(r.sum, size)
		out[i] = interval{middle - reach, middle + reach}
		if l < len(n.layers)-1 { // at the last layer δ = 1, and the product is exact
			out[i] = out[i].widen(slack(h, size))
		}
	}
	for i := 0; i < len(out); i += 2 { // two rows at a time: each is a chain of additions
		v := weights[i*h:][:h]
		w := v
		if i+1 < len(out) {
			w = weights[(i+1)*h:][:h]
		}
		var middle, reach, size, middle2, reach2, size2 float64
		for j, v := range v[:len(delta)] {
			d, v, w := delta[j], float64(v), float64(w[j])
			a, b := math.Abs(v), math.Abs(w)
			middle += v * d.mid
			reach += a * d.rad
			size += a * d.size
			middle2 += w * d.mid
			reach2 += b * d.rad
			size2 += b * d.size
		}
		end(i, middle, reach, size)
		if i+1 < len(out) {
			end(i+1, middle2, reach2, size2)
		}
	}
	return out
}

// given is the interval of δ̂_j of the first layer when cell c of field k, a block, is the active
// one. Only s_j is conditioned on it: its block adds W_cj instead of anything from least to most.
// The slack of s_j covers the roundings here.
func (r *ranges) given(n *network, f float64, k, j int, w float64) interval {
	s := r.pre[0][j]
	s = interval{s.lo - r.least[k][j] + w, s.hi - r.most[k][j] + w}
	return product(slopes(s, n.slope), r.down[j]).rounded(f)
}

// decides reports whether a cell of block k fixes the branch of unit j of the first layer that the
// whole domain leaves open.
func (r *ranges) decides(k, j int) bool {
	if r.pre == nil {
		return false
	}
	s, spread := r.pre[0][j], r.most[k][j]-r.least[k][j]
	open := s.lo <= 0 && s.hi >= 0
	return open && (s.lo+spread > 0 || s.hi-spread < 0)
}

// limit is the largest factor, in steps of F: the product of two is exact in float64.
const limit = 0x1p26

// largestSum is the most that the absolute values of the terms of a sum may add up to. Σ|terms|
// bounds every partial sum too, in whatever order, and a sum of 2²² terms in float32 is less than
// half larger for its rounding: so nothing overflows, up to 2²⁷ times this. Beyond, what a kernel
// computes may be infinite or no number while the exact value lies in its interval.
const largestSum = 0x1p100

// check refuses sums that might overflow, intervals that are not finite, and factors beyond the
// limit.
func (r *ranges) check(f float64) error {
	if err := checkSum(r.sum); err != nil {
		return err
	}
	for _, layers := range [][][]interval{r.act, r.delta} {
		for _, layer := range layers {
			for _, x := range layer {
				if !(x.size() <= limit*f) || !(x.lo <= x.hi) {
					return fmt.Errorf("%w: activations or gradients may exceed %v",
						ErrNetwork, limit*f)
				}
			}
		}
	}
	return nil
}

// checkSum refuses a sum of absolute values beyond largestSum.
func checkSum(sum float64) error {
	if !(sum <= largestSum) {
		return fmt.Errorf("%w: the terms of a sum may add up to more than 2^100 and overflow",
			ErrNetwork)
	}
	return nil
}
