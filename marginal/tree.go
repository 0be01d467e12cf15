package marginal

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// errTooLarge is wrapped by every error that refuses a junction tree or an answer for its number of
// cells; the error says the number.
var errTooLarge = errors.New("too many cells")

// maxCells is the largest table that plans can index.
const maxCells = 1<<31 - 1

// A junctionTree is a tree of cliques in which the cliques that hold a column are connected
// (running intersection). Disconnected parts hang together by empty separators. Every list of
// columns is in rank order: by size, then number, so that the longest column is the last and
// fastest of every table.
type junctionTree struct {
	sizes   []int
	cliques [][]int // parents before children
	parent  []int   // -1 for the first
	seps    [][]int // columns shared with the parent
}

// ranked is cols in rank order: by size, then number.
func ranked(sizes, cols []int) []int {
	cols = slices.Clone(cols)
	slices.SortFunc(cols, func(a, b int) int {
		return cmp.Or(cmp.Compare(sizes[a], sizes[b]), cmp.Compare(a, b))
	})
	return cols
}

// newJunctionTree builds the tree: a maximum-weight spanning tree over the sizes of the cliques'
// intersections, rooted at the clique of most cells. Jensen and Jensen, Optimal junction trees (UAI
// 1994), theorem 1.
func newJunctionTree(sizes []int, cliques [][]int) (*junctionTree, error) {
	sets, cells, err := triangulate(sizes, cliques)
	if err != nil {
		return nil, err
	}
	if cells > mostCells {
		return nil, fmt.Errorf("marginal: a junction tree of %.4g cells, limit %d: %w", cells,
			mostCells, errTooLarge)
	}
	k := len(sets)
	t := &junctionTree{sizes: slices.Clone(sizes)}
	cols := make([][]int, k)
	root := 0
	for i, s := range sets {
		cols[i] = ranked(sizes, s.cols())
		if cellsOf(sizes, cols[i]) > cellsOf(sizes, cols[root]) {
			root = i
		}
	}
	// Prim's algorithm; position[i] is the position in the tree, -1 while out.
	position := make([]int, k)
	weight := make([]int, k)
	near := make([]int, k)
	for i := range k {
		position[i], weight[i] = -1, -1
	}
	for next := root; ; {
		position[next] = len(t.cliques)
		t.cliques = append(t.cliques, cols[next])
		if next == root {
			t.parent = append(t.parent, -1)
			t.seps = append(t.seps, nil)
		} else {
			t.parent = append(t.parent, position[near[next]])
			t.seps = append(t.seps, shared(cols[next], sets[near[next]]))
		}
		if len(t.cliques) == k {
			return t, nil
		}
		joined := next
		next = -1
		for i := range k {
			if position[i] >= 0 {
				continue
			}
			if w := sets[i].overlap(sets[joined]).count(); w > weight[i] {
				weight[i], near[i] = w, joined
			}
			if next < 0 || weight[i] > weight[next] {
				next = i
			}
		}
	}
}

// shared returns the columns of cols that are in the set, in order.
func shared(cols []int, set colset) []int {
	var out []int
	for _, c := range cols {
		if set.has(c) {
			out = append(out, c)
		}
	}
	return out
}

// TreeCells returns the number of cells of the junction tree that Fit would build for measurements
// of these cliques: the memory of a model is 8 bytes for each, that of fitting about 30. It is for
// planning what to measure and takes well under a millisecond for 100 columns. sizes are the codes
// of each column, ≥ 1; cliques list columns, in any order.
//
// Errors: a column out of range, a size below 1, or a tree beyond 2³¹ cells (errTooLarge).
func TreeCells(sizes []int, cliques [][]int) (cells int, err error) {
	_, n, err := triangulate(sizes, cliques)
	if err != nil {
		return 0, err
	}
	if n > maxCells {
		return 0, fmt.Errorf("marginal: a junction tree of %.4g cells: %w", n, errTooLarge)
	}
	return int(n), nil
}
