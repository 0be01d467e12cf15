package marginal

import "slices"

// Model is a distribution over discrete columns that factors over a junction tree, with the number
// of rows it stands for. It is immutable and safe for concurrent use.
type Model struct {
	tree  *junctionTree
	p     [][]float64 // probabilities per clique, rank order, each sums to 1; separators agree
	total float64
	limit int   // cells of an answer
	path  *path // how Fit came here, nil after decoding

	holds, below []colset // columns of a clique; of it and all below
}

// newModel takes ownership of its arguments.
func newModel(t *junctionTree, p [][]float64, total float64, limit int) *Model {
	m := &Model{tree: t, p: p, total: total, limit: limit}
	m.holds = make([]colset, len(t.cliques))
	m.below = make([]colset, len(t.cliques))
	for i, q := range t.cliques {
		m.holds[i] = newColset(len(t.sizes))
		for _, c := range q {
			m.holds[i].add(c)
		}
		m.below[i] = m.holds[i].clone()
	}
	for i := len(t.cliques) - 1; i > 0; i-- {
		m.below[t.parent[i]].union(m.below[i])
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
