package schema

import (
	"math"
	"math/bits"
	"strconv"
)

// The functions here give the lower edges of k bins, the first of which is lo,
// or nil where there are none. They use only +, -, ·, / on float64, each
// rounded on its own, so that every platform gets the same edges.

// wholeEdges divides the multiples of step from lo to hi into k bins whose counts of multiples
// differ by at most one. Both ends are multiples. nil if there are fewer than k.
func wholeEdges(lo, hi, step int64, k int) []float64 {
	n := (hi-lo)/step + 1
	if int64(k) > n {
		return nil
	}
	lower := make([]float64, k)
	for i := range lower {
		// i·n/k, where i·n may exceed 64 bits
		high, low := bits.Mul64(uint64(i), uint64(n))
		quotient, _ := bits.Div64(high, low, uint64(k))
		lower[i] = float64(lo + int64(quotient)*step)
	}
	return lower
}

// wholeLogEdges divides the integers from lo to hi into k bins whose widths grow geometrically:
// each next edge is the rounded next term of the geometric sequence from the present edge to hi+1,
// but at least one further. A term of a geometric sequence lies below that of the arithmetic one
// with the same ends, so as many integers as bins are always left. Where lo ≤ 0, lo keeps a bin of
// its own and the sequence starts at 1 behind it.
func wholeLogEdges(lo, hi int64, k int) []float64 {
	n := hi - lo + 1
	if int64(k) > n {
		return nil
	}
	lower := make([]float64, 0, k)
	shift, edge := int64(0), lo
	if lo <= 0 {
		lower = append(lower, float64(lo))
		shift, edge = lo, 1
	}
	end := hi + 1 - shift
	for left := k - len(lower); left > 0; left-- {
		lower = append(lower, float64(edge+shift))
		growth := root(float64(end)/float64(edge), left)
		edge = max(edge+1, int64(math.Round(float64(edge)*growth)))
	}
	return lower
}

// linearEdges divides lo to hi evenly.
func linearEdges(lo, hi float64, k int) []float64 {
	raw, tidy := make([]float64, k), make([]float64, k)
	width := (hi - lo) / float64(k)
	for i := range raw {
		raw[i] = lo + float64(float64(hi-lo)*float64(i))/float64(k)
		tidy[i] = raw[i]
		// 0.1·3 is to be the edge 0.3, not 0.30000000000000004.
		if x := significant(raw[i], 15); math.Abs(x-raw[i]) <= 1e-6*width {
			tidy[i] = x
		}
	}
	return choose(tidy, raw, lo, hi)
}

// logEdges divides lo to hi as Log says.
func logEdges(lo, hi float64, k int) []float64 {
	shift, scale := 0.0, lo // edge i is shift + scale·growth^i
	if lo <= 0 {
		scale = (hi - lo) / 1000
		shift = lo - scale
	}
	growth := root((hi-shift)/scale, k)
	if math.IsInf(growth, 0) || math.IsNaN(growth) {
		return nil
	}
	raw, tidy := make([]float64, k), make([]float64, k)
	for i := range raw {
		raw[i] = shift + float64(scale*power(growth, i))
		width := float64(scale*power(growth, i)) * (growth - 1)
		digits := 3
		for m := math.Abs(raw[i]); m > width && digits < 17; m /= 10 {
			digits++
		}
		tidy[i] = significant(raw[i], digits)
	}
	return choose(tidy, raw, lo, hi)
}

// choose gives the tidy edges if they are edges, else the raw ones.
func choose(tidy, raw []float64, lo, hi float64) []float64 {
	tidy[0], raw[0] = lo, lo
	if increasing(tidy) && tidy[len(tidy)-1] < hi {
		return tidy
	}
	return raw
}

// significant rounds x to so many significant decimal digits.
func significant(x float64, digits int) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', digits-1, 64), 64)
	if err != nil {
		return x
	}
	return y
}

// power is x^n for n ≥ 0 and x ≥ 1.
func power(x float64, n int) float64 {
	p := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			p *= x
		}
		x *= x
	}
	return p
}

// root is the n-th root of x ≥ 1, n ≥ 1, by bisection; +Inf for +Inf.
func root(x float64, n int) float64 {
	if n == 1 || math.IsInf(x, 0) {
		return x
	}
	lo, hi := 1.0, x
	for {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			return lo
		}
		if power(mid, n) > x {
			hi = mid
		} else {
			lo = mid
		}
	}
}

