package schema

import (
	"math"
	"math/rand/v2"
	"sort"

	"github.com/decoy-dp/decoy/internal/yamlfile"
)

// bins divide the values from min to max, both inclusive. Bin i holds the values
// from lower[i] up to but not including lower[i+1]; the last bin holds max, and may hold no other.
type bins struct {
	min, max float64
	lower    []float64 // lower[0] = min, strictly increasing
	perUnit  float64   // bins per unit of value where all are about equally wide; 0: search
	whole    bool      // the values are integers
	single   []bool    // bins that stand for one value, which is the only one drawn
	tails    []tail    // of each bin; nil: all are even
	ticks    ticks
}

// ticks are the values that are drawn and written: whole multiples of a step. Every bin has at
// least one. With no step (a real column too wide or too fine for decimals) every float64 is drawn.
type ticks struct {
	step        int64   // whole values: the multiple is t·step
	scale       float64 // real values: the multiple is t/scale, a power of ten; 0: no step
	decimals    int     // real values: scale = 10^decimals
	first, last []int64 // the ticks of bin i, both inclusive
}

// value gives tick t.
func (g *ticks) value(t int64) float64 {
	if g.scale != 0 {
		return float64(t) / g.scale // both exact: the float64 nearest to the decimal text
	}
	return float64(t * g.step)
}

// newBins lays out the bins of a filled numeric column whose fields are in
// range. The fault names the field that makes it impossible.
func newBins(c *Column) (*bins, *fault) {
	step, ok := c.Kind.facts().step(c.Format, c.Min, c.Max)
	if !ok {
		return nil, faultf("format", "format %s does not give every %s between min and max back when "+
			"it is read", yamlfile.Quote(c.Format), c.Kind)
	}
	b := &bins{min: c.Min, max: c.Max, whole: step > 0, ticks: ticks{step: step}}
	for _, x := range append([]float64{c.Min, c.Max}, c.Edges...) {
		if b.whole && mod(int64(x), step) != 0 {
			return nil, faultf("format", "format %s cannot write all of min, max and the edges: they are "+
				"finer than it", yamlfile.Quote(c.Format))
		}
	}
	switch {
	case len(c.Edges) > 0:
		b.lower = c.Edges[:len(c.Edges)-1]
	case b.whole && c.Spacing == Log:
		b.lower = wholeLogEdges(int64(c.Min), int64(c.Max), c.Bins)
	case b.whole:
		b.lower = wholeEdges(int64(c.Min), int64(c.Max), b.ticks.step, c.Bins)
	case c.Spacing == Log:
		b.lower = logEdges(c.Min, c.Max, c.Bins)
	default:
		b.lower = linearEdges(c.Min, c.Max, c.Bins)
	}
	if b.lower == nil || !increasing(b.lower) ||
		len(c.Edges) == 0 && !b.whole && b.lower[len(b.lower)-1] >= c.Max {
		return nil, faultf("bins", "%d bins are too many between min and max", c.Bins)
	}
	if len(c.Edges) == 0 && c.Spacing == Linear {
		width := c.Max - c.Min
		if b.whole {
			width++
		}
		if perUnit := float64(c.Bins) / width; !math.IsInf(perUnit, 0) {
			b.perUnit = perUnit
		}
	}
	b.single = make([]bool, b.count())
	if len(c.Edges) > 0 && (c.Kind == Integer || c.Kind == Real) {
		b.findSingles()
	}
	if b.whole {
		b.wholeTicks()
	} else if fault := b.realTicks(c.Decimals); fault != nil {
		return nil, fault
	}
	b.roundSingles()
	return b, nil
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

func increasing(x []float64) bool {
	for i := 1; i < len(x); i++ {
		if !(x[i] > x[i-1]) {
			return false
		}
	}
	return true
}

// count is the number of bins.
func (b *bins) count() int { return len(b.lower) }

// contains reports whether x is between the bounds; false for NaN.
func (b *bins) contains(x float64) bool { return x >= b.min && x <= b.max }

// find gives the bin of x, which the bounds must contain.
func (b *bins) find(x float64) int {
	lower := b.lower
	if b.perUnit == 0 {
		return sort.Search(len(lower)-1, func(i int) bool { return lower[i+1] > x })
	}
	i := min(int(float64(x-b.min)*b.perUnit), len(lower)-1)
	for x < lower[i] { // the guess is off by rounding only
		i--
	}
	for i+1 < len(lower) && x >= lower[i+1] {
		i++
	}
	return i
}

// bounds gives the smallest and the greatest value of bin i. The greatest of a
// real bin other than the last is its upper edge, which is not in the bin.
func (b *bins) bounds(i int) (lo, hi float64) {
	switch {
	case i == len(b.lower)-1:
		return b.lower[i], b.max
	case b.whole:
		return b.lower[i], b.lower[i+1] - 1
	default:
		return b.lower[i], b.lower[i+1]
	}
}

// draw gives a value of bin i: a tick, each with the same probability but for a tail.
func (b *bins) draw(i int, u *rand.Rand) float64 {
	g, tail := &b.ticks, b.tail(i)
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

// wholeTicks finds the ticks of every bin of a column of whole values. Every
// edge is a tick, so every bin has one.
func (b *bins) wholeTicks() {
	g := &b.ticks
	g.first, g.last = make([]int64, b.count()), make([]int64, b.count())
	for i := range g.first {
		_, hi := b.bounds(i)
		g.first[i] = int64(b.lower[i]) / g.step
		g.last[i] = (int64(hi) - mod(int64(hi), g.step)) / g.step
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
	b.ticks.scale, b.ticks.decimals, b.ticks.first, b.ticks.last = scale, decimals, first, last
	return 0, true
}
