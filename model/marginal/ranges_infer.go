package marginal

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Counts are consistent counts of all nodes of a tree: each parent is the sum of its children.
type Counts struct {
	tree   *Tree
	values [][]float64 // by level, 0 the root
	within [][]float64 // see variances
}

// Infer returns the least-squares counts of all nodes given noisy counts of the levels 1 to Height:
// levels[l−1][i] is node i of level l plus independent noise, of one standard deviation σ for all.
// They are the best linear unbiased estimates (Hay et al. 2010, theorem 3; here for any fan-out and
// ragged trees), which do not depend on σ. Time is linear in the number of nodes.
//
// Symbols: y_v the measurement of node v, z_v the estimate from the subtree of v alone, V_v its
// variance in units of σ², h_v the answer.
//
//	upwards     z_v = (y_v + Σz/ΣV) / (1 + 1/ΣV),   V_v = 1/(1 + 1/ΣV)    over the children of v
//	downwards   h_c = z_c + (h_v − Σz)·V_c/ΣV                              for each child c of v
//
// The error, for other shapes, wraps [errShape].
func (t *Tree) Infer(levels [][]float64) (*Counts, error) {
	fits := len(levels) == t.Height()
	for l := 0; fits && l < len(levels); l++ {
		fits = len(levels[l]) == t.counts[l+1]
	}
	if !fits {
		return nil, fmt.Errorf("levels that do not fit a tree of %d: %w", t.counts, errShape)
	}
	c := &Counts{tree: t, within: t.variances(), values: make([][]float64, t.Height()+1)}
	h := t.Height()
	c.values[h] = slices.Clone(levels[h-1])
	for level := h - 1; level >= 0; level-- {
		z := make([]float64, t.counts[level])
		for i := range z {
			sum, variance := c.below(level, i)
			z[i] = sum
			if level > 0 {
				z[i] = c.within[level][i] * (levels[level-1][i] + sum/variance)
			}
		}
		c.values[level] = z
	}
	for level := range h {
		for i, parent := range c.values[level] {
			sum, variance := c.below(level, i)
			lo, hi := t.children(level, i)
			for k := lo; k < hi; k++ {
				c.values[level+1][k] += (parent - sum) * c.within[level+1][k] / variance
			}
		}
	}
	return c, nil
}

// below is the sum of the children's values, and of their variances.
func (c *Counts) below(level, i int) (sum, variance float64) {
	lo, hi := c.tree.children(level, i)
	return floats.Sum(c.values[level+1][lo:hi]), floats.Sum(c.within[level+1][lo:hi])
}

// Range is the rows of the leaves lo to hi−1, and the variance of that number for measurements of
// variance 1.
func (c *Counts) Range(lo, hi int) (rows, variance float64) {
	for _, x := range c.values[c.tree.Height()][lo:hi] {
		rows += x
	}
	return rows, c.tree.variance(c.within, lo, hi)
}

// NonNegative returns counts that are still consistent and not negative: from the root down, the
// children of each node are the closest non-negative numbers (weighted by 1/V) with the parent's
// count as their sum. Ranges are then monotone, as quantiles need.
func (c *Counts) NonNegative() *Counts {
	out := &Counts{tree: c.tree, within: c.within, values: make([][]float64, len(c.values))}
	out.values[0] = []float64{max(0, c.values[0][0])}
	for level := range c.tree.Height() {
		next := slices.Clone(c.values[level+1])
		for i, total := range out.values[level] {
			lo, hi := c.tree.children(level, i)
			closest(next[lo:hi], c.within[level+1][lo:hi], total)
		}
		out.values[level+1] = next
	}
	return out
}
