package linked

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Family is one of the ways in which linked tables may be off.
type Family struct {
	Name  string  `json:"name"`  // of its metric in [eval.Metrics]
	Off   float64 `json:"off"`   // mean of its parts
	Floor float64 `json:"floor"` // mean of theirs
	Limit float64 `json:"limit"` // up to which Off is good
	// it and each of its parts are within their limits, and no part has a group
	Good  bool   `json:"good"`
	Parts []Part `json:"parts"`
}

// Part is one distance of a family.
type Part struct {
	Table string  `json:"table"`
	Of    string  `json:"of"`    // the columns
	Off   float64 `json:"off"`   // real tables against synthetic ones, 0 to 1
	Floor float64 `json:"floor"` // where the units of both are dealt anew
	Limit float64 `json:"limit"` // up to which Off is good
	// what a person would count, if there is such: see [Families]
	Real      *float64 `json:"real,omitempty"`
	Synthetic *float64 `json:"synthetic,omitempty"`
	Mean      bool     `json:"mean,omitempty"`  // these are means, not shares
	Group     *group   `json:"group,omitempty"` // of units or steps that is far off; nil: none is
	// the distributions themselves, of few values
	Labels          []string  `json:"labels,omitempty"`
	RealShares      []float64 `json:"real_shares,omitempty"`
	SyntheticShares []float64 `json:"synthetic_shares,omitempty"`
}

// The families, in the order of [Families].
const (
	FanOut         = "FanOut"
	parentChild    = "ParentChild"
	transition     = "Transition"
	gapOfRows      = "Gap"
	thirdNext      = "ThirdNext"
	distinctValues = "DistinctValues"
	OrphansOrder   = "OrphansOrder"
	ChildChild     = "ChildChild"
)

// Slack is a distance that is good where there is no chance. That of a family is added to what
// chance makes of it. That of a part is added as squares are.
const familySlack, partSlack = .02, .05

// deals counts how the units are, and 63 times that the units of both tables are dealt anew.
const deals = 64

// deal says of each unit of the real tables and of the synthetic ones in which of the deals it is
// real: first as it is, then as chance has it, so that there are as many as before.
func deal(real, synthetic int, seed uint64) (dealt [sides][]uint64) {
	dealt[0], dealt[1] = make([]uint64, real), make([]uint64, synthetic)
	u := rand.New(rand.NewPCG(seed, 53))
	for k := range deals {
		order := u.Perm(real + synthetic)
		for at, unit := range order[:real] {
			if k == 0 {
				unit = at
			}
			if unit < real {
				dealt[0][unit] |= 1 << k
			} else {
				dealt[1][unit-real] |= 1 << k
			}
		}
	}
	return dealt
}

// Families measures mean distances. Alias of each: none. Range 0 to 1; goal: what chance makes of
// it. Source: total variation distances; of what chance explains, Westfall & Young 1993,
// Resampling-Based Multiple Testing, section 2.3.
//
// Name FanOut. The number of rows of a unit, by itself (Real and Synthetic are its means) and with
// each column of the parents.
//
// Name ParentChild. Each column of the parents, and the number of rows, with each of the child.
//
// Name Transition. Each column with itself in the next row of the unit (Real and Synthetic: the
// share of next rows that have the same value). It is not good, either, if a number falls, rises or
// stays, or a value follows another, that never does so in the real rows.
//
// Name Gap. By how much the order column grows from row to row, in deciles of the real gaps (Real
// and Synthetic: the mean).
//
// Name ThirdNext. As Transition, three rows on, which a chain that looks back one row gets wrong.
//
// Name DistinctValues. How many values of a column a unit has (Real and Synthetic: the mean).
//
// Name OrphansOrder. The shares of rows without a parent, of rows before which the file has a later
// one of the same unit, and of parents whose key is there before, which are good if none is beyond
// twice its share of the real files.
//
// Name ChildChild. Every two columns of a row.
//
// A child table whose only column is the order has no part in Transition, ThirdNext and
// DistinctValues. A family without parts has an Off of 0. seed is that of the deals. The tables
// must have the same columns, and rows: errors wrap [eval.ErrTables].
func Families(real, synthetic *Tables, seed uint64) ([]Family, error) {
	all, err := compare([sides]*Tables{real, synthetic})
	if err != nil {
		return nil, err
	}
	dealt := deal(real.Parents.Rows(), synthetic.Parents.Rows(), seed)
	parts, off := map[string][]Part{OrphansOrder: broken(real, synthetic, all)},
		map[string][][deals]float64{}
	for _, c := range all {
		for _, m := range c.measures() {
			p, x := c.part(m, dealt)
			parts[m.family], off[m.family] = append(parts[m.family], p), append(off[m.family], x)
		}
	}
	var out []Family
	for _, name := range []string{FanOut, parentChild, transition, gapOfRows, thirdNext,
		distinctValues, OrphansOrder, ChildChild} {
		f := Family{Name: name, Parts: parts[name]}
		f.limits(off[name])
		f.Good = f.Off <= f.Limit
		for _, p := range f.Parts {
			f.Good = f.Good && p.Group == nil && p.Off <= p.Limit
		}
		out = append(out, f)
	}
	return out, nil
}

