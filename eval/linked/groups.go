package linked

import (
	"math"
	"strings"
)

// group are the units with one value of a column, or with so many rows, of which a mean is far off:
// more than the two samples of units explain, and by more than half of the smaller one.
type group struct {
	Units string `json:"units"` // "sex = f"
	// what is off: the share of their rows with one value, or how many rows they have on average
	Of        string  `json:"of"`
	Real      float64 `json:"real"`
	Synthetic float64 `json:"synthetic"`
}

// Rows is what a group has too few or too many of.
const Rows = "rows"

const (
	groupShare  = .05 // of the real units, that a group has at least
	groupRows   = .05 // of the rows of a group, that a value has at least, on one side
	groupFactor = 1.5
	// groupSigmas is how many standard errors are not explained: a false alarm of 6e-7 for each value
	// where means are normal.
	groupSigmas = 5
)

// ratio is Σx/Σm over units, where x is how many of m rows have a value, or rows in all of m = 1.
type ratio struct{ x, m, xx, xm, mm float64 }

func (r *ratio) add(x, m float64) {
	r.x, r.m, r.xx, r.xm, r.mm = r.x+x, r.m+m, r.xx+x*x, r.xm+x*m, r.mm+m*m
}

// mean is the ratio and its variance as units are drawn, by the delta method: what a resample has.
func (r *ratio) mean() (mean, variance float64) {
	if r.m == 0 {
		return 0, 0
	}
	mean = r.x / r.m
	return mean, (r.xx - 2*mean*r.xm + mean*mean*r.mm) / (r.m * r.m)
}

// group is that of the values of m.a which is furthest off; nil: none is, or m is of none.
func (c *comparison) group(m measure) (worst *group) {
	whole := m.family == FanOut
	if m.a.size < 2 || !whole && m.family != parentChild {
		return nil
	}
	values := m.b.size
	if whole {
		values = 1
	}
	var sums [sides][]ratio // by value of m.a and of m.b
	real := make([]float64, m.a.size)
	for side, h := range c.history {
		sums[side] = make([]ratio, m.a.size*values)
		count := make([]float64, values)
		for unit := range len(h.From) - 1 {
			from, to, at := h.From[unit], h.From[unit+1], unit
			if !whole {
				at = from
			}
			if at == to && !whole {
				continue
			}
			g, rows := int(m.a.codes[side][at]), float64(to-from)
			if side == 0 {
				real[g]++
			}
			if whole {
				sums[side][g].add(rows, 1)
				continue
			}
			clear(count)
			for _, code := range m.b.codes[side][from:to] {
				count[code]++
			}
			for value, x := range count {
				sums[side][g*values+value].add(x, rows)
			}
		}
	}
	furthest, units := 0., 0.
	for _, n := range real {
		units += n
	}
	for i := range sums[0] {
		g, value := i/values, i%values
		p, v := sums[0][i].mean()
		q, w := sums[1][i].mean()
		off := math.Abs(p-q) / (p + q)
		if real[g] < groupShare*units || !whole && max(p, q) < groupRows || off <= furthest ||
			max(p, q) <= groupFactor*min(p, q) || math.Abs(p-q) <= groupSigmas*math.Sqrt(v+w) {
			continue
		}
		furthest = off
		worst = &group{Units: m.a.says(g), Of: Rows, Real: p, Synthetic: q}
		if !whole {
			worst.Of = m.b.says(value)
		}
	}
	return worst
}

// says names the value of a code.
func (c *column) says(code int) string {
	label := c.labels[code]
	if c.ordered && code != c.missing && code+1 < c.size && code+1 != c.missing {
		label = strings.TrimSuffix(label, " or more") + " up to " +
			strings.TrimSuffix(c.labels[code+1], " or more")
	}
	return c.name + " = " + label
}
