package schema

import (
	"math"
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
	tails    []tail    // of each bin
	ticks    ticks
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
	if !b.layOut(c) {
		return nil, faultf("bins", "%d bins are too many between min and max", c.Bins)
	}
	b.single, b.tails = make([]bool, b.count()), make([]tail, b.count())
	if len(c.Edges) > 0 && c.Kind.Numeric() {
		b.findSingles()
	}
	if g := &b.ticks; b.whole { // every edge is a tick, so every bin has one
		g.digits, g.first, g.last = wholeDigits, make([]int64, b.count()), make([]int64, b.count())
		for i := range g.first {
			_, hi := b.bounds(i)
			g.first[i], g.last[i] = int64(b.lower[i])/step, (int64(hi)-mod(int64(hi), step))/step
		}
	} else if fault := b.realTicks(c.Decimals); fault != nil {
		return nil, fault
	}
	b.roundSingles()
	return b, nil
}

// layOut finds the lower edges; false if there are none.
func (b *bins) layOut(c *Column) bool {
	switch {
	case len(c.Edges) > 0:
		b.lower = c.Edges[:len(c.Edges)-1]
		return increasing(b.lower)
	case b.whole && c.Spacing == Log:
		b.lower = wholeLogEdges(int64(c.Min), int64(c.Max), c.Bins)
	case b.whole:
		b.lower = wholeEdges(int64(c.Min), int64(c.Max), b.ticks.step, c.Bins)
	case c.Spacing == Log:
		b.lower = logEdges(c.Min, c.Max, c.Bins)
	default:
		b.lower = linearEdges(c.Min, c.Max, c.Bins)
	}
	if c.Spacing == Linear {
		width := c.Max - c.Min
		if b.whole {
			width++
		}
		if perUnit := float64(c.Bins) / width; !math.IsInf(perUnit, 0) {
			b.perUnit = perUnit
		}
	}
	return b.lower != nil && increasing(b.lower) && (b.whole || b.lower[len(b.lower)-1] < c.Max)
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