// limits sets the limits of a family and of its parts, given what parts are off by in each deal. No
// deal is beyond the limit of the family, or of a part. Those of all parts are as many standard
// deviations above their means (Westfall & Young 1993, Resampling-Based Multiple Testing, section
// 2.3). So one in 64 other samples of the population would exceed each of the two, and fewer do, as
// there is some slack.
func (f *Family) limits(off [][deals]float64) {
	n := float64(len(f.Parts))
	for _, p := range f.Parts {
		f.Off, f.Floor = f.Off+p.Off/n, f.Floor+p.Floor/n
	}
	if f.Name == OrphansOrder {
		f.Limit = min(1, 2*f.Floor)
		return
	}
	furthest, std := 0., make([]float64, len(off))
	for j := range off {
		if _, std[j] = stat.PopMeanStdDev(off[j][1:], nil); std[j] > 0 {
			furthest = max(furthest, (slices.Max(off[j][1:])-f.Parts[j].Floor)/std[j])
		}
	}
	for j := range f.Parts {
		p := &f.Parts[j]
		p.Limit = min(1, math.Hypot(p.Floor, partSlack)+furthest*std[j])
	}
	for k := 1; k < deals; k++ {
		mean := 0.
		for j := range off {
			mean += off[j][k] / n
		}
		f.Limit = max(f.Limit, mean)
	}
	f.Limit = min(1, f.Limit+familySlack)
}

// broken are shares of rows that no file of linked tables should have; their floor is that of the
// real files.
func broken(real, synthetic *Tables, all []*comparison) (out []Part) {
	add := func(table, of string, a, n, b, m int) {
		x, y := float64(a)/float64(max(n, 1)), float64(b)/float64(max(m, 1))
		out = append(out, Part{Table: table, Of: of, Off: y, Floor: x, Limit: min(1, 2*x), Real: &x,
			Synthetic: &y})
	}
	add(real.Name, "keys that were there before", real.Doubled, real.Doubled+real.Parents.Rows(),
		synthetic.Doubled, synthetic.Doubled+synthetic.Parents.Rows())
	for i, c := range all {
		a, b, other := c.history[0], c.history[1], synthetic.Children[i]
		if c.Keyed {
			add(c.Name, "keys that were there before", c.Doubled, c.Rows.Rows(), other.Doubled,
				other.Rows.Rows())
		}
		add(c.Name, "rows without a parent", a.Orphans, len(c.Parent), b.Orphans,
			len(other.Parent))
		add(c.Name, "rows behind a later one", a.behind, a.steps, b.behind, b.steps)
	}
	return out
}

// measure compares the shares of pairs of codes.
type measure struct {
	family, of string
	// of each unit if units, else of each row, but a of ParentChild is of units; a of one code: b
	// is by itself
	a, b  column
	units bool
	later int    // so many rows after that of a is that of b, in the same unit
	same  bool   // a person would count the pairs that are equal
	mean  bool   // a person would count the mean of b
	drawn bool   // the shares of b are to be drawn
	steps column // what rows do from the one before; without labels: not asked
}

