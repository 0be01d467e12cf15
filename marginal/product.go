package marginal

import (
	"fmt"
	"math"
	"slices"
)

// FromTables returns the model of independent groups of columns: cliques are disjoint and cover
// every column, tables[i] holds non-negative weights over cliques[i], row-major in the order of its
// columns, last fastest, with a positive finite sum that need not be 1. total is the number of
// rows, at least 1.
//
// Errors: a column out of range, twice or left out; a table of another length, with a negative or
// infinite weight, or without any; more cells than Options.MaxCells allows by default
// (errTooLarge).
func FromTables(sizes []int, cliques [][]int, tables [][]float64, total float64) (*Model, error) {
	if len(sizes) == 0 || len(sizes) > maxColumns || len(cliques) != len(tables) {
		return nil, fmt.Errorf("marginal: %d columns, %d cliques, %d tables", len(sizes),
			len(cliques), len(tables))
	}
	if !(total >= 1 && total <= math.MaxFloat64) {
		return nil, fmt.Errorf("marginal: total %v, want ≥ 1 and finite", total)
	}
	t := &junctionTree{sizes: slices.Clone(sizes)}
	seen, cells := newColset(len(sizes)), 0.0
	for _, clique := range cliques {
		for _, c := range clique {
			if c < 0 || c >= len(sizes) || seen.has(c) || sizes[c] < 1 || sizes[c] > maxCodes {
				return nil, fmt.Errorf("marginal: column %d is out of range, in two cliques or "+
					"has a size out of range", c)
			}
			seen.add(c)
		}
		cells += cellsOf(sizes, clique)
	}
	if n := seen.count(); n != len(sizes) {
		return nil, fmt.Errorf("marginal: %d columns are in no clique", len(sizes)-n)
	}
	if cells > defaultMaxCells {
		return nil, fmt.Errorf("marginal: cliques of %.4g cells, limit %d: %w", cells,
			defaultMaxCells, errTooLarge)
	}
	// The first clique is the root, all others hang below it by empty separators.
	p := make([][]float64, len(cliques))
	for i, clique := range cliques {
		if len(clique) == 0 || float64(len(tables[i])) != cellsOf(sizes, clique) {
			return nil, fmt.Errorf("marginal: a table of %d cells over columns %v",
				len(tables[i]), clique)
		}
		sum := 0.0
		for _, x := range tables[i] {
			if !(x >= 0) {
				return nil, fmt.Errorf("marginal: a weight over columns %v is not ≥ 0", clique)
			}
			sum += x
		}
		if !(sum > 0 && sum <= math.MaxFloat64) {
			return nil, fmt.Errorf("marginal: weights over columns %v sum to %v", clique, sum)
		}
		order := ranked(sizes, clique)
		p[i] = make([]float64, len(tables[i]))
		transpose(p[i], tables[i], sizes, clique, order)
		for j := range p[i] {
			p[i][j] /= sum
		}
		t.cliques = append(t.cliques, order)
		t.parent = append(t.parent, min(i, 1)-1)
		t.seps = append(t.seps, nil)
	}
	return newModel(t, p, total, defaultMaxCells), nil
}

// FromFactors returns the model p(x) ∝ Π_i tables[i](x), such as the conditional tables of a
// Bayesian network: sets cover every column, and tables[i] holds positive, finite weights over
// sets[i], row-major in the order of its columns, last fastest. total is the number of rows, at
// least 1.
//
// Errors are those of [FromTables], but that a column may be in several sets, and that the cells
// which are limited are those of the junction tree.
func FromFactors(sizes []int, sets [][]int, tables [][]float64, total float64) (*Model, error) {
	o, seen := Options{Total: total}, newColset(len(sizes))
	if err := o.check(sizes, nil); err != nil {
		return nil, err
	}
	if len(sets) != len(tables) {
		return nil, fmt.Errorf("marginal: %d sets of columns, %d tables", len(sets), len(tables))
	}
	tree, err := newJunctionTree(sizes, sets, o.MaxCells)
	if err != nil {
		return nil, err
	}
	terms := make([]resolution, len(sets))
	for i, cols := range sets {
		terms[i].cols = ranked(sizes, cols)
		if n := colsetOf(len(sizes), cols...); n.count() != len(cols) ||
			float64(len(tables[i])) != cellsOf(sizes, cols) {
			return nil, fmt.Errorf("marginal: a table of %d cells over columns %v", len(tables[i]), cols)
		}
		seen.union(colsetOf(len(sizes), cols...))
	}
	if n := seen.count(); n != len(sizes) {
		return nil, fmt.Errorf("marginal: %d columns are in no set", len(sizes)-n)
	}
	p := newPropagator(tree, terms)
	theta := make([]float64, p.dim)
	for i, t := range p.terms {
		logs := theta[t.off:][:t.cells]
		transpose(logs, tables[i], sizes, sets[i], t.cols)
		for k, x := range logs {
			if logs[k] = math.Log(x); !(math.Abs(logs[k]) <= math.MaxFloat64) {
				return nil, fmt.Errorf("marginal: a weight %v over columns %v", x, sets[i])
			}
		}
	}
	p.run(make([]float64, p.dim), theta)
	return newModel(tree, p.tables(), total, o.MaxCells), nil
}

// Apart returns the grouping in which columns of at most so many codes merge nothing.
func (g *Grouping) Apart(codes int) *Grouping {
	out := &Grouping{columns: slices.Clone(g.columns)}
	for i, c := range out.columns {
		if c.codes <= codes {
			out.columns[i] = grouped{codes: c.codes}
		}
	}
	return out
}

// NoGroups returns the grouping that merges nothing.
func NoGroups(sizes []int) *Grouping {
	g := &Grouping{columns: make([]grouped, len(sizes))}
	for i, n := range sizes {
		g.columns[i].codes = n
	}
	return g
}
