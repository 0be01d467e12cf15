package workload

import (
	"fmt"
	"math"
	"slices"
)

// Dense answers items again and again on tables of weights over some columns, as an iterative
// method does. The items are fixed when it is made; all the marginals they need are then summed
// from one another, largest first, so that a table of 10⁶ cells is passed over a few times and not
// once an item: a thousand counts of up to three of six columns cost about six passes. Counts add
// cells of these marginals.
//
// It is not safe for concurrent use.
type Dense struct {
	sizes   []int // of all columns
	items   []Item
	root    *denseNode
	buffers [][]float64 // one buffer a depth
}

// denseNode is a marginal that is computed: from its parent, by summing out one column.
type denseNode struct {
	cols     []int
	cells    int
	n, inner int // the summed column's codes in the parent, and cells behind it
	items    []int
	runs     [][]Run // of each item that is a count: the cells that are added
	kids     []*denseNode
}

// NewDense prepares items for tables over cols, whose numbers of codes are sizes[c]; the cells of a
// table are row-major in the order of cols, the last fastest. Every item must touch only columns in
// cols, which are increasing, as are those of a marginal.
//
// Errors: an item that does not fit; a table of 2³¹ cells or more (ErrTooLarge).
func NewDense(sizes, cols []int, items []Item) (*Dense, error) {
	d := &Dense{sizes: sizes, items: items}
	cells := Item{Cols: cols}.cells(sizes)
	if cells > math.MaxInt32 {
		return nil, fmt.Errorf("%w cells: %.4g", ErrTooLarge, cells)
	}
	d.root = &denseNode{cols: cols, cells: int(cells)}
	all := make([]int, len(items))
	for i, it := range items {
		all[i] = i
		if !slices.IsSorted(it.Cols) || slices.ContainsFunc(it.Columns(),
			func(c int) bool { return !slices.Contains(cols, c) }) {
			return nil, fmt.Errorf("item %d touches columns that the table does not have, or "+
				"not in this order: %w", i, ErrInvalid)
		}
	}
	d.grow(d.root, 0, all)
	return d, nil
}

// grow prepares the items of left that touch all columns of a node, and hangs below it what
// computes the others: those that lack the same first column go on without it.
func (d *Dense) grow(n *denseNode, depth int, left []int) {
	if len(d.buffers) <= depth {
		d.buffers = append(d.buffers, nil)
	}
	if depth > 0 && len(d.buffers[depth]) < n.cells {
		d.buffers[depth] = make([]float64, n.cells)
	}
	lacking := make([][]int, len(n.cols))
	for _, i := range left {
		touched := d.items[i].Columns()
		k := slices.IndexFunc(n.cols, func(c int) bool { return !slices.Contains(touched, c) })
		if k >= 0 {
			lacking[k] = append(lacking[k], i)
			continue
		}
		var runs []Run
		if d.items[i].IsCount() {
			runs = Runs(d.items[i].Where, d.sizes, n.cols)
		}
		n.items, n.runs = append(n.items, i), append(n.runs, runs)
	}
	for k, some := range lacking {
		if some == nil {
			continue
		}
		kid := &denseNode{cols: slices.Delete(slices.Clone(n.cols), k, k+1), n: d.sizes[n.cols[k]]}
		kid.cells = n.cells / kid.n
		kid.inner = int(Item{Cols: n.cols[k+1:]}.cells(d.sizes))
		n.kids = append(n.kids, kid)
		d.grow(kid, depth+1, some)
	}
}

// AnswersTo writes the answer of each item to dst, which has one slice an item, of one number for a
// count and of its cells for a marginal. weights is the table. It panics if there are fewer.
func (d *Dense) AnswersTo(dst Answers, weights []float64) { d.answer(dst, d.root, weights, 0) }

func (d *Dense) answer(dst Answers, n *denseNode, v []float64, depth int) {
	v = v[:n.cells]
	for k, i := range n.items {
		if !d.items[i].IsCount() {
			copy(dst[i][:n.cells], v)
			continue
		}
		sum := 0.0
		for _, r := range n.runs[k] {
			for _, x := range v[r.Lo:r.Hi] {
				sum += x
			}
		}
		dst[i][0] = sum
	}
	for _, kid := range n.kids {
		to := d.buffers[depth+1][:kid.cells]
		sumOut(to, v, kid.n, kid.inner)
		d.answer(dst, kid, to, depth+1)
	}
}

// sumOut sums a column of n codes, with inner cells behind each, out of v.
func sumOut(dst, v []float64, n, inner int) {
	if inner == 1 {
		for i := range dst {
			row := v[i*n : (i+1)*n]
			s := 0.0
			for _, x := range row {
				s += x
			}
			dst[i] = s
		}
		return
	}
	for o := 0; o < len(dst); o += inner {
		to := dst[o : o+inner]
		copy(to, v[:inner])
		for k := 1; k < n; k++ {
			from := v[k*inner : (k+1)*inner]
			from = from[:len(to)]
			for j, x := range from {
				to[j] += x
			}
		}
		v = v[n*inner:]
	}
}
