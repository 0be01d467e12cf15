package analysis

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/decoy-dp/decoy/schema"
)

// Bins follow the counts: each holds about as many rows as another, and at least binNoise standard
// deviations of the noise if that leaves fewest bins or more.
const (
	mostBins   = 32
	fewestBins = 6
	binNoise   = 3.0
	oneAValue  = 100  // whole numbers with at most so many values have a bin each
	heavy      = 1.5  // bins that a cell fills before it is divided evenly
	heap       = 0.02 // of the rows: a value that so many have has a bin of its own
)

// edges divides the column's range into bins of like weight; nil leaves it to the schema's default.
// A bin of zeros alone, or of −1, ends with the next number there is, until tidy gives it one to
// write.
func edges(c *schema.Column, in []magnitude, sigma float64) []float64 {
	whole, unit := wholeUnit(c.Kind)
	total, most, few, some := 0.0, 0.0, 0.0, 0.0 // a few numbers, and what has them
	for _, m := range in {
		total, most = total+m.rows, max(most, m.rows)
		if m.lo == m.hi && m.part > 0 {
			few, some = few+1, some+m.rows
		}
	}
	total = max(total, most, 1) // the noise of other cells may cancel it
	rare := some < covered*total-sigma*math.Sqrt(float64(len(in)))
	if between := c.Max - c.Min + 1; whole && between <= oneAValue &&
		(few == 0 || few > mostCodes*between || rare) {
		return nil
	}
	target := total / min(mostBins, max(fewestBins, math.Floor(total/(binNoise*sigma))))
	target = min(target, max(binNoise*sigma, (total-most)/fewestBins))
	out := []float64{c.Min}
	at := func(x float64) {
		if x > out[len(out)-1] && x < c.Max {
			out = append(out, x)
		}
	}
	add := func(x float64) {
		switch {
		case whole:
			x = math.Round(x/unit) * unit
		case x < 0: // the cells below zero hold their upper end
			x = math.Nextafter(x, 0)
		}
		at(x)
	}
	rows, alone := 0.0, -1 // since the last edge; the cell before it, if that is a value alone
	for i, m := range in {
		end := m.hi
		if whole {
			end++
		}
		if m.lo == m.hi && m.rows > max(clear*sigma, heap*total) {
			if at(m.lo); !whole {
				end = math.Nextafter(m.lo, math.Inf(1))
			}
			if at(end); i == len(in)-1 && m.lo == c.Max { // max alone
				return append(slices.DeleteFunc(out, func(x float64) bool { return x >= c.Max }), c.Max, c.Max)
			}
			rows, alone = 0, i
			continue
		}
		if m.rows < heavy*target {
			if rows += m.rows; rows >= target {
				add(end)
				rows, alone = 0, -1
			}
			continue
		}
		add(m.lo)
		from := out[len(out)-1]
		for parts := min(mostBins, math.Round(m.rows/target)); parts > 0; parts-- {
			from += (end - from) / parts
			add(from)
		}
		rows, alone = 0, -1
	}
	if n := len(out); rows < min(target, next*sigma) && (n > 2 ||
		n == 2 && alone == 0 && in[0].part > 0) {
		out = out[:n-1] // the last bin would be noise
		if alone >= 0 { // a heap is the last bin
			c.Max = in[alone].hi
			return append(slices.DeleteFunc(out, func(x float64) bool { return x >= c.Max }), c.Max, c.Max)
		}
	}
	return append(out, c.Max)
}

// wholeUnit reports whether a kind has whole values, and of what edges of these are multiples.
func wholeUnit(k schema.Kind) (whole bool, unit float64) {
	if k.Stored() == schema.StoredMicros {
		return true, float64((24 * time.Hour).Microseconds())
	}
	return k.Stored() != schema.StoredFloat, 1
}

// The digits behind the point of a column of fractions: as many as divide its bins into ticks
// numbers, for more would be made up; but cents if it has these.
const (
	ticks      = 100
	cents      = 2
	mostDigits = 15
)

// tidy gives a column, most values of which have at most found digits (0: more than six), the
// digits to write, at least those of its heaps, and makes its bounds and edges numbers of so many.
// An edge becomes the first such number of its bin, so that a value alone is up to it.
func tidy(c *schema.Column, found int, in []magnitude) {
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
	for digits < mostDigits && width*math.Pow10(digits) < ticks {
		digits++
	}
	if found > 0 {
		digits = min(found, max(digits, cents))
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
