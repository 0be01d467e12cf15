package marginal

import (
	"fmt"
	"math"
	"slices"
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
// The error, for shapes and for counts that are not finite, wraps [errShape].
func (t *Tree) Infer(levels [][]float64) (*Counts, error) {
	if err := t.check(levels); err != nil {
		return nil, err
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

func (t *Tree) check(levels [][]float64) error {
	if len(levels) != t.Height() {
		return fmt.Errorf("marginal: %d levels for a tree of height %d: %w", len(levels), t.Height(),
			errShape)
	}
	for l, y := range levels {
		if len(y) != t.counts[l+1] {
			return fmt.Errorf("marginal: level %d: %d counts for %d nodes: %w", l+1, len(y),
				t.counts[l+1], errShape)
		}
		for _, x := range y {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("marginal: level %d: a count is not finite: %w", l+1, errShape)
			}
		}
	}
	return nil
}

// below is the sum of the children's values, and of their variances.
func (c *Counts) below(level, i int) (sum, variance float64) {
	lo, hi := c.tree.children(level, i)
	for k := lo; k < hi; k++ {
		sum += c.values[level+1][k]
		variance += c.within[level+1][k]
	}
	return sum, variance
}

// Range is the rows of the leaves lo to hi−1, and the variance of that number for measurements of
// variance 1.
func (c *Counts) Range(lo, hi int) (rows, variance float64) {
	for _, x := range c.values[c.tree.Height()][lo:hi] {
		rows += x
	}
	return rows, c.tree.variance(c.within, lo, hi)
}

// leaves are the counts of the leaves.
func (c *Counts) leaves() []float64 { return slices.Clone(c.values[c.tree.Height()]) }

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
			shift(next[lo:hi], c.within[level+1][lo:hi], total-c.values[level][i])
			closest(next[lo:hi], c.within[level+1][lo:hi], total)
		}
		out.values[level+1] = next
	}
	return out
}

// shift spreads a change of the sum over x in proportion to the variances.
func shift(x, variance []float64, by float64) {
	sum := 0.0
	for _, v := range variance {
		sum += v
	}
	for i := range x {
		x[i] += by * variance[i] / sum
	}
}

// closest replaces x by the non-negative numbers of the given sum that are closest to it, by Σ(x' −
// x)²/V: x' = max(0, x − λV). The cells that stay positive are those with the largest x/V.
func closest(x, variance []float64, total float64) {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch ra, rb := x[a]/variance[a], x[b]/variance[b]; {
		case ra > rb:
			return -1
		case ra < rb:
			return 1
		}
		return a - b
	})
	sum, weight, lambda := 0.0, 0.0, math.Inf(1)
	for _, i := range order {
		next := (sum + x[i] - total) / (weight + variance[i])
		if weight > 0 && x[i]/variance[i] <= next {
			break
		}
		sum, weight, lambda = sum+x[i], weight+variance[i], next
	}
	for i := range x {
		x[i] = max(0, x[i]-lambda*variance[i])
	}
}
