package schema

import "math"

// tail is how values thin out in the outermost bin towards the end of the range, as the density of
// a generalised Pareto distribution of shape 1/4 does (Pickands 1975): its survival falls as the
// fourth power of 1 + x/scale, of which draws need nothing but square roots, which are the same on
// every platform. The scale is in ticks, or in units of value where there are none; 0: even.
type tail struct {
	scale float64
	down  bool // towards the least value
}

// WithTails gives a codec that draws the values of the first and of the last bin, out of those that
// hold more than one, by a tail in place of an even law, where it is thinner in rows than the bin
// beside it: the tail that gives both bins their rows. rows are those of each code, of a model or
// as noisy counts.
func (c *Codec) WithTails(rows []float64) *Codec {
	if c.bins == nil {
		return c
	}
	b := *c.bins
	var wide []int
	for i := range b.count() {
		if w := b.width(i); w > 1 || w > 0 && b.ticks.first == nil {
			wide = append(wide, i)
		}
	}
	if len(wide) < 2 {
		return c
	}
	b.tails = make([]tail, b.count())
	fit := func(i, inner int, down bool) {
		// in single precision, so that sums in another order on another platform give the same
		ratio := float64(float32(rows[inner] / rows[i]))
		b.tails[i] = tail{tailScale(ratio, b.width(inner), b.width(i)), down}
	}
	fit(wide[0], wide[1], true)
	fit(wide[len(wide)-1], wide[len(wide)-2], false)
	out := *c
	out.bins = &b
	return &out
}

// tailScale is the scale in the outer of two bins whose rows have this ratio, inner to outer; 0
// where no tail that falls gives it, or only one that is next to even.
func tailScale(ratio, inner, outer float64) float64 {
	least, most := 1e-6*inner, 1e6*(inner+outer) // scales at the beginning of the inner bin
	above := func(scale float64) bool {
		left := survival(inner / scale)
		return (1-left)/(left-survival((inner+outer)/scale)) > ratio
	}
	if math.IsInf(ratio, 1) || !(ratio > 0) || above(most) {
		return 0
	}
	for range 60 {
		if mid := math.Sqrt(least) * math.Sqrt(most); above(mid) {
			least = mid
		} else {
			most = mid
		}
	}
	return most + inner
}

// survival is the probability of more than x scales.
func survival(x float64) float64 {
	square := (1 + x) * (1 + x)
	return 1 / (square * square)
}

// below is the probability of less than x in a bin of width w.
func (t tail) below(x, w float64) float64 {
	switch {
	case t.scale == 0:
		return x / w
	case t.down:
		return 1 - tail{scale: t.scale}.below(w-x, w)
	}
	return (1 - survival(x/t.scale)) / (1 - survival(w/t.scale))
}

// quantile is the inverse of below, for a scale above 0.
func (t tail) quantile(p, w float64) float64 {
	if t.down {
		return w - tail{scale: t.scale}.quantile(1-p, w)
	}
	left := 1 - float64(p*(1-survival(w/t.scale)))
	return min(max(float64(t.scale*(1/math.Sqrt(math.Sqrt(left))-1)), 0), w)
}

// cut is the tail in the part from lo to hi of a bin of width w.
func (t tail) cut(lo, hi, w float64) tail {
	switch {
	case t.scale == 0:
	case t.down:
		t.scale += w - hi
	default:
		t.scale += lo
	}
	return t
}

// tail is that of bin i.
func (b *bins) tail(i int) tail {
	if b.tails == nil {
		return tail{}
	}
	return b.tails[i]
}

// width of bin i in ticks, or in units of value where there are none.
func (b *bins) width(i int) float64 {
	if g := &b.ticks; g.first != nil {
		return float64(g.last[i] - g.first[i] + 1)
	}
	lo, hi := b.bounds(i)
	return hi - lo
}
