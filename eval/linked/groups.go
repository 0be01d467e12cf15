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

// Conventions, under which twelve kinds of damage change an answer, and other samples of the same
// people do not: TestDamages and TestFresh.
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

// group is that of the values of m.a which is furthest off, or what steps do that real ones do not;
// nil: there is none, or m, of which cells are the counts, does not ask.
func (c *comparison) group(m measure, cells []tally, dealt [sides][]uint64) *group {
	one := column{size: 1}
	switch {
	case len(m.steps.labels) > 0:
		return c.newSteps(m.steps, dealt)
	case m.a.size < 2:
		return nil
	case m.family == FanOut: // rows per unit
		units := c.count(measure{a: m.a, b: one, units: true}, dealt)
		cells = c.count(measure{family: parentChild, a: m.a, b: one}, dealt)
		return furthest(cells, units, units, 0, func(g int) (string, string) {
			return m.a.says(g), Rows
		})
	case m.family == parentChild:
		units := c.count(measure{a: m.a, b: one, units: true}, dealt)
		rows := make([]tally, m.a.size)
		for i, t := range cells {
			rows[i/m.b.size].add(t)
		}
		return furthest(cells, rows, units, groupRows, func(i int) (string, string) {
			return m.a.says(i / m.b.size), m.b.says(i % m.b.size)
		})
	}
	return nil
}

// furthest is the group whose share, or mean, of cells in rows is furthest off, of at least the
// given size on one side. units are those of each group, of which cells has as many each.
func furthest(
	cells, rows, units []tally, least float64, names func(i int) (units, of string),
) (worst *group) {
	all, off := tally{}, 0.
	for _, t := range units {
		all.add(t)
	}
	for i := range cells {
		g := i * len(units) / len(cells)
		n := units[g].real[0]
		p, q, std := cells[i].share(&rows[g])
		if min(n, units[g].all-n) < manyUnits || n < groupShare*all.real[0] || max(p, q) < least ||
			unlike(p, q, std) <= off {
			continue
		}
		off = unlike(p, q, std)
		worst = &group{Real: p, Synthetic: q, Off: off}
		worst.Units, worst.Of = names(i)
	}
	return worst
}

// unlike is how far two shares or means are apart, as a part of their sum; 0 if chance explains it,
// or it is less than a half of the smaller one.
func unlike(p, q, std float64) float64 {
	if max(p, q) <= groupFactor*min(p, q) || math.Abs(p-q) <= groupSigmas*std {
		return 0
	}
	return math.Abs(p-q) / (p + q)
}

// newSteps are the most frequent steps that do what real ones never do.
func (c *comparison) newSteps(steps column, dealt [sides][]uint64) (worst *group) {
	one := column{size: 1}
	units := c.count(measure{a: one, b: one, units: true}, dealt)[0]
	if min(units.real[0], units.all-units.real[0]) < manyUnits {
		return nil
	}
	cells, all, n := c.count(measure{a: one, b: steps}, dealt), tally{}, len(steps.labels)
	for _, t := range cells {
		all.add(t)
	}
	for i := range cells {
		before := 0. // the share of the real steps from that value
		for _, t := range cells[i-i%n : i-i%n+n] {
			before += t.real[0] / max(1, all.real[0])
		}
		p, q, std := cells[i].share(&all)
		if before < groupShare || p >= NeverShare*before || q < SomeSteps || unlike(p, q, std) == 0 ||
			worst != nil && q <= worst.Off {
			continue
		}
		of := steps.name + " " + steps.labels[i%n]
		if !steps.ordered {
			of = steps.name + " = " + steps.labels[i%n] + " follows " + steps.labels[i/n]
		}
		worst = &group{Steps, of, p, q, q}
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
