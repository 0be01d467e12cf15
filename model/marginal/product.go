package marginal

import (
	"fmt"
	"math"
	"slices"
)

// FromFactors returns the model p(x) ∝ Π_i tables[i](x), such as the conditional tables of a
// Bayesian network, or those of independent groups of columns: sets cover every column, and
// tables[i] holds finite weights over sets[i], row-major in the order of its columns, last fastest.
// They are positive; those over columns that are in no other set may be 0, but for one. total is
// the number of rows, at least 1.
//
// Errors: a column out of range, twice in a set or in none; a table of another length, or with
// another weight; a junction tree of too many cells (errTooLarge).
func FromFactors(sizes []int, sets [][]int, tables [][]float64, total float64) (*Model, error) {
	o, uses := Options{Total: total}, make([]int, len(sizes))
	if err := o.check(sizes, nil); err != nil {
		return nil, err
	}
	tree, err := newJunctionTree(sizes, sets)
	if err != nil {
		return nil, err
	}
	terms := make([]resolution, len(sets))
	for i, cols := range sets {
		terms[i].cols = ranked(sizes, cols)
		for _, c := range cols {
			uses[c]++
		}
		if i >= len(tables) || float64(len(tables[i])) != cellsOf(sizes, cols) ||
			len(slices.Compact(slices.Clone(terms[i].cols))) < len(cols) {
			return nil, fmt.Errorf("no table of the size of columns %v", cols)
		}
	}
	if c := slices.Index(uses, 0); c >= 0 {
		return nil, fmt.Errorf("column %d is in no set", c)
	}
	p := newPropagator(tree, terms)
	theta := make([]float64, p.dim)
	for i, t := range p.terms {
		logs := theta[t.off:][:t.cells]
		transpose(logs, tables[i], sizes, sets[i], t.cols)
		alone := !slices.ContainsFunc(t.cols, func(c int) bool { return uses[c] > 1 })
		for k, x := range logs {
			if logs[k] = math.Log(x); !(x <= math.MaxFloat64 && (x > 0 || alone && x == 0)) {
				return nil, fmt.Errorf("a weight %v over columns %v", x, sets[i])
			}
		}
		if math.IsInf(slices.Max(logs), -1) {
			return nil, fmt.Errorf("no weight over columns %v", sets[i])
		}
	}
	p.run(make([]float64, p.dim), theta)
	return newModel(tree, p.tables(), total), nil
}
