package linked

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// Family is one of the ways in which linked tables may be off.
type Family struct {
	Name  string  `json:"name"`
	Off   float64 `json:"off"`   // mean of its parts
	Floor float64 `json:"floor"` // mean of theirs
	Limit float64 `json:"limit"` // up to which Off is good
	// as good as chance lets one ask for, and no part has a group
	Good  bool   `json:"good"`
	Parts []Part `json:"parts"`
}

// Part is one distance of a family.
type Part struct {
	Table string  `json:"table"`
	Of    string  `json:"of"`    // the columns
	Off   float64 `json:"off"`   // real tables against synthetic ones, 0 to 1
	Floor float64 `json:"floor"` // real tables against resamples of their units
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
	FanOut         = "fan-out"
	parentChild    = "parent × child"
	transition     = "transition"
	gapOfRows      = "gap"
	thirdNext      = "third-next"
	distinctValues = "distinct values"
	OrphansOrder   = "orphans and order"
	childChild     = "child × child"
)

// Limit is the distance that is good beside a floor.
func Limit(floor float64) float64 { return 2*floor + .02 }

const resamples = 4 // whose mean is the floor

// Families measures:
//
//   - fan-out: the number of rows of a unit, by itself (Real and Synthetic are its means) and with
//     each column of the parents;
//   - parent × child: each column of the parents, and the number of rows, with each of the child;
//   - transition: each column with itself in the next row of the unit (Real and Synthetic: the
//     share of next rows that have the same value); it is not good, either, if a number falls,
//     rises or stays, or a value follows another, that never does so in the real rows;
//   - gap: by how much the order column grows from row to row, in deciles of the real gaps (Real
//     and Synthetic: the mean);
//   - third-next: as transition, three rows on, which a chain that looks back one row gets wrong;
//   - distinct values: how many values of a column a unit has (Real and Synthetic: the mean);
//   - orphans and order: the shares of rows without a parent, of rows before which the file has a
//     later one of the same unit, and of parents whose key is there before, which are good if none
//     is beyond twice its share of the real files;
//   - child × child: every two columns of a row.
//
// A child table whose only column is the order has no part in transition, third-next and distinct
// values. A family without parts has an Off of 0. seed is that of the resamples. The tables must
// have the same columns, and rows: errors wrap [eval.ErrTables].
func Families(real, synthetic *Tables, seed uint64) ([]Family, error) {
	all, err := compare([sides]*Tables{real, synthetic})
	if err != nil {
		return nil, err
	}
	u := rand.New(rand.NewPCG(seed, 53))
	var drawn [resamples][]int
	for k := range drawn {
		for range synthetic.Parents.Rows() {
			drawn[k] = append(drawn[k], u.IntN(real.Parents.Rows()))
		}
	}
	parts := map[string][]Part{OrphansOrder: broken(real, synthetic, all)}
	for _, c := range all {
		var parents [][]int
		for _, units := range drawn {
			parents = append(parents, c.of(0, units))
		}
		for _, m := range c.measures() {
			parts[m.family] = append(parts[m.family], c.part(m, parents))
		}
	}
	var out []Family
	for _, name := range []string{FanOut, parentChild, transition, gapOfRows, thirdNext,
		distinctValues, OrphansOrder, childChild} {
		f := Family{Name: name, Parts: parts[name]}
		n, within := float64(len(f.Parts)), true
		for _, p := range f.Parts {
			f.Off, f.Floor = f.Off+p.Off/n, f.Floor+p.Floor/n
			within = within && p.Group == nil && (name != OrphansOrder || p.Off <= 2*p.Floor)
		}
		if f.Limit = Limit(f.Floor); name == OrphansOrder {
			f.Limit = min(1, 2*f.Floor)
		}
		f.Good = f.Off <= f.Limit && within
		out = append(out, f)
	}
	return out, nil
}

// broken are shares of rows that no file of linked tables should have; their floor is that of the
// real files.
func broken(real, synthetic *Tables, all []*comparison) (out []Part) {
	add := func(table, of string, a, n, b, m int) {
		x, y := float64(a)/float64(max(n, 1)), float64(b)/float64(max(m, 1))
		out = append(out, Part{Table: table, Of: of, Off: y, Floor: x, Real: &x, Synthetic: &y})
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
	// of each unit if units, else of each row, but a of parent × child is of units; a of one code: b
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
			out = append(out, measure{family: childChild, of: j.name + " × " + k.name, a: j, b: k})
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

// part measures a distance, and its floor between the real units and those drawn from them.
func (c *comparison) part(m measure, drawn [][]int) Part {
	out := Part{Table: c.Name, Of: m.of, Mean: m.mean}
	real, synthetic := c.shares(m, 0, c.all[0]), c.shares(m, 1, c.all[1])
	out.Off = variation(real, synthetic)
	for _, units := range drawn {
		out.Floor += variation(real, c.shares(m, 0, units)) / float64(len(drawn))
	}
	switch {
	case m.same || m.mean:
		out.Real, out.Synthetic = m.person(real), m.person(synthetic)
	case m.family == gapOfRows:
		out.Real, out.Synthetic, out.Mean = &c.gapMean[0], &c.gapMean[1], true
	}
	out.Group = c.group(m)
	if m.drawn {
		out.Labels, out.RealShares, out.SyntheticShares = m.b.labels, real, synthetic
	}
	return out
}

// shares are those of pairs in some units of a side; zeros if there is none.
func (c *comparison) shares(m measure, side int, units []int) []float64 {
	from, count, n := c.history[side].From, make([]float64, m.a.size*m.b.size), 0.
	for _, unit := range units {
		first, end := from[unit], from[unit+1]
		if m.units {
			first, end = unit, unit+1
		}
		for at := first; at+m.later < end; at++ {
			x, y := 0, int(m.b.codes[side][at+m.later])
			if m.family == parentChild {
				x = int(m.a.codes[side][unit])
			} else if m.a.size > 1 {
				x = int(m.a.codes[side][at])
			}
			if y != none {
				count[x*m.b.size+y]++
				n++
			}
		}
	}
	floats.Scale(1/max(n, 1), count)
	return count
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

// variation is the total variation distance; from shares that are all 0 it is 1.
func variation(p, q []float64) float64 {
	if (floats.Sum(p) == 0) != (floats.Sum(q) == 0) {
		return 1
	}
	return min(1, floats.Distance(p, q, 1)/2)
}
