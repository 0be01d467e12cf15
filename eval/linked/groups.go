package linked

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// group are the units with one value of a column, or with so many rows, of which a mean is far off:
// more than the two samples of units explain, and by more than half of the smaller one. Or it is
// all steps, from a row to the next, which do what real ones never do.
type group struct {
	Units string `json:"units"` // "sex = f", or Steps
	// what is off: the share of their rows with one value, or how many rows they have on average; of
	// steps, the share of those in which, say, "age falls"
	Of        string  `json:"of"`
	Real      float64 `json:"real"`
	Synthetic float64 `json:"synthetic"`
	Off       float64 `json:"off"` // their difference over their sum; of steps, Synthetic
}

// Rows is what a group has too few or too many of. Steps is what a group is of, if not of units.
const Rows, Steps = "rows", "steps"

const (
	groupShare  = .05 // of the real units, that a group has at least
	groupRows   = .05 // of the rows of a group, that a value has at least, on one side
	groupFactor = 1.5
	// groupSigmas is how many standard errors are not explained: a false alarm of 6e-7 for each value
	// where means are normal.
	groupSigmas = 5
)

// What fewer of the real steps do than NeverShare they never do, and it is wrong that at least
// SomeSteps of the synthetic ones do it. Of a category, both are of the steps from one value.
const NeverShare, SomeSteps = .001, .005

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
	whole, steps, values := m.family == FanOut, len(m.steps.labels), m.b.size
	switch {
	case steps > 0:
		m.a, m.b, values = column{size: 1}, m.steps, m.steps.size
	case m.a.size < 2 || !whole && m.family != parentChild:
		return nil
	case whole:
		values = 1
	}
	var sums [sides][]ratio // by value of m.a and of m.b
	real, units := make([]float64, m.a.size), 0.
	for side, h := range c.history {
		sums[side] = make([]ratio, m.a.size*values)
		count := make([]float64, values)
		for unit := range len(h.From) - 1 {
			from, to, g := h.From[unit], h.From[unit+1], 0
			if from == to && !whole {
				continue
			}
			if m.a.size > 1 {
				g = int(m.a.codes[side][unit])
			}
			if side == 0 {
				real[g], units = real[g]+1, units+1
			}
			if whole {
				sums[side][g].add(float64(to-from), 1)
				continue
			}
			clear(count)
			rows := 0.
			for _, code := range m.b.codes[side][from:to] {
				if code != none {
					count[code]++
					rows++
				}
			}
			for value, x := range count {
				sums[side][g*values+value].add(x, rows)
			}
		}
	}
	furthest := 0.
	for i := range sums[0] {
		g, value := i/values, i%values
		p, v := sums[0][i].mean()
		q, w := sums[1][i].mean()
		off, least := math.Abs(p-q)/(p+q), groupRows
		if steps > 0 {
			behind := 0. // the share of the steps from that value
			for k := range steps {
				x, _ := sums[0][i-i%steps+k].mean()
				behind += x
			}
			if behind < groupShare || p >= NeverShare*behind {
				continue
			}
			off, least, w = q, SomeSteps, max(w, q/sums[1][i].m)
			v = w * sums[1][i].m / sums[0][i].m // none of the real ones is no chance
		}
		if real[g] < groupShare*units || !whole && max(p, q) < least || off <= furthest ||
			max(p, q) <= groupFactor*min(p, q) || math.Abs(p-q) <= groupSigmas*math.Sqrt(v+w) {
			continue
		}
		furthest, worst = off, &group{Of: Rows, Real: p, Synthetic: q, Off: off}
		switch label := m.b.name + " "; {
		case steps == 0:
			if worst.Units = m.a.says(g); !whole {
				worst.Of = m.b.says(value)
			}
		case m.b.ordered:
			worst.Units, worst.Of = Steps, label+m.b.labels[value%steps]
		default:
			worst.Units = Steps
			worst.Of = label + "= " + m.b.labels[value%steps] + " follows " + m.b.labels[value/steps]
		}
	}
	return worst
}

// changes say of each row what its column k does from the row before: of a category both values, of
// a number its direction. Labels are those of the latter of so many values or directions.
func (c *comparison) changes(k int) column {
	of := &c.columns[k]
	out := column{name: of.name, ordered: of.ordered, labels: of.labels}
	if of.ordered {
		out.labels = []string{"falls", "stays the same", "rises"}
	}
	out.size = len(out.labels) * len(out.labels)
	for side, h := range c.history {
		rows := c.inOrder[side].Column(k)
		out.codes[side] = slices.Repeat([]uint8{none}, len(h.Rows))
		for unit := range len(h.From) - 1 {
			for at := h.From[unit] + 1; at < h.From[unit+1]; at++ {
				x, y := int(of.codes[side][at-1]), int(of.codes[side][at])
				kind := x*of.size + y // none where the last of sixteen categories stays
				switch {
				case of.ordered && (x == of.missing || y == of.missing):
					kind = none
				case k == c.By: // compared as finely as it is known
					kind = 1 + cmp.Compare(c.order[side][h.Rows[at]], c.order[side][h.Rows[at-1]])
				case of.ordered:
					kind = 1 + cmp.Compare(rows.At(at), rows.At(at-1))
				}
				out.codes[side][at] = uint8(kind)
			}
		}
	}
	return out
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
