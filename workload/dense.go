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
	cells   int
	root    *denseNode
	out     []denseItem
	buffers [][]float64 // one buffer a depth
}

// denseNode is a marginal that is computed: from its parent, by summing out one column.
type denseNode struct {
	cols, sizes []int
	cells       int
	n, inner    int // the summed column's codes in the parent, and cells behind it
	items       []int
	kids        []*denseNode
}

// denseItem is what an item takes from its marginal.
type denseItem struct {
	count bool
	runs  []Run // count: the cells that are added
	cells int   // marginal: how many
}

// NewDense prepares items for tables over cols, whose numbers of codes are sizes[c]; the cells of a
// table are row-major in the order of cols, the last fastest. Every item must touch only columns in
// cols, and its own columns in the order of cols if it is a marginal.
//
// Errors: an item that does not fit; a table of 2³¹ cells or more (ErrTooLarge).
func NewDense(sizes, cols []int, items []Item) (*Dense, error) {
	d := &Dense{sizes: sizes, out: make([]denseItem, len(items))}
	own := make([]int, len(cols))
	cells := 1.0
	for i, c := range cols {
		own[i] = sizes[c]
		cells *= float64(sizes[c])
	}
	if cells > math.MaxInt32 {
		return nil, fmt.Errorf("workload: %w cells: %.4g", ErrTooLarge, cells)
	}
	d.cells = int(cells)
	d.root = &denseNode{cols: cols, sizes: own, cells: d.cells}
	needs := make([]need, 0, len(items))
	for i, it := range items {
		touched := it.Columns()
		if !it.IsCount() {
			touched = it.Cols
		}
		n := need{item: i, in: make([]bool, len(cols))}
		last := -1
		for _, c := range touched {
			k := slices.Index(cols, c)
			if k < 0 || !it.IsCount() && k < last {
				return nil, fmt.Errorf("workload: item %d touches column %d, which the table "+
					"does not have, or not in this order: %w", i, c, ErrInvalid)
			}
			last = k
			n.in[k], n.columns = true, n.columns+1
		}
		needs = append(needs, n)
	}
	d.grow(d.root, 0, needs)
	d.attach(d.root, items)
	return d, nil
}

// need is the columns of an item among those of a node.
type need struct {
	item    int
	columns int
	in      []bool
}

// grow hangs below a node what computes the needs: again and again it sums out the column that most
// of the remaining needs lack, the one of most codes among equals.
func (d *Dense) grow(n *denseNode, depth int, needs []need) {
	for len(d.buffers) <= depth {
		d.buffers = append(d.buffers, nil)
	}
	if depth > 0 && len(d.buffers[depth]) < n.cells {
		d.buffers[depth] = make([]float64, n.cells)
	}
	left := needs[:0:0]
	for _, x := range needs {
		if x.columns == len(n.cols) {
			n.items = append(n.items, x.item)
		} else {
			left = append(left, x)
		}
	}
	for len(left) > 0 {
		best, most := -1, 0
		for k := range n.cols {
			lack := 0
			for _, x := range left {
				if !x.in[k] {
					lack++
				}
			}
			if lack > most || lack == most && best >= 0 && n.sizes[k] > n.sizes[best] {
				best, most = k, lack
			}
		}
		kid := &denseNode{cols: slices.Delete(slices.Clone(n.cols), best, best+1),
			sizes: slices.Delete(slices.Clone(n.sizes), best, best+1)}
		kid.n, kid.inner, kid.cells = n.sizes[best], 1, n.cells/n.sizes[best]
		for _, s := range n.sizes[best+1:] {
			kid.inner *= s
		}
		var theirs, rest []need
		for _, x := range left {
			if x.in[best] {
				rest = append(rest, x)
				continue
			}
			x.in = slices.Delete(slices.Clone(x.in), best, best+1)
			theirs = append(theirs, x)
		}
		n.kids = append(n.kids, kid)
		d.grow(kid, depth+1, theirs)
		left = rest
	}
}

// attach prepares the items of the nodes.
func (d *Dense) attach(n *denseNode, items []Item) {
	for _, i := range n.items {
		if !items[i].IsCount() {
			d.out[i] = denseItem{cells: n.cells}
			continue
		}
		d.out[i] = denseItem{count: true, cells: 1, runs: Runs(items[i].Where, d.sizes, n.cols)}
	}
	for _, kid := range n.kids {
		d.attach(kid, items)
	}
}

// AnswersTo writes the answer of each item to dst, which has one slice an item, of one number for a
// count and of its cells for a marginal. weights is the table. It panics if a length is wrong.
func (d *Dense) AnswersTo(dst Answers, weights []float64) {
	if len(weights) != d.cells || len(dst) != len(d.out) {
		panic(fmt.Sprintf("workload: %d cells for %d, %d answers for %d items", len(weights),
			d.cells, len(dst), len(d.out)))
	}
	d.answer(dst, d.root, weights, 0)
}

func (d *Dense) answer(dst Answers, n *denseNode, v []float64, depth int) {
	for _, i := range n.items {
		it := &d.out[i]
		if len(dst[i]) != it.cells {
			panic(fmt.Sprintf("workload: %d numbers for the %d of item %d", len(dst[i]), it.cells, i))
		}
		if !it.count {
			copy(dst[i], v)
			continue
		}
		sum := 0.0
		for _, r := range it.runs {
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
