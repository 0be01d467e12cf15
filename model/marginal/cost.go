package marginal

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
)

// errTooLarge is wrapped by every error that refuses a junction tree or an answer for its number of
// cells; the error says the number.
var errTooLarge = errors.New("too many cells")

// maxCells is the largest table that plans can index.
const maxCells = 1<<31 - 1

// TreeCells returns the number of cells of the junction tree that Fit would build for measurements
// of these cliques: the memory of a model is 8 bytes for each, that of fitting about 30. It is for
// planning what to measure and takes well under a millisecond for 100 columns. sizes are the codes
// of each column, ≥ 1; cliques list columns, in any order.
//
// Errors: a column out of range, a size below 1, or a tree beyond 2³¹ cells (errTooLarge).
func TreeCells(sizes []int, cliques [][]int) (cells int, err error) {
	g, err := newGraph(sizes, cliques)
	if err != nil {
		return 0, err
	}
	_, n := g.complete(g.all, nil, 0, math.Inf(1))
	if n > maxCells {
		return 0, fmt.Errorf("a junction tree of %.4g cells: %w", n, errTooLarge)
	}
	return int(n), nil
}

// Beside returns what reports whether [TreeCells] of the cliques and one more, over cols, is at
// most most. That is far faster than to compute it, and may be called concurrently.
//
// Columns whose neighbours are all joined are eliminated first, whichever others are, and one by
// one: what is left, and all cliques, do not depend on their order. So those that no edge of the
// new clique can concern are eliminated here, once for all.
func Beside(sizes []int, cliques [][]int) func(cols []int, most float64) bool {
	g, err := newGraph(sizes, cliques)
	if err != nil {
		return func([]int, float64) bool { return false }
	}
	n := len(sizes)
	var order []int // in which they are eliminated
	var found []colset
	var cells []float64 // of the cliques found; 0 of one inside another
	core := slices.Clone(g.all)
	for before := -1; before < len(order); {
		before = len(order)
		for c := range core.each {
			q := g.adj[c].overlap(core)
			cols := slices.Collect(q.each)
			if slices.ContainsFunc(cols, func(d int) bool { return !q.within(g.adj[d]) }) {
				continue
			}
			own := 0.0
			if !inside(found, q, c) {
				own = cellsOf(sizes, cols)
			}
			order, found, cells = append(order, c), append(found, q), append(cells, own)
			core.remove(c)
		}
	}
	graphs := sync.Pool{New: func() any { h, _ := newGraph(sizes, cliques); return h }}
	return func(cols []int, most float64) bool {
		h, left, gone, sum := graphs.Get().(*graph), slices.Clone(core), make([]colset, 0, n), 0.0
		defer graphs.Put(h)
		for _, c := range cols {
			left.add(c)
		}
		h.join(cols)
		for i, c := range order {
			if left.has(c) {
				left.union(found[i]) // a new edge may concern all of them
				continue
			}
			gone, sum = append(gone, found[i]), sum+cells[i]
		}
		_, all := h.complete(left, gone, sum, math.Min(most, maxCells))
		for _, c := range cols {
			copy(h.adj[c], g.adj[c])
		}
		return all <= most
	}
}
