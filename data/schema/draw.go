package schema

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

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

// width of bin i in ticks, or in units of value where there are none.
func (b *bins) width(i int) float64 {
	if g := &b.ticks; g.first != nil {
		return float64(g.last[i] - g.first[i] + 1)
	}
	lo, hi := b.bounds(i)
	return hi - lo
}

// draw gives a value of bin i: a tick, each with the same probability but for a tail.
func (b *bins) draw(i int, u *rand.Rand) float64 {
	g, tail := &b.ticks, b.tails[i]
	if g.first != nil {
		t := g.first[i]
		if tail.scale > 0 {
			return g.value(min(t+int64(tail.quantile(u.Float64(), b.width(i))), g.last[i]))
		}
		return g.value(t + int64(u.Uint64N(uint64(g.last[i]-t)+1)))
	}
	lo, hi := b.bounds(i)
	at := u.Float64()
	x := lo + float64(at*(hi-lo))
	if tail.scale > 0 {
		x = lo + tail.quantile(at, hi-lo)
	}
	if x >= hi && i < len(b.lower)-1 {
		x = math.Nextafter(hi, lo)
	}
	return min(max(x, lo), hi)
}

// Refined is the codec of rows whose columns have other codecs, by column, that [Codec.WithTails]
// gave, or [Codec.Cut], which tell more values apart. It is for drawing: it reads no row.
func (r *RowCodec) Refined(fine map[int]*Codec) *RowCodec {
	out := *r
	out.codecs = slices.Clone(r.codecs)
	for i, c := range fine {
		out.codecs[i] = c
	}
	return &out
}

// Place is where in a file a row is written.
type Place struct {
	Row   int   // from 0
	IDs   []int // by made column, the number of an id; nil: they are Row
	Known int   // a column whose value has been drawn before; −1: none
}

// Decode draws the values of a row with these codes: dst has one place for each column of the
// schema, then one for each made column, and holds the value that is known. It draws as
// [Codec.Decode] does, in the order of the columns.
func (r *RowCodec) Decode(dst []Value, code func(column int) uint16, at Place, u *rand.Rand) {
	for i, c := range r.codecs {
		if i != at.Known {
			dst[i] = c.Decode(code(i), u)
		}
	}
	for _, i := range r.order {
		dst[i] = r.numbers[i].sum(dst[r.base[i]], dst[i])
	}
	for _, k := range r.makes {
		number := at.Row
		if at.IDs != nil {
			number = at.IDs[k]
		}
		dst[len(r.codecs)+k] = r.made[k].value(dst, number)
	}
}

// AppendText appends the CSV cell of a value that Decode drew for a file column, unquoted.
func (r *RowCodec) AppendText(dst []byte, f FileColumn, v Value) []byte {
	switch {
	case f.Made >= 0:
		return r.made[f.Made].write(dst, v)
	case r.base[f.Column] < 0 || v.Missing:
		return r.codecs[f.Column].AppendText(dst, v)
	}
	return r.numbers[f.Column].write(dst, v)
}

// tries is how often a partner is looked for, for a row that breaks a rule.
const tries = 64

// Repair changes rows of codes, column by column, so that they keep the rules: the cell of a row
// that breaks one is exchanged with that of another row, drawn with u, which leaves the shares of
// every column as they are; if none is found for it in 64 draws, it takes the nearest allowed code.
// The rows are synthetic: this is post-processing.
func (r *RowCodec) Repair(codes [][]uint16, u *rand.Rand) {
	for k := range r.thens {
		t := &r.thens[k]
		cells := codes[t.column]
		at := func(row int) []bool {
			return r.allowed(t, func(c int) uint16 { return codes[c][row] })
		}
	rows:
		for row := range cells {
			allow := at(row)
			if allow == nil || allow[cells[row]] {
				continue
			}
			for range tries {
				j, _ := bits.Mul64(u.Uint64(), uint64(len(cells)))
				other := int(j)
				if !allow[cells[other]] {
					continue
				}
				if theirs := at(other); theirs == nil || theirs[cells[row]] {
					cells[row], cells[other] = cells[other], cells[row]
					continue rows
				}
			}
			cells[row] = t.nearest(allow, cells[row])
		}
	}
}

// sum is a value and a difference.
func (f numberForm) sum(from, d Value) Value {
	switch {
	case from.Missing || d.Missing:
		return Value{Missing: true}
	case f.root.facts.stored == StoredFloat:
		return Value{Float: f.round(from.Float + d.Float)}
	}
	return Value{Int: from.Int + d.Int*int64(f.unit())}
}

// round rounds to the decimals.
func (f numberForm) round(x float64) float64 {
	if f.decimals < 0 {
		return x
	}
	return math.Round(x*pow10[f.decimals]) / pow10[f.decimals]
}

// write appends a value that is not missing.
func (f numberForm) write(dst []byte, v Value) []byte {
	return f.root.print(dst, v, f.decimals)
}
