package infer

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/decoy-dp/decoy/data/schema"
)

// Bins follow the counts: each holds about as many rows as another, and at least binNoise standard
// deviations of the noise if that leaves fewest bins or more.
const (
	mostBins   = 32
	fewestBins = 6
	binSigmas  = 3.0
	oneAValue  = 100  // whole numbers with at most so many values have a bin each
	heavyBins  = 1.5  // bins that a cell fills before it is divided evenly
	heapShare  = 0.02 // of the rows: a value that so many have has a bin of its own
)

// binRows is how many rows a bin should have, and all rows; false leaves the bins to the schema's
// default.
func binRows(c *schema.Column, in []magnitude, whole bool, sigma float64) (
	target, total float64, ok bool,
) {
	most, few, some := 0.0, 0.0, 0.0 // a few numbers, and what has them
	for _, m := range in {
		total, most = total+m.rows, max(most, m.rows)
		if m.lo == m.hi && m.part > 0 {
			few, some = few+1, some+m.rows
		}
	}
	total = max(total, most, 1) // the noise of other cells may cancel it
	rare := some < coveredShare*total-sigma*math.Sqrt(float64(len(in)))
	if between := c.Max - c.Min + 1; whole && between <= oneAValue &&
		(few == 0 || few > codesShare*between || rare) {
		return 0, total, false
	}
	target = total / min(mostBins, max(fewestBins, math.Floor(total/(binSigmas*sigma))))
	return min(target, max(binSigmas*sigma, (total-most)/fewestBins)), total, true
}

// edges divides the column's range into bins of like weight; nil leaves it to the schema's default.
// A bin of zeros alone, or of −1, ends with the next number there is, until tidy gives it one to
// write.
func edges(c *schema.Column, in []magnitude, sigma float64) []float64 {
	whole, unit := wholeUnit(c)
	target, total, ok := binRows(c, in, whole, sigma)
	if !ok {
		return nil
	}
	out := []float64{c.Min}
	at := func(x float64) {
		if x > out[len(out)-1] && x < c.Max {
			out = append(out, x)
		}
	}
	add := func(x float64) { at(edgeNear(x, whole, unit)) }
	closed := func() []float64 { // with a last bin of the maximum alone
		return append(slices.DeleteFunc(out, func(x float64) bool { return x >= c.Max }), c.Max, c.Max)
	}
	rows, alone := 0.0, -1 // since the last edge; the cell before it, if that is a value alone
	for i, m := range in {
		end := m.hi
		if whole {
			end++
		}
		switch {
		case m.lo == m.hi && m.rows > max(clearSigmas*sigma, heapShare*total):
			if at(m.lo); !whole {
				end = math.Nextafter(m.lo, math.Inf(1))
			}
			if at(end); i == len(in)-1 && m.lo == c.Max { // max alone
				return closed()
			}
			rows, alone = 0, i
		case m.rows < heavyBins*target:
			if rows += m.rows; rows >= target {
				add(end)
				rows, alone = 0, -1
			}
		default:
			add(m.lo)
			from := out[len(out)-1]
			for parts := min(mostBins, math.Round(m.rows/target)); parts > 0; parts-- {
				from += (end - from) / parts
				add(from)
			}
			rows, alone = 0, -1
		}
	}
	if n := len(out); rows < min(target, nextSigmas*sigma) && (n > 2 ||
		n == 2 && alone == 0 && in[0].part > 0) {
		out = out[:n-1] // the last bin would be noise
		if alone >= 0 { // a heap is the last bin
			c.Max = in[alone].hi
			return closed()
		}
	}
	return append(out, c.Max)
}

// edgeNear is the edge that a bin may have, of whole values a multiple of unit.
func edgeNear(x float64, whole bool, unit float64) float64 {
	switch {
	case whole:
		return math.Round(x/unit) * unit
	case x < 0: // the cells below zero hold their upper end
		return math.Nextafter(x, 0)
	}
	return x
}

// wholeUnit reports whether a column has whole values, and of what edges of these are multiples.
func wholeUnit(c *schema.Column) (whole bool, unit float64) {
	if c.Kind.Stored() == schema.StoredMicros {
		return true, float64((24 * time.Hour).Microseconds())
	}
	return c.Kind.Stored() != schema.StoredFloat, max(1, c.Step())
}

// The digits behind the point of a column of fractions: as many as divide its bins into ticks
// numbers, for more would be made up; but cents if it has these.
const (
	ticksPerBin = 100
	mostDigits  = 15
)

// roundEdges gives a column, most values of which have at most found digits (0: more than six), the
// digits to write, at least those of its heaps, and makes its bounds and edges numbers of so many.
// An edge becomes the first such number of its bin, so that a value alone is up to it.
func roundEdges(c *schema.Column, found int, in []magnitude) {
	alone := func(edge int) bool {
		return c.Edges[edge] == math.Nextafter(c.Edges[edge-1], math.Inf(1))
	}
	width := math.Inf(1)
	for i := 1; i < len(c.Edges); i++ {
		if !alone(i) && c.Edges[i] > c.Edges[i-1] {
			width = min(width, c.Edges[i]-c.Edges[i-1])
		}
	}
	digits := 1
	for digits < mostDigits && width*math.Pow10(digits) < ticksPerBin {
		digits++
	}
	if found > 0 {
		digits = found
	}
	for _, m := range in {
		if m.lo == m.hi {
			_, behind, _ := strings.Cut(strconv.FormatFloat(m.lo, 'f', -1, 64), ".")
			digits = max(digits, min(len(behind), mostDigits))
		}
	}
	unit := math.Pow10(digits)
	if max(-c.Min, c.Max)*unit > 1<<50 {
		return // no number of digits is right for all bins
	}
	// the first number from x on, which may itself be one but for rounding
	up := func(x float64) float64 {
		if near := math.Round(x*unit) / unit; math.Abs(near-x) <= 1e-12*math.Abs(x) {
			return near
		}
		return math.Ceil(x*unit) / unit
	}
	c.Min, c.Max, c.Decimals = -up(-c.Min), up(c.Max), digits
	edges := []float64{c.Min}
	for i := 1; i < len(c.Edges)-1; i++ {
		x := up(c.Edges[i])
		if alone(i) {
			x = up(c.Edges[i-1] + 1/unit)
		}
		if last := c.Edges[i] == c.Edges[i+1]; x > edges[len(edges)-1] && (x < c.Max || last ||
			alone(i) && x == c.Max) {
			edges = append(edges, x)
		}
	}
	c.Edges = append(edges, c.Max)
}
