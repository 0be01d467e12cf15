package eval

import (
	"cmp"
	"slices"
)

// binSet is a set of bins.
type binSet [maxBins / 64]uint64

func (s *binSet) add(bin int)          { s[bin/64] |= 1 << (bin % 64) }
func (s *binSet) has(bin uint8) uint64 { return s[bin/64] >> (bin % 64) & 1 }

// node is a node of a tree: a leaf with a value, or a question.
type node struct {
	column int // −1: leaf
	value  float64
	left   binSet // bins of column that go to child[1]; all others go to child[0]
	child  [2]int
}

// tree is a binary tree; node 0 is its root.
type tree []node

// at returns the value of the leaf of row i.
func (t tree) at(rows [][]uint8, i int) float64 {
	n := &t[0]
	for n.column >= 0 {
		n = &t[n.child[n.left.has(rows[n.column][i])]]
	}
	return n.value
}

// cell is the sums over the rows of a node that have one bin of a column.
type cell struct {
	gradient, weight float64
	rows             float64
}

func (c *cell) add(d cell) {
	c.gradient += d.gradient
	c.weight += d.weight
	c.rows += d.rows
}

func (c cell) minus(d cell) cell {
	return cell{c.gradient - d.gradient, c.weight - d.weight, c.rows - d.rows}
}

// treeOptions says how a tree grows.
type treeOptions struct {
	leaves  int     // at most
	minRows float64 // in a leaf
	penalty float64 // λ of the leaf values
	smooth  float64 // pulls the order of rare categories together
}

// grower grows trees that minimise Σ gradient·value + ½·weight·value² over the
// rows, best split first. A leaf's value is −G/(W + λ), with G and W the sums of its
// gradients and weights, and a split gains by how much ½·G²/(W + λ) grows (Chen &
// Guestrin 2016, arXiv 1603.02754, equations 5 to 7). With weights 1 and gradients
// minus the targets that is least squares, and for 0/1 targets Gini's split.
type grower struct {
	bins     []bins
	rows     [][]uint8
	gradient []float64
	weight   []float64
	options  treeOptions

	order   []uint32 // rows of the tree; those of a node are together
	scratch []uint32
	tree    tree
	open    []*leaf // that may be split
}

// leaf is a leaf with its best split.
type leaf struct {
	node, lo, hi int // rows order[lo:hi]
	total        cell
	cells        [][]cell // by column and bin
	gain         float64
	column       int
	left         binSet
}

// grow returns a tree over the given rows, which it reorders.
func (g *grower) grow(rows []uint32) tree {
	g.order = rows
	if len(g.scratch) < len(rows) {
		g.scratch = make([]uint32, len(rows))
	}
	g.tree, g.open = tree{{}}, g.open[:0]
	root := &leaf{hi: len(rows)}
	for _, i := range rows {
		root.total.add(cell{g.gradient[i], g.weight[i], 1})
	}
	g.consider(root, nil, nil)
	for count := 1; count < g.options.leaves && len(g.open) > 0; count++ {
		best := slices.MinFunc(g.open, func(a, b *leaf) int {
			return cmp.Or(cmp.Compare(b.gain, a.gain), cmp.Compare(a.node, b.node))
		})
		g.open = slices.DeleteFunc(g.open, func(l *leaf) bool { return l == best })
		g.split(best)
	}
	return g.tree
}

// consider makes l a leaf and finds its best split. Its cells are parent's less
// those of sibling where these are given, which saves counting the larger child.
func (g *grower) consider(l *leaf, parent, sibling [][]cell) {
	g.tree[l.node] = node{column: -1, value: -l.total.gradient / (l.total.weight + g.options.penalty)}
	if l.total.rows < 2*g.options.minRows {
		return
	}
	l.cells = make([][]cell, len(g.rows))
	for k := range g.rows {
		if parent == nil {
			l.cells[k] = g.count(k, g.order[l.lo:l.hi])
		} else {
			l.cells[k] = parent[k]
			for bin := range parent[k] {
				parent[k][bin] = parent[k][bin].minus(sibling[k][bin])
			}
		}
		g.best(l, k, l.cells[k])
	}
	if l.gain > 0 {
		g.open = append(g.open, l)
	}
}