// measures are those of a child table.
func (c *comparison) measures() []measure {
	alone := column{size: 1}
	out := []measure{
		{family: FanOut, of: c.rows.name, a: alone, b: c.rows, units: true, mean: true, drawn: true},
		{family: gapOfRows, of: c.gap.name, a: alone, b: c.gap, drawn: true, steps: c.changes(c.By)},
	}
	for _, p := range c.parents {
		out = append(out, measure{family: FanOut, of: p.name + " × rows", a: p, b: c.number,
			units: true})
	}
	for _, p := range append(c.parents[:len(c.parents):len(c.parents)], c.number) {
		for _, k := range c.columns {
			out = append(out, measure{family: parentChild, of: p.name + " × " + k.name, a: p, b: k})
		}
	}
	for i, k := range c.columns {
		for _, j := range c.columns[:i] {
			out = append(out, measure{family: ChildChild, of: j.name + " × " + k.name, a: j, b: k})
		}
		if i != c.By {
			out = append(out,
				measure{family: transition, of: k.name, a: k, b: k, later: 1, same: true,
					steps: c.changes(i)},
				measure{family: thirdNext, of: k.name, a: k, b: k, later: 3, same: true},
				measure{family: distinctValues, of: k.name, a: alone, b: c.distinct[i], units: true,
					mean: true})
		}
	}
	return out
}

// tally is how many rows or units there are of a pair of codes: real ones in each of the deals, and
// in all.
type tally struct {
	real [deals]float64
	all  float64
}

func (t *tally) add(u tally) {
	floats.Add(t.real[:], u.real[:])
	t.all += u.all
}

// count counts the pairs.
func (c *comparison) count(m measure, dealt [sides][]uint64) []tally {
	out := make([]tally, m.a.size*m.b.size)
	for side, h := range c.history {
		for parent := range len(h.From) - 1 {
			first, end, unit := h.From[parent], h.From[parent+1], parent
			if m.units {
				first, end = parent, parent+1
			}
			if c.Above > 0 {
				unit = c.units[side][parent]
			}
			for at := first; at+m.later < end; at++ {
				x, y := 0, 0
				if m.a.size > 1 && m.family == parentChild {
					x = int(m.a.codes[side][parent])
				} else if m.a.size > 1 {
					x = int(m.a.codes[side][at])
				}
				if m.b.size > 1 {
					y = int(m.b.codes[side][at+m.later])
				}
				if y == none {
					continue
				}
				t := &out[x*m.b.size+y]
				t.all++
				for k := range t.real {
					t.real[k] += float64(dealt[side][unit] >> k & 1)
				}
			}
		}
	}
	return out
}

// part measures a distance, and what it is in each of the deals.
func (c *comparison) part(m measure, dealt [sides][]uint64) (out Part, off [deals]float64) {
	cells, n := c.count(m, dealt), tally{}
	for _, t := range cells {
		n.add(t)
	}
	real, synthetic := make([]float64, len(cells)), make([]float64, len(cells))
	for k := range slices.Backward(off[:]) { // the last is as it is
		a, b := n.real[k], n.all-n.real[k]
		for i, t := range cells {
			real[i], synthetic[i] = t.real[k]/max(1, a), (t.all-t.real[k])/max(1, b)
		}
		if off[k] = floats.Distance(real, synthetic, 1) / 2; (a == 0) != (b == 0) {
			off[k] = 1
		}
	}
	out = Part{Table: c.Name, Of: m.of, Mean: m.mean, Off: off[0], Floor: stat.Mean(off[1:], nil),
		Group: c.group(m, cells, dealt)}
	switch {
	case m.same || m.mean:
		out.Real, out.Synthetic = m.person(real), m.person(synthetic)
	case m.family == gapOfRows:
		out.Real, out.Synthetic, out.Mean = &c.gapMean[0], &c.gapMean[1], true
	}
	if m.drawn {
		out.Labels, out.RealShares, out.SyntheticShares = m.b.labels, real, synthetic
	}
	return out, off
}

// person is what a person would count: the share of equal pairs, or the mean of b.
func (m measure) person(shares []float64) *float64 {
	sum := 0.
	for i, p := range shares {
		switch a, b := i/m.b.size, i%m.b.size; {
		case m.mean:
			sum += float64(b) * p
		case a == b:
			sum += p
		}
	}
	return &sum
}