// ticks are the values that are drawn and written: whole multiples of a step. Every bin has at
// least one. With no step (a real column too wide or too fine for decimals) every float64 is drawn.
type ticks struct {
	step        int64   // whole values: the multiple is t·step
	scale       float64 // real values: the multiple is t/scale, a power of ten; 0: no step
	digits      int     // behind the point, as they are printed; with a scale, its power
	first, last []int64 // the ticks of bin i, both inclusive
}

// value gives tick t.
func (g *ticks) value(t int64) float64 {
	if g.scale != 0 {
		return float64(t) / g.scale // both exact: the float64 nearest to the decimal text
	}
	return float64(t * g.step)
}

// singleShare is how narrow a bin between edges is that stands for one value, as a part of the
// range: the cells out of which bins are bought are narrower ([Schema.BuyDefaults]).
const singleShare = 1. / 50_000

// findSingles finds the bins that stand for one value: those so narrow that begin at zero, or lie
// between wider ones, as a bought bin does of a value that many rows have.
func (b *bins) findSingles() {
	narrow := func(i int) bool {
		if i < 0 || i >= b.count() {
			return false
		}
		lo, hi := b.bounds(i)
		return hi-lo <= singleShare*(b.max-b.min)
	}
	for i, lo := range b.lower {
		b.single[i] = narrow(i) && (lo == 0 || !narrow(i-1) && !narrow(i+1))
	}
}

// roundSingles leaves these bins the roundest of their ticks: zero, or the multiple of the greatest
// power of ten.
func (b *bins) roundSingles() {
	g := &b.ticks
	for i := range g.first {
		if !b.single[i] {
			continue
		}
		first, last := g.first[i], g.last[i]
		round := first
		for p := int64(1); p <= 1<<53; p *= 10 {
			t := first + mod(-first, p)
			if t > last {
				break
			}
			round = t
		}
		g.first[i], g.last[i] = round, round
	}
}

// maxDecimals is the most digits behind the point; 10^15 < 2^53.
const maxDecimals = 15

// realTicks finds the ticks of every bin of a real column with the given number
// of decimals; 0 chooses the least number that gives every bin about a hundred, and one to those
// that stand for one value.
func (b *bins) realTicks(decimals int) *fault {
	greatest := max(math.Abs(b.min), math.Abs(b.max))
	fits := func(d int) bool { return greatest*pow10[d] <= 1<<52 }
	if decimals > 0 {
		if !fits(decimals) {
			return faultf("decimals", "%d decimals are more than a number of this size has", decimals)
		}
		if i, ok := b.setScale(decimals); !ok {
			lo, hi := b.bounds(i)
			return faultf("decimals", "%d decimals are too few: bin number %d, from %v to %v, holds no "+
				"such number", decimals, i+1, lo, hi)
		}
		return nil
	}
	width := math.Inf(1)
	for i := range b.lower {
		if lo, hi := b.bounds(i); !b.single[i] {
			width = min(width, hi-lo)
		}
	}
	for d := 0; d <= maxDecimals && fits(d); d++ {
		if 100 <= width*pow10[d] {
			if _, ok := b.setScale(d); ok {
				return nil
			}
		}
	}
	b.ticks.digits = asManyDigits
	return nil // no step
}

// setScale finds the ticks of every bin for a number of decimals. Where it fails
// it leaves no step, and gives the first bin that has no tick.
func (b *bins) setScale(decimals int) (bin int, ok bool) {
	scale := pow10[decimals]
	first, last := make([]int64, b.count()), make([]int64, b.count())
	for i := range first {
		lo, hi := b.bounds(i)
		inside := func(t int64) bool {
			return float64(t)/scale < hi || i == b.count()-1 && float64(t)/scale == hi
		}
		f, l := int64(math.Ceil(lo*scale)), int64(math.Floor(hi*scale))
		for float64(f-1)/scale >= lo { // the products above are rounded: settle each end on
			f-- // the values themselves
		}
		for float64(f)/scale < lo {
			f++
		}
		for inside(l + 1) {
			l++
		}
		for !inside(l) {
			l--
		}
		if f > l {
			return i, false
		}
		first[i], last[i] = f, l
	}
	b.ticks.scale, b.ticks.digits, b.ticks.first, b.ticks.last = scale, decimals, first, last
	return 0, true
}