// count sums the rows by the bins of a column.
func (g *grower) count(column int, rows []uint32) []cell {
	cells := make([]cell, g.bins[column].size)
	bins := g.rows[column]
	for _, i := range rows {
		c := &cells[bins[i]]
		c.gradient += g.gradient[i]
		c.weight += g.weight[i]
		c.rows++
	}
	return cells
}

// best improves l's split by those of one column.
func (g *grower) best(l *leaf, column int, cells []cell) {
	c := g.bins[column]
	var present []int // bins in the order in which a prefix goes left
	for bin := range cells {
		if cells[bin].rows > 0 && bin != c.missing {
			present = append(present, bin)
		}
	}
	missing := cell{}
	if c.missing >= 0 {
		missing = cells[c.missing]
	}
	if !c.ordered {
		// The best of all partitions is a prefix in the order of the leaf values that the bins
		// alone would have (Fisher 1958).
		key := func(bin int) float64 {
			return cells[bin].gradient / (cells[bin].weight + g.options.smooth)
		}
		slices.SortStableFunc(present, func(a, b int) int { return cmp.Compare(key(a), key(b)) })
	}
	score := func(s cell) float64 {
		return s.gradient * s.gradient / (s.weight + g.options.penalty)
	}
	base := score(l.total)
	var left cell
	for k, bin := range present {
		left.add(cells[bin])
		for _, withMissing := range []bool{false, missing.rows > 0} {
			side := left
			if withMissing {
				side.add(missing)
			}
			other := l.total.minus(side)
			if side.rows < g.options.minRows || other.rows < g.options.minRows {
				continue
			}
			if gain := score(side) + score(other) - base; gain > l.gain+1e-9 {
				l.gain, l.column, l.left = gain, column, binSet{}
				g.mark(&l.left, c, cells, present, k+1, side.rows > other.rows)
				if withMissing {
					l.left.add(c.missing)
				}
			}
		}
	}
}

// mark puts the first k of the present bins into left. Bins that no row of the node has go
// with their neighbours of a number, and with the larger side of a category or if missing.
func (g *grower) mark(
	left *binSet, c bins, cells []cell, present []int, k int, leftIsLarger bool,
) {
	for _, bin := range present[:k] {
		left.add(bin)
	}
	for bin := range cells {
		switch {
		case cells[bin].rows > 0:
		case c.ordered && bin != c.missing:
			if bin <= present[k-1] {
				left.add(bin)
			}
		case leftIsLarger:
			left.add(bin)
		}
	}
}

// split splits a leaf and considers its children.
func (g *grower) split(l *leaf) {
	bins := g.rows[l.column]
	right := g.scratch[:0]
	at := l.lo
	for _, i := range g.order[l.lo:l.hi] {
		if l.left.has(bins[i]) == 1 {
			g.order[at] = i
			at++
		} else {
			right = append(right, i)
		}
	}
	copy(g.order[at:l.hi], right)
	first := len(g.tree)
	g.tree[l.node] = node{column: l.column, left: l.left, child: [2]int{first + 1, first}}
	g.tree = append(g.tree, node{}, node{})
	children := [2]*leaf{{node: first, lo: l.lo, hi: at}, {node: first + 1, lo: at, hi: l.hi}}
	for _, i := range g.order[l.lo:at] {
		children[0].total.add(cell{g.gradient[i], g.weight[i], 1})
	}
	children[1].total = l.total.minus(children[0].total)
	small, large := children[0], children[1]
	if small.hi-small.lo > large.hi-large.lo {
		small, large = large, small
	}
	g.consider(small, nil, nil)
	if small.cells == nil {
		l.cells = nil
	}
	g.consider(large, l.cells, small.cells)
}
