package marginal

import (
	"maps"
	"slices"
)

// Expect returns the expected value of Σ_rows Π_c w_c(code of column c): with weights 0 and 1 it is
// the expected number of rows whose codes are allowed in every weighted column. weights[c] has one
// entry a code of column c; columns without an entry weigh 1. Columns that are not there or weights
// of another length panic.
//
// It is exact: weighted sums go up the junction tree, over the part of it that connects the
// weighted columns, and a clique is first summed down to the columns that matter. No table over all
// weighted columns is formed, so a conjunction may touch any number of them. It is safe for
// concurrent use.
func (m *Model) Expect(weights map[int][]float64) float64 {
	t := m.tree
	for c, w := range weights {
		if c < 0 || c >= len(t.sizes) || len(w) != t.sizes[c] {
			panic("marginal: weights that do not fit the model's columns")
		}
	}
	if len(weights) == 0 {
		return m.total
	}
	want := colsetOf(len(t.sizes), slices.Collect(maps.Keys(weights))...)
	top := m.root(want)
	f, err := m.eliminate(top, top, want, newColset(len(t.sizes)), weights)
	if err != nil {
		panic(err) // its products are as large as a clique
	}
	return m.total * f.v[0]
}

// weigh multiplies a factor by the weights of its columns, except those in skip.
func weigh(sizes []int, f factor, weights map[int][]float64, skip []int) {
	for _, c := range f.cols {
		if weights[c] != nil && !slices.Contains(skip, c) {
			multiply(sizes, f, []int{c}, weights[c])
		}
	}
}

// Shares returns, for a column whose codes are merged, the share of each code in its group, and nil
// for any other column.
func (g *Grouping) Shares(col int) []float64 {
	c := g.columns[col]
	if c.group == nil {
		return nil
	}
	out := slices.Repeat([]float64{1}, c.codes)
	total := 0.0
	for _, w := range c.weights {
		total += float64(w)
	}
	for i, code := range c.rare {
		out[code] = float64(c.weights[i]) / total
	}
	return out
}

// Weights returns, for each group of a column, the share of it that falls to allowed codes: what
// Expect wants. allow has one entry a code, the share of it that is allowed: 0 to 1.
func (g *Grouping) Weights(col int, allow []float64) []float64 {
	c := g.columns[col]
	if len(allow) != c.codes {
		panic("marginal: Weights: a list that does not fit the column's codes")
	}
	out := make([]float64, c.groups())
	shares := g.Shares(col)
	for code, x := range allow {
		if c.group == nil {
			out[code] = x
		} else {
			out[c.group[code]] += x * shares[code]
		}
	}
	for i, x := range out {
		out[i] = min(x, 1)
	}
	return out
}
