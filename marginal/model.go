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
	m.below, m.under = make([]colset, len(t.cliques)), colsets(len(t.cliques), len(t.sizes))
	for i, q := range t.cliques {
		part := i
		if len(t.seps[i]) > 0 {
			part = m.part[t.seps[i][0]]
		}
		for _, c := range q {
			m.part[c] = part
		}
		m.holds[i] = colsetOf(len(t.sizes), q...)
		m.below[i] = m.holds[i].clone()
	}
	for i := len(t.cliques) - 1; i > 0; i-- {
		m.below[t.parent[i]].union(m.below[i])
		m.below[i].each(func(c int) {
			if !m.holds[t.parent[i]].has(c) {
				m.under[i].add(c)
			}
		})
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

// children are those of clique i with wanted columns below them that it does not hold.
func (m *Model) children(i int, want colset) (kids []int) {
	for k := i + 1; k < len(m.tree.cliques); k++ {
		if m.tree.parent[k] == i && want.overlap(m.under[k]).count() > 0 {
			kids = append(kids, k)
		}
	}
	return kids
}

// table is the probabilities of a clique.
func (m *Model) table(i int) factor { return factor{m.tree.cliques[i], m.p[i]} }
