package analysis

import (
	"math"
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
	heap       = 0.02 // of the rows: zeros, or −1, of fractions have a bin of their own
)

// edges divides the column's range into bins of like weight; nil leaves it to the schema's default.
// A bin of zeros alone, or of −1, ends with the next number there is, until tidy gives it one to
// write.
func edges(c *schema.Column, in []magnitude, sigma float64) []float64 {
	whole := c.Kind.Stored() != schema.StoredFloat
	if whole && c.Max-c.Min < oneAValue {
		return nil
	}
	unit := 1.0 // edges of whole values are multiples of it
	if c.Kind.Stored() == schema.StoredMicros {
		unit = float64((24 * time.Hour).Microseconds())
	}
	total := 0.0
	for _, m := range in {
		total += m.rows
	}
	target := total / min(mostBins, max(fewestBins, math.Floor(total/(binNoise*sigma))))
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
	rows := 0.0 // since the last edge
	for _, m := range in {
		end := m.hi
		switch {
		case whole:
			end++
		case m.lo == m.hi && m.rows > max(clear*sigma, heap*total):
			at(m.lo)
			at(math.Nextafter(m.lo, math.Inf(1)))
			rows = 0
			continue
		}
		if m.rows < heavy*target {
			if rows += m.rows; rows >= target {
				add(end)
				rows = 0
			}
			continue
		}
		add(m.lo)
		from := out[len(out)-1]
		for parts := math.Round(m.rows / target); parts > 0; parts-- {
			from += (end - from) / parts
			add(from)
		}
		rows = 0
	}
	if n := len(out); n > 2 && rows < min(target, next*sigma) { // the last bin would be noise
		out = out[:n-1]
	}
	return append(out, c.Max)
}

// The digits behind the point of a column of fractions: as many as divide its bins into ticks
// numbers, for more would be made up; but cents if it has these.
const (
	ticks      = 100
	cents      = 2
	mostDigits = 12
)

// tidy gives a column, most values of which have at most found digits (0: more than six), the
// digits to write, and makes its bounds and edges numbers of so many. An edge becomes the first
// such number of its bin, so that zeros alone are up to it.
func tidy(c *schema.Column, found int) {
	alone := func(edge int) bool {
		return c.Edges[edge] == math.Nextafter(c.Edges[edge-1], math.Inf(1))
	}
	width := math.Inf(1)
	for i := 1; i < len(c.Edges); i++ {
		if !alone(i) {
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
	unit := math.Pow10(digits)
	if max(-c.Min, c.Max)*unit > 1<<50 {
		return // no number of digits is right for all bins
	}
	c.Min, c.Max, c.Decimals = math.Floor(c.Min*unit)/unit, math.Ceil(c.Max*unit)/unit, digits
	edges := []float64{c.Min}
	for _, x := range c.Edges[1 : len(c.Edges)-1] {
		if x = math.Ceil(x*unit) / unit; x > edges[len(edges)-1] && x < c.Max {
			edges = append(edges, x)
		}
	}
	c.Edges = append(edges, c.Max)
}
