package marginal

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"
)

// colset is a set of columns, one bit each.
type colset []uint64

func newColset(n int) colset { return make(colset, (n+63)/64) }

// colsetOf is the set of these columns of n.
func colsetOf(n int, cols ...int) colset {
	s := newColset(n)
	for _, c := range cols {
		s.add(c)
	}
	return s
}

// allColumns is the set of all n columns.
func allColumns(n int) colset {
	s := newColset(n)
	for c := range n {
		s.add(c)
	}
	return s
}

// colsets is k empty sets of columns of n.
func colsets(k, n int) []colset {
	words := (n + 63) / 64
	backing, out := make(colset, k*words), make([]colset, k)
	for i := range out {
		out[i] = backing[i*words : (i+1)*words : (i+1)*words]
	}
	return out
}

func (s colset) add(c int)      { s[c>>6] |= 1 << (c & 63) }
func (s colset) remove(c int)   { s[c>>6] &^= 1 << (c & 63) }
func (s colset) has(c int) bool { return s[c>>6]>>(c&63)&1 != 0 }
func (s colset) union(t colset) {
	for i := range s {
		s[i] |= t[i]
	}
}
func (s colset) overlap(t colset) colset {
	out := s.clone()
	for i := range out {
		out[i] &= t[i]
	}
	return out
}
func (s colset) clone() colset { return slices.Clone(s) }
func (s colset) within(t colset) bool {
	for i := range s {
		if s[i]&^t[i] != 0 {
			return false
		}
	}
	return true
}
func (s colset) count() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}
func (s colset) each(f func(c int)) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			f(i<<6 + bits.TrailingZeros64(w))
		}
	}
}
func (s colset) cols() []int {
	out := make([]int, 0, s.count())
	s.each(func(c int) { out = append(out, c) })
	return out
}

// A scoring ranks the columns for elimination: the lowest goes next. fill is the number of edges
// that eliminating the column adds, weight the number of cells of the clique it forms, both ≥ 1
// where they matter.
type scoring func(fill, weight float64) (first, second float64)

// scorings are the greedy rules tried; the triangulation with the fewest cells wins. Koller and
// Friedman, Probabilistic Graphical Models (2009), §9.4.3.
var scorings = []scoring{
	func(fill, weight float64) (float64, float64) { return fill, weight },          // min-fill
	func(fill, weight float64) (float64, float64) { return weight, fill },          // min-weight
	func(fill, weight float64) (float64, float64) { return fill * weight, weight }, // between
}

// A graph has an edge between columns of one clique.
type graph struct {
	sizes []int
	logs  []float64 // of sizes
	adj   []colset  // each column and its neighbours

	left          []colset  // of a column in an elimination: those of its neighbours that are left
	first, second []float64 // scores
}

func newGraph(sizes []int, cliques [][]int) (*graph, error) {
	n := len(sizes)
	v := func() []float64 { return make([]float64, n) }
	g := &graph{sizes, v(), colsets(n, n), make([]colset, n), v(), v()}
	for c, s := range sizes {
		if s < 1 {
			return nil, fmt.Errorf("marginal: column %d has %d codes, want at least 1", c, s)
		}
		g.logs[c] = math.Log(float64(s))
		g.adj[c].add(c)
	}
	for _, q := range cliques {
		for _, c := range q {
			if c < 0 || c >= n {
				return nil, fmt.Errorf("marginal: column %d of a clique is not in 0..%d", c, n-1)
			}
		}
		g.join(q)
	}
	return g, nil
}

// join makes the columns a clique.
func (g *graph) join(cols []int) {
	set := colsetOf(len(g.sizes), cols...)
	for _, c := range cols {
		g.adj[c].union(set)
	}
}

// triangulate returns the maximal cliques of the smallest chordal completion found of a graph in
// which every given clique is complete, and its number of cells. Every column is in some clique; an
// isolated one is a clique of one.
func triangulate(sizes []int, cliques [][]int) ([]colset, float64, error) {
	g, err := newGraph(sizes, cliques)
	if err != nil {
		return nil, 0, err
	}
	best, cells := g.complete(allColumns(len(sizes)), nil, 0, math.Inf(1))
	return best, cells, nil
}

// complete finds the maximal cliques of the smallest chordal completion of what is left of the
// graph, beside those found before, and the cells of all. Unless most is +Inf, the first completion
// of so many cells will do; if there is none, the cells are +Inf.
func (g *graph) complete(
	left colset, found []colset, before, most float64,
) (best []colset, least float64) {
	least = math.Inf(1)
	for _, score := range scorings {
		all, cells, filled := g.eliminate(left, found, before, score, math.Min(least, most))
		if cells <= most && (cells < least || best == nil) {
			best, least = all, cells
		}
		if !filled || best != nil && !math.IsInf(most, 1) {
			break // already chordal: its maximal cliques are unique
		}
	}
	return best, least
}

// eliminate removes the columns that are left greedily by score and returns the maximal cliques
// met, beside those found before, the cells of all and whether edges were added. It ends early when
// there are more cells than most.
func (g *graph) eliminate(
	left colset, found []colset, cells float64, score scoring, most float64,
) (all []colset, _ float64, filled bool) {
	adj, first, second := g.left, g.first, g.second
	left.each(func(c int) {
		adj[c] = g.adj[c].overlap(left)
		adj[c].remove(c)
	})
	all = found
	left, stale := left.clone(), left.clone()
	for range left.count() {
		stale.each(func(c int) {
			missing, logw := 0, g.logs[c]
			adj[c].each(func(d int) {
				logw += g.logs[d]
				for i, w := range adj[c] {
					missing += bits.OnesCount64(w &^ adj[d][i])
				}
				missing-- // d itself
			})
			first[c], second[c] = math.Inf(-1), logw // simplicial: always safe
			if missing > 0 {
				first[c], second[c] = score(float64(missing/2), math.Exp(logw))
			}
		})
		v := -1
		left.each(func(c int) {
			if v < 0 || first[c] < first[v] || first[c] == first[v] && second[c] < second[v] {
				v = c
			}
		})
		filled = filled || !math.IsInf(first[v], -1)
		left.remove(v)
		clear(stale)
		adj[v].each(func(d int) {
			adj[d].union(adj[v])
			adj[d].remove(d)
			adj[d].remove(v)
			stale.union(adj[d])
			stale.add(d)
		})
		q := adj[v]
		q.add(v)
		if !inside(all, q, v) {
			all = append(all, q.clone())
			if cells += cellsOf(g.sizes, q.cols()); cells > most {
				return all, cells, true
			}
		}
	}
	return all, cells, filled
}

// inside reports whether one of the sets holds q, of which v is a column.
func inside(sets []colset, q colset, v int) bool {
	return slices.ContainsFunc(sets, func(s colset) bool { return s.has(v) && q.within(s) })
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
	core := allColumns(n)
	for before := -1; before < len(order); {
		before = len(order)
		core.each(func(c int) {
			q := g.adj[c].overlap(core)
			if slices.ContainsFunc(q.cols(), func(d int) bool { return !q.within(g.adj[d]) }) {
				return
			}
			own := 0.0
			if !inside(found, q, c) {
				own = cellsOf(sizes, q.cols())
			}
			order, found, cells = append(order, c), append(found, q), append(cells, own)
			core.remove(c)
		})
	}
	graphs := sync.Pool{New: func() any { h, _ := newGraph(sizes, cliques); return h }}
	return func(cols []int, most float64) bool {
		h, left, gone, sum := graphs.Get().(*graph), core.clone(), make([]colset, 0, n), 0.0
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
