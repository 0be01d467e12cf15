package ranges

import (
	"fmt"
	"slices"
)

// Tree is the shape of the counts.
func (c *Counts) Tree() *Tree { return c.tree }

// Total is the count of the root.
func (c *Counts) Total() float64 { return c.values[0][0] }

// Leaves are the counts of the leaves.
func (c *Counts) Leaves() []float64 { return slices.Clone(c.values[c.tree.Height()]) }

// Range is the count of the leaves lo to hi−1, 0 ≤ lo ≤ hi ≤ n, as a sum of at most 2(b−1) nodes a
// level, and its variance: exact for the counts of [Tree.Infer]; for those of NonNegative it is the
// variance before negative counts were removed. It panics for other lo, hi.
func (c *Counts) Range(lo, hi int) (count, variance float64) {
	c.tree.checkRange(lo, hi)
	p := c.tree.part(c.within, c.values, 0, 0, lo, hi)
	return p.value, p.residual + p.slope*p.slope*c.within[0][0]
}

func (t *Tree) checkRange(lo, hi int) {
	if lo < 0 || lo > hi || hi > t.Leaves() {
		panic(fmt.Sprintf("ranges: range %d to %d of %d leaves", lo, hi, t.Leaves()))
	}
}

// part is what a range takes of a node, given the measurements of the node's own subtree. The count
// f of the leaves in the range is, with t the node's count, f = slope·t + an error of variance
// residual that is independent of t.
type part struct{ value, slope, residual float64 }

// part of node i. Children are independent given their own subtrees, so with t = Σt_c and f = Σf_c
//
//	slope = Σ slope_c·V_c/ΣV,   residual = Σ residual_c + Σ slope_c²·V_c − (Σ slope_c·V_c)²/ΣV.
//
// Measuring the node itself tells of t only and leaves both as they are. values may be nil.
func (t *Tree) part(within, values [][]float64, level, i, lo, hi int) part {
	from, to := t.span(level, i)
	switch {
	case hi <= from || to <= lo:
		return part{}
	case lo <= from && to <= hi:
		p := part{slope: 1}
		if values != nil {
			p.value = values[level][i]
		}
		return p
	}
	var p part
	var all, cross, square float64
	first, last := t.children(level, i)
	for k := first; k < last; k++ {
		v := within[level+1][k]
		q := t.part(within, values, level+1, k, lo, hi)
		p.value += q.value
		p.residual += q.residual
		all += v
		cross += q.slope * v
		square += q.slope * q.slope * v
	}
	p.slope = cross / all
	p.residual += max(0, square-cross*cross/all)
	return p
}

// MeanVariance is the mean variance of a range for measurements of these σ (see [Tree.Infer]), over
// the ranges between 38 evenly spaced places (few of which are borders of wide nodes); over all of
// them if there are fewer leaves.
func (t *Tree) MeanVariance(sigma []float64) float64 {
	within := t.variances(sigma)
	var ends []int
	steps := min(37, t.Leaves())
	for i := range steps + 1 {
		ends = append(ends, i*t.Leaves()/steps)
	}
	sum, n := 0.0, 0
	for i, lo := range ends {
		for _, hi := range ends[i+1:] {
			p := t.part(within, nil, 0, 0, lo, hi)
			sum += p.residual + p.slope*p.slope*within[0][0]
			n++
		}
	}
	return sum / float64(n)
}
