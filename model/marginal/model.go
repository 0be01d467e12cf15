package marginal

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Model is a distribution over discrete columns that factors over a junction tree, with the number
// of rows it stands for. It is immutable and safe for concurrent use.
type Model struct {
	tree  *junctionTree
	p     [][]float64 // probabilities per clique, rank order, each sums to 1; separators agree
	total float64
	path  *path // how Fit came here, nil after decoding

	holds, below []colset // columns of a clique; of it and all below
	under        []colset // those below that the parent does not hold
	part         []int    // of each column: those of different parts are independent

	kept  sync.Map // factors of (clique, column below), for further answers
	cells atomic.Int64
}

// newModel takes ownership of its arguments.
func newModel(t *junctionTree, p [][]float64, total float64) *Model {
	m := &Model{tree: t, p: p, total: total, part: make([]int, len(t.sizes))}
	m.holds = make([]colset, len(t.cliques))
	m.below, m.under = make([]colset, len(t.cliques)), make([]colset, len(t.cliques))
	for i, q := range t.cliques {
		part := i
		if len(t.seps[i]) > 0 {
			part = m.part[t.seps[i][0]]
		}
		for _, c := range q {
			m.part[c] = part
		}
		m.holds[i] = colsetOf(len(t.sizes), q...)
		m.below[i] = slices.Clone(m.holds[i])
	}
	for i := len(t.cliques) - 1; i > 0; i-- {
		m.below[t.parent[i]].union(m.below[i])
		m.under[i] = slices.Clone(m.below[i])
		for _, c := range t.seps[i] {
			m.under[i].remove(c)
		}
	}
	return m
}

// Sizes returns the number of codes of each column.
func (m *Model) Sizes() []int { return slices.Clone(m.tree.sizes) }

// Total returns the number of rows that the model stands for: given, or estimated from the
// measurements; at least 1 and rarely whole.
func (m *Model) Total() float64 { return m.total }

// Cliques returns the columns of each clique of the junction tree, increasing.
func (m *Model) Cliques() [][]int {
	out := make([][]int, len(m.tree.cliques))
	for i, q := range m.tree.cliques {
		out[i] = slices.Sorted(slices.Values(q))
	}
	return out
}

// root is where an answer about the wanted columns begins: the smallest clique that holds all of
// them, or else the lowest one with all of them at or below it.
func (m *Model) root(want colset) int {
	best, top, t := -1, 0, m.tree
	for i := range t.cliques { // a child comes after its parent
		if want.within(m.holds[i]) && (best < 0 || len(m.p[i]) < len(m.p[best])) {
			best = i
		}
		if t.parent[i] == top && want.within(m.below[i]) {
			top = i
		}
	}
	if best >= 0 {
		return best
	}
	return top
}

// Conditionals are the distributions of one column of a model given all others. They are safe for
// concurrent use.
type Conditionals struct {
	of [][]conditional // of each column: the cliques that hold it
}

// conditional is a clique's table given its separator, as one of its columns sees it.
type conditional struct {
	given   []float64
	stride  int   // of the column
	others  []int // the clique's other columns
	strides []int
}

// tiny is a probability below which a condition counts as impossible: ratios of smaller numbers are
// not to be trusted.
const tiny = 1e-280

// Conditionals prepares them: it takes as much memory as the model.
func (m *Model) Conditionals() *Conditionals {
	t := m.tree
	out := &Conditionals{make([][]conditional, len(t.sizes))}
	for i, q := range t.cliques {
		f := factor{q, slices.Clone(m.p[i])}
		given(t.sizes, f, t.seps[i])
		stride, all := strides(t.sizes, q), make([]int, len(q))
		for k, c := range q {
			all[k] = stride[c]
		}
		for k, c := range q {
			out.of[c] = append(out.of[c], conditional{f.v, all[k],
				slices.Delete(slices.Clone(q), k, k+1), slices.Delete(slices.Clone(all), k, k+1)})
		}
	}
	return out
}

// given divides a factor, in place, by its sums over cols, which it holds, in rank order.
func given(sizes []int, f factor, cols []int) {
	each := project(sizes, f, cols).v
	for j, x := range each {
		if each[j] = 0; x > tiny {
			each[j] = 1 / x
		}
	}
	multiply(sizes, f, cols, each)
}

// To sets dst to the probabilities of the codes of column c of row i, given the other codes of the
// row, up to a factor. codes are column-major.
func (c *Conditionals) To(dst []float32, codes [][]uint16, i, col int) {
	for k := range dst {
		dst[k] = 1
	}
	for _, q := range c.of[col] {
		at, top := 0, float32(0)
		for k, other := range q.others {
			at += int(codes[other][i]) * q.strides[k]
		}
		for k := range dst {
			dst[k] *= float32(q.given[at+k*q.stride])
			top = max(top, dst[k])
		}
		if top > 0 && top < 1e-9 { // so that no product becomes 0
			for k := range dst {
				dst[k] /= top
			}
		}
	}
}
