package mwem

import (
	"math"
	"slices"
)

// component is a distribution over some columns, independent of all others. Every measurement
// multiplies all cells of a query, or of a cell of a marginal, by one factor; so cells that lie in
// the same parts of all measurements keep one density for ever. They form a class, and fitting
// works on classes, of which there are few as long as the measurements cut the table into few
// parts.
type component struct {
	cols     []int     // increasing
	sizes    []int     // codes of each
	class    []int32   // of each cell, row-major, last column fastest
	size     []float64 // cells of each class; 0 for one that was cut up
	mass     []float64 // probability of each class
	measured []*measured
}

// measured is a noisy query or marginal over columns of a component.
type measured struct {
	item    int // of the plan
	y       []float64
	sigma   float64
	theta   []float64 // log potential of each part
	group   []int32   // part of each class; -1: outside the query
	members []int32   // of a count: its classes
}

// uniform is the uniform distribution over columns.
func uniform(cols, sizes []int) *component {
	c := &component{cols: cols, size: []float64{1}, mass: []float64{1}}
	for _, col := range cols {
		c.sizes = append(c.sizes, sizes[col])
		c.size[0] *= float64(sizes[col])
	}
	c.class = make([]int32, int(c.size[0]))
	return c
}

// times is the product of two components over disjoint columns.
func (c *component) times(d *component, sizes []int) *component {
	out := &component{cols: slices.Sorted(slices.Values(slices.Concat(c.cols, d.cols)))}
	for _, col := range out.cols {
		out.sizes = append(out.sizes, sizes[col])
	}
	k := len(d.mass)
	for i, m := range c.mass {
		for j, n := range d.mass {
			out.mass = append(out.mass, m*n)
			out.size = append(out.size, c.size[i]*d.size[j])
		}
	}
	out.class = make([]int32, len(c.class)*len(d.class))
	a, b := out.index(c.cols), out.index(d.cols)
	for i := range out.class {
		out.class[i] = c.class[a[i]]*int32(k) + d.class[b[i]]
	}
	for _, m := range c.measured {
		m.group = spreadGroups(m.group, len(out.mass), func(class int) int { return class / k })
		out.measured = append(out.measured, m)
	}
	for _, m := range d.measured {
		m.group = spreadGroups(m.group, len(out.mass), func(class int) int { return class % k })
		out.measured = append(out.measured, m)
	}
	return out
}

// spreadGroups is the part of each of n new classes, which come from old ones.
func spreadGroups(group []int32, n int, from func(class int) int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = group[from(i)]
	}
	return out
}

// index is for every cell of the component its cell in the table over cols, which are among its
// columns and in increasing order.
func (c *component) index(cols []int) []int32 {
	strides := make([]int32, len(c.cols))
	stride := int32(1)
	for k := len(cols) - 1; k >= 0; k-- {
		at := slices.Index(c.cols, cols[k])
		strides[at] = stride
		stride *= int32(c.sizes[at])
	}
	out := make([]int32, 1, len(c.class))
	for k, n := range c.sizes {
		next := make([]int32, 0, len(out)*n)
		for _, o := range out {
			for code := range int32(n) {
				next = append(next, o+code*strides[k])
			}
		}
		out = next
	}
	return out
}

// add takes up a measurement over cols (increasing, among the component's): part[cell] is the part
// of a cell of the table over cols, -1 outside, and y the measured number of rows of each part. A
// second measurement of an item is averaged with the first.
func (c *component) add(item int, cols []int, part []int32, y []float64, sigma float64) {
	for _, m := range c.measured {
		if m.item == item {
			// Inverse-variance weights; every measurement of an item has the same noise.
			before := sigma * sigma / (m.sigma * m.sigma)
			for i := range y {
				m.y[i] = (before*m.y[i] + y[i]) / (before + 1)
			}
			m.sigma = sigma / math.Sqrt(before+1)
			return
		}
	}
	m := &measured{item: item, y: slices.Clone(y), sigma: sigma, theta: make([]float64, len(y))}
	m.group = c.cut(c.index(cols), part, len(y))
	c.measured = append(c.measured, m)
}

// cut splits the classes so that each lies in one part or outside all, and returns which. The first
// part met of a class keeps its number unless some of the class is outside, which then does.
func (c *component) cut(index, part []int32, parts int) []int32 {
	old := len(c.mass)
	keep := make([]int32, old) // the part that keeps the number
	for i := range keep {
		keep[i] = -2
	}
	for i, k := range c.class {
		if g := part[index[i]]; keep[k] == -2 || g == -1 {
			keep[k] = g
		}
	}
	group := slices.Clone(keep)
	for k, g := range group {
		group[k] = max(g, -1) // a class without cells is in no part
	}
	var parent []int32
	known := newPairs(old, parts)
	count := make([]float64, old, 2*old)
	for i, k := range c.class {
		g := part[index[i]]
		if g != keep[k] {
			id, fresh := known.number(k, g, int32(old+len(parent)))
			if fresh {
				parent, group, count = append(parent, k), append(group, g), append(count, 0)
			}
			c.class[i], k = id, id
		}
		count[k]++
	}
	c.mass = append(c.mass, make([]float64, len(parent))...)
	for i, from := range parent {
		c.mass[old+i] = c.mass[from] * count[old+i] / c.size[from]
	}
	for k := range old {
		if count[k] != c.size[k] {
			c.mass[k] *= count[k] / c.size[k]
		}
	}
	c.size = count
	for _, m := range c.measured {
		for _, from := range parent {
			m.group = append(m.group, m.group[from])
		}
	}
	return group
}

// pairs numbers (class, part).
type pairs struct {
	parts int
	dense []int32
	few   map[int]int32
}

func newPairs(classes, parts int) *pairs {
	p := &pairs{parts: parts}
	if classes*parts <= 1<<24 {
		p.dense = make([]int32, classes*parts)
	} else {
		p.few = map[int]int32{}
	}
	return p
}

// number gives the number of a pair, next if it is new.
func (p *pairs) number(class, part, next int32) (id int32, fresh bool) {
	at := int(class)*p.parts + int(part)
	if p.dense != nil {
		// no pair has the number 0: the classes before the cut have it
		if id = p.dense[at]; id == 0 {
			p.dense[at] = next
			return next, true
		}
		return id, false
	}
	id, ok := p.few[at]
	if !ok {
		p.few[at] = next
		return next, true
	}
	return id, false
}

// weightsTo writes the probability of each cell.
func (c *component) weightsTo(dst []float64) {
	density := make([]float64, len(c.mass))
	for k, m := range c.mass {
		if c.size[k] > 0 {
			density[k] = m / c.size[k]
		}
	}
	for i, k := range c.class {
		dst[i] = density[k]
	}
}
