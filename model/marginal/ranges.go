package marginal

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// errShape is wrapped by every error about a tree or measurements that do not fit together.
var errShape = errors.New("measurements do not fit the tree")

// A column is cut into bins of about equal counts from noisy counts of a tree of intervals:
// hierarchical counts with constrained inference (Hay, Rastogi, Miklau, Suciu 2010, arXiv
// 0904.0942; fan-outs are compared by Qardaji, Yang, Li 2013).
//
// A domain of n ordered cells (the leaves) is cut into ever wider intervals, three to one.
// Measuring every level costs more noise a level than measuring the leaves alone, but a range is
// then the sum of a few nodes instead of up to n leaves: over all k² ranges of k cells the squared
// error grows as k²(log k)³ under Laplace noise, k²(log k)² under Gaussian noise, against k³ for
// flat counts.

// fanout is how many children a node has. Over 32 to 65,536 leaves the mean variance of a range is
// within 6 % of the best of 2 to 16 and the flat tree, when every level is measured with Gaussian
// noise at one total cost.
const fanout = 3

// Tree is the shape of a tree over n leaves. Level 0 is the root, level [Tree.Height] the leaves;
// node i of a level has the nodes 3i to 3i+2 of the next level as children, as far as they exist. A
// Tree is immutable.
type Tree struct {
	widths []int // leaves of a full node, by level; widths[0] ≥ leaves
	counts []int // nodes, by level; counts[0] = 1
}

// NewTree returns the tree with the given number of leaves, 1 to 65,536.
func NewTree(leaves int) (*Tree, error) {
	if leaves < 1 || leaves > maxCodes {
		return nil, fmt.Errorf("%d leaves, want 1 to %d: %w", leaves, maxCodes, errShape)
	}
	t := &Tree{}
	for width := 1; ; width *= fanout {
		t.widths = append(t.widths, width)
		t.counts = append(t.counts, (leaves+width-1)/width)
		if width >= leaves && len(t.widths) > 1 {
			slices.Reverse(t.widths)
			slices.Reverse(t.counts)
			return t, nil
		}
	}
}

// Leaves is n.
func (t *Tree) Leaves() int { return t.counts[len(t.counts)-1] }

// Height is the number of levels below the root, the ones that are measured; at least 1.
func (t *Tree) Height() int { return len(t.counts) - 1 }

// Nodes is the number of nodes of a level, 0 to Height.
func (t *Tree) Nodes(level int) int { return t.counts[level] }

// Groups gives, for each leaf, its node on a level, 0 to Height.
func (t *Tree) Groups(level int) []uint16 {
	out := make([]uint16, t.Leaves())
	for i := range out {
		out[i] = uint16(i / t.widths[level])
	}
	return out
}

// children are the children of node i of a level above the leaves: from lo up to but not including
// hi.
func (t *Tree) children(level, i int) (lo, hi int) {
	return i * fanout, min((i+1)*fanout, t.counts[level+1])
}

// variances is the variance of every node's count given the measurements of its own subtree, by
// level: V_v = 1/(1 + 1/ΣV), the sum over the children of v, in units of σ². The root is not
// measured: it has ΣV.
func (t *Tree) variances() [][]float64 {
	out := make([][]float64, t.Height()+1)
	out[t.Height()] = slices.Repeat([]float64{1}, t.Leaves())
	for level := t.Height() - 1; level >= 0; level-- {
		out[level] = make([]float64, t.counts[level])
		for i := range out[level] {
			lo, hi := t.children(level, i)
			v := floats.Sum(out[level+1][lo:hi])
			if level > 0 {
				v = 1 / (1 + 1/v)
			}
			out[level][i] = v
		}
	}
	return out
}

// variance of the inferred count of the leaves lo to hi−1, in units of σ².
func (t *Tree) variance(within [][]float64, lo, hi int) float64 {
	slope, residual := t.part(within, 0, 0, lo, hi)
	return residual + slope*slope*within[0][0]
}

// part is what a range takes of node i, given the measurements of the node's own subtree. The count
// f of the leaves in the range is, with t the node's count, f = slope·t + an error of variance
// residual that is independent of t. Children are independent given their own subtrees, so with t =
// Σt_c and f = Σf_c
//
//	slope = Σ slope_c·V_c/ΣV,   residual = Σ residual_c + Σ slope_c²·V_c − (Σ slope_c·V_c)²/ΣV.
//
// Measuring the node itself tells of t only and leaves both as they are.
func (t *Tree) part(within [][]float64, level, i, lo, hi int) (slope, residual float64) {
	from, to := i*t.widths[level], min((i+1)*t.widths[level], t.Leaves())
	switch {
	case hi <= from || to <= lo:
		return 0, 0
	case lo <= from && to <= hi:
		return 1, 0
	}
	var all, cross, square float64
	for k, last := t.children(level, i); k < last; k++ {
		v := within[level+1][k]
		s, r := t.part(within, level+1, k, lo, hi)
		residual += r
		all += v
		cross += s * v
		square += s * s * v
	}
	return cross / all, residual + max(0, square-cross*cross/all)
}
