package marginal

import (
	"errors"
	"fmt"
	"math"
)

// errShape is wrapped by every error about a tree or measurements that do not fit together.
var errShape = errors.New("measurements do not fit the tree")

// maxLeaves is the most leaves of a tree, the most codes of a column.
const maxLeaves = 1 << 16

// A column is cut into bins of about equal counts from noisy counts of a tree of intervals:
// hierarchical counts with constrained inference (Hay, Rastogi, Miklau, Suciu 2010, arXiv
// 0904.0942; the fan-out after Qardaji, Yang, Li 2013).
//
// A domain of n ordered cells (the leaves) is cut into ever wider intervals, b to one. Measuring
// every level costs more noise a level than measuring the leaves alone, but a range is then the sum
// of a few nodes instead of up to n leaves: over all k² ranges of k cells the squared error grows
// as k²(log k)³ under Laplace noise, k²(log k)² under Gaussian noise, against k³ for flat counts.

// Tree is the shape of a b-ary tree over n leaves. Level 0 is the root, level [Tree.Height] the
// leaves; node i of a level has the nodes b·i to b·i+b−1 of the next level as children, as far as
// they exist. A Tree is immutable.
type Tree struct {
	fanout int
	widths []int // leaves of a full node, by level; widths[0] ≥ leaves
	counts []int // nodes, by level; counts[0] = 1
}

// NewTree returns the tree with the given number of leaves, 1 to 65,536, and the fan-out at which
// ranges have the least variance.
func NewTree(leaves int) (*Tree, error) {
	if leaves < 1 || leaves > maxLeaves {
		return nil, fmt.Errorf("marginal: %d leaves, want 1 to %d: %w", leaves, maxLeaves, errShape)
	}
	return newTree(leaves, bestFanout(leaves)), nil
}

// newTree returns the tree with at least 2 children a node.
func newTree(leaves, fanout int) *Tree {
	height, top := 1, fanout
	for top < leaves {
		height, top = height+1, top*fanout
	}
	t := &Tree{fanout: fanout}
	for width := top; ; width /= fanout {
		t.widths = append(t.widths, width)
		t.counts = append(t.counts, (leaves+width-1)/width)
		if len(t.widths) == height+1 {
			return t
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
	return i * t.fanout, min((i+1)*t.fanout, t.counts[level+1])
}

// span is the leaves of node i of a level: from lo up to but not including hi.
func (t *Tree) span(level, i int) (lo, hi int) {
	return i * t.widths[level], min((i+1)*t.widths[level], t.Leaves())
}

// flatLeaves is the most leaves for which the flat tree is looked at: it is worse long before.
const flatLeaves = 1 << 10

// bestFanout is the number of children a node at which the mean variance of a range over n leaves
// is smallest when every level is measured with Gaussian noise at one total cost, that is with σ²
// proportional to the height. It compares 2 to 16 and the flat tree. (Qardaji, Yang, Li 2013,
// Understanding hierarchical methods for differentially private histograms, section 5, do so for
// Laplace noise.)
func bestFanout(leaves int) int {
	flat := max(2, leaves)
	best, least := 0, math.Inf(1)
	for b := 2; b <= flat; b++ {
		if b > 16 {
			if b = flat; leaves > flatLeaves {
				break
			}
		}
		if v := newTree(leaves, b).cost(); v < least {
			best, least = b, v
		}
	}
	return best
}

// cost is the mean variance of a range where the levels are measured with σ² = Height: over the
// ranges between 38 evenly spaced places (few of which are borders of wide nodes), over all of them
// if there are fewer leaves.
func (t *Tree) cost() float64 {
	within := t.variances()
	var ends []int
	steps := min(37, t.Leaves())
	for i := range steps + 1 {
		ends = append(ends, i*t.Leaves()/steps)
	}
	sum, n := 0.0, 0
	for i, lo := range ends {
		for _, hi := range ends[i+1:] {
			sum += t.variance(within, lo, hi)
			n++
		}
	}
	return float64(t.Height()) * sum / float64(n)
}

// variances is the variance of every node's count given the measurements of its own subtree, by
// level: V_v = 1/(1 + 1/ΣV), the sum over the children of v, in units of σ².
func (t *Tree) variances() [][]float64 {
	out := make([][]float64, t.Height()+1)
	for level := t.Height(); level >= 0; level-- {
		out[level] = make([]float64, t.counts[level])
		for i := range out[level] {
			if level == t.Height() {
				out[level][i] = 1
				continue
			}
			v := 0.0
			for lo, hi := t.children(level, i); lo < hi; lo++ {
				v += out[level+1][lo]
			}
			if level > 0 { // the root is not measured
				v = 1 / (1 + 1/v)
			}
			out[level][i] = v
		}
	}
	return out
}

// variance of the inferred count of the leaves lo to hi−1, in units of σ².
func (t *Tree) variance(within [][]float64, lo, hi int) float64 {
	p := t.part(within, 0, 0, lo, hi)
	return p.residual + p.slope*p.slope*within[0][0]
}

// part is what a range takes of a node, given the measurements of the node's own subtree. The count
// f of the leaves in the range is, with t the node's count, f = slope·t + an error of variance
// residual that is independent of t.
type part struct{ slope, residual float64 }

// part of node i. Children are independent given their own subtrees, so with t = Σt_c and f = Σf_c
//
//	slope = Σ slope_c·V_c/ΣV,   residual = Σ residual_c + Σ slope_c²·V_c − (Σ slope_c·V_c)²/ΣV.
//
// Measuring the node itself tells of t only and leaves both as they are.
func (t *Tree) part(within [][]float64, level, i, lo, hi int) part {
	from, to := t.span(level, i)
	switch {
	case hi <= from || to <= lo:
		return part{}
	case lo <= from && to <= hi:
		return part{slope: 1}
	}
	var p part
	var all, cross, square float64
	first, last := t.children(level, i)
	for k := first; k < last; k++ {
		v := within[level+1][k]
		q := t.part(within, level+1, k, lo, hi)
		p.residual += q.residual
		all += v
		cross += q.slope * v
		square += q.slope * q.slope * v
	}
	p.slope = cross / all
	p.residual += max(0, square-cross*cross/all)
	return p
}
