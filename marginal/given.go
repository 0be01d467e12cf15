package marginal

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// ErrImpossible is wrapped by an error about a condition that holds for no row of a model.
var ErrImpossible = errors.New("no row of the model satisfies the condition")

// tiny is a probability below which a condition counts as impossible: ratios of smaller numbers are
// not to be trusted.
const tiny = 1e-280

// Given returns the distribution of the rows given a condition on each weighted column: p(x)·Π_c
// w_c(x_c), normalised. Weights of 0 and 1 allow codes; a weight between them is the probability of
// keeping a row with the code. weights[c] has one entry, from 0 to 1, a code of column c; columns
// that are not there or weights of another length panic. The total of the new model is the expected
// number of rows that are kept (see Expect); it may be below 1.
//
// It is exact: the weights of a column go into the one clique where the column first occurs from
// the root, ratios of weighted to unweighted sums go up the junction tree, and the tables are
// normalised on the way down. It takes about as long as one iteration of Fit, and as much memory as
// the model. If nothing is kept, the error is ErrImpossible.
func (m *Model) Given(weights map[int][]float64) (*Model, error) {
	t := m.tree
	m.checkWeights(weights)
	k := len(t.cliques)
	// kept and plain: over the separators
	p, kept, plain := make([]factor, k), make([][]float64, k), make([][]float64, k)
	for i := range k {
		p[i] = factor{t.cliques[i], slices.Clone(m.p[i])}
	}
	for i := k - 1; i >= 0; i-- { // children, which come later, have sent their ratios
		if i > 0 {
			plain[i] = project(t.sizes, m.table(i), t.seps[i]).v
		}
		weigh(t.sizes, p[i], weights, t.seps[i])
		if i > 0 {
			kept[i] = project(t.sizes, p[i], t.seps[i]).v
			multiply(t.sizes, p[t.parent[i]], t.seps[i], ratio(kept[i], plain[i]))
		}
	}
	share := 1.0
	if k > 0 {
		share = floats.Sum(p[0].v)
	}
	if !(share > tiny) {
		return nil, ErrImpossible
	}
	tables := make([][]float64, k)
	for i := range k {
		tables[i] = p[i].v
		if i == 0 {
			for j := range tables[0] {
				tables[0][j] /= share
			}
			continue
		}
		up := project(t.sizes, p[t.parent[i]], t.seps[i]).v
		multiply(t.sizes, p[i], t.seps[i], ratio(up, kept[i]))
	}
	return newModel(t, tables, m.total*share), nil
}

// ratio is a/b, and 0 where b is next to nothing.
func ratio(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i, x := range a {
		if b[i] > tiny {
			out[i] = x / b[i]
		}
	}
	return out
}

// Weights returns, for each group of a column, the share of it that falls to allowed codes: what
// Given wants. allow has one entry a code, the share of it that is allowed: 0 to 1.
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

// Given returns the grouping of rows of whose codes shares are allowed, to go with Model.Given:
// Expand then makes allowed codes only, in proportion. allow has one entry a code, as Weights, for
// each listed column.
func (g *Grouping) Given(allow map[int][]float64) *Grouping {
	out := &Grouping{columns: slices.Clone(g.columns)}
	for col, shares := range allow {
		c := &out.columns[col]
		if c.group == nil || !slices.ContainsFunc(c.rare,
			func(code uint16) bool { return shares[code] > 0 }) {
			continue // no row gets into a group without an allowed code
		}
		scale := 1.0
		if slices.ContainsFunc(c.rare,
			func(code uint16) bool { return shares[code] > 0 && shares[code] < 1 }) {
			scale = math.MaxUint32 / maxWeight
		}
		c.weights = slices.Clone(c.weights)
		for i, code := range c.rare {
			x := math.Round(float64(c.weights[i]) * scale * min(shares[code], 1))
			if shares[code] > 0 {
				x = max(x, 1)
			}
			c.weights[i] = uint32(x)
		}
	}
	return out
}
