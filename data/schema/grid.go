package schema

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// grids are what all values of a column of instants or times of day may be multiples of, by the
// name that its format has, the coarsest first.
var grids = []struct {
	name string
	of   time.Duration
}{{"1d", 24 * time.Hour}, {"1h", time.Hour}, {"30m", 30 * time.Minute}, {"15m", 15 * time.Minute},
	{"5m", 5 * time.Minute}, {"1m", time.Minute}, {"1s", time.Second}}

// gridOf is the grid that a format names; 0: none.
func gridOf(format string) time.Duration {
	_, tag := tagged(format)
	for _, g := range grids {
		if slices.Contains(strings.Fields(tag), g.name) {
			return g.of
		}
	}
	return 0
}

// perUnit is what 1 stands for in a column of instants or of times of day; 0 for others.
func (f *facts) perUnit(format string) time.Duration {
	switch {
	case f.stored == StoredMicros:
		return time.Microsecond
	case f != &timeFacts:
		return 0
	case strings.Contains(format, "05"):
		return time.Second
	}
	return time.Minute
}

// Grids are what the values of a column may all be multiples of, the coarsest first; nil where that
// is not asked. They are for [Magnitudes.Steps].
func (k Kind) Grids(format string) (steps []float64) {
	f := k.facts()
	per := f.perUnit(cmp.Or(format, f.format))
	step, ok := f.step(cmp.Or(format, f.format), 0, 0)
	for _, g := range grids {
		if of := int64(g.of / max(1, per)); per > 0 && ok && of > step {
			steps = append(steps, float64(of))
		}
	}
	return steps
}

// OnGrid is the format of a column whose values are all multiples of a step of [Kind.Grids].
func (k Kind) OnGrid(format string, step float64) string {
	f := k.facts()
	format = cmp.Or(format, f.format)
	for _, g := range grids {
		if g.of == time.Duration(step)*f.perUnit(format) {
			return withTag(format, g.name)
		}
	}
	return format
}

// greatest is the greatest value of a column in a format: of times of day, the last of the day.
func (f *facts) greatest(format string) float64 {
	if f == &timeFacts {
		return float64(24*time.Hour/f.perUnit(format)) - 1
	}
	return f.most
}

// Limits are the least and the greatest value that a column of its kind and format can have.
func (c *Column) Limits() (least, most float64) {
	f := c.Kind.facts()
	return f.least, f.greatest(cmp.Or(c.Format, f.format))
}

// Step is what the values of a column with an order are multiples of, 0 if they are not whole.
func (c *Column) Step() float64 {
	f := c.Kind.facts()
	step, _ := f.step(cmp.Or(c.Format, f.format), c.Min, c.Max)
	return float64(step)
}
