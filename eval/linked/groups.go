package linked

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
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
	// groupSigmas is how many standard deviations are not explained: a false alarm of 6e-7 for each
	// value where means are normal.
	groupSigmas = 5
)

// manyUnits is how many units a mean must have on each side: those of fewer are far from normal.
const manyUnits = 20

// What fewer of the real steps do than NeverShare they never do, and it is wrong that at least
// SomeSteps of the synthetic ones do it. Of a category, both are of the steps from one value.
const NeverShare, SomeSteps = .001, .005

// share is that of t in n, or its mean over n, of real ones and of synthetic ones, and the standard
// deviation of their difference where units are dealt anew.
func (t *tally) share(n *tally) (p, q, std float64) {
	var off [deals]float64
	for k := range slices.Backward(off[:]) { // the last is as it is
		p, q = t.real[k]/max(1, n.real[k]), (t.all-t.real[k])/max(1, n.all-n.real[k])
		off[k] = p - q
	}
	return p, q, stat.StdDev(off[1:], nil)
}

// group is that of the values of m.a which is furthest off; nil: none is, or m, of which cells are
// the counts, is of none.
func (c *comparison) group(m measure, cells []tally, dealt [sides][]uint64) (worst *group) {
	whole, steps := m.family == FanOut, len(m.steps.labels)
	switch {
	case steps > 0:
		m.a, m.b = column{size: 1}, m.steps
		cells = c.count(measure{a: m.a, b: m.b}, dealt)
	case m.a.size < 2 || !whole && m.family != parentChild:
		return nil
	case whole:
		m.b = column{size: 1}
		cells = c.count(measure{family: parentChild, a: m.a, b: m.b}, dealt)
	}
	units := c.count(measure{a: m.a, b: column{size: 1}, units: true}, dealt)
	all, rows := tally{}, make([]tally, m.a.size)
	for i, t := range cells {
		rows[i/m.b.size].add(t)
	}
	for g, t := range units {
		if all.add(t); whole {
			rows[g] = t
		}
	}
	furthest := 0.
	for i := range cells {
		g, value := i/m.b.size, i%m.b.size
		if n := units[g].real[0]; min(n, units[g].all-n) < manyUnits {
			continue
		}
		p, q, std := cells[i].share(&rows[g])
		off, least := math.Abs(p-q)/(p+q), groupRows
		if steps > 0 {
			behind := 0. // the share of the steps from that value
			for k := range steps {
				behind += cells[i-i%steps+k].real[0] / max(1, rows[0].real[0])
			}
			if behind < groupShare || p >= NeverShare*behind {
				continue
			}
			off, least = q, SomeSteps
		}
		if units[g].real[0] < groupShare*all.real[0] || !whole && max(p, q) < least ||
			off <= furthest || max(p, q) <= groupFactor*min(p, q) || math.Abs(p-q) <= groupSigmas*std {
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
// a number its direction. Rows of one place have no order, and say nothing. Labels are those of the
// latter of so many values or directions.
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
				order := cmp.Compare(c.order[side][h.Rows[at]], c.order[side][h.Rows[at-1]])
				switch {
				case order == 0 && k != c.By, of.ordered && (x == of.missing || y == of.missing):
					kind = none
				case k == c.By: // compared as finely as it is known
					kind = 1 + order
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
