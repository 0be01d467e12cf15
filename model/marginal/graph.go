package marginal

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// colset is a set of columns, one bit each.
type colset []uint64

// colsetOf is the set of these columns of n.
func colsetOf(n int, cols ...int) colset {
	s := make(colset, (n+63)/64)
	for _, c := range cols {
		s.add(c)
	}
	return s
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
	out := slices.Clone(s)
	for i := range out {
		out[i] &= t[i]
	}
	return out
}
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

// each is an iterator: for c := range s.each.
func (s colset) each(yield func(c int) bool) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			if !yield(i<<6 + bits.TrailingZeros64(w)) {
				return
			}
		}
	}
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
	all   colset    // all columns
	adj   []colset  // each column and its neighbours

	left          []colset  // of a column in an elimination: those of its neighbours that are left
	first, second []float64 // scores
}

func newGraph(sizes []int, cliques [][]int) (*graph, error) {
	n := len(sizes)
	v := func() []float64 { return make([]float64, n) }
	g := &graph{sizes, v(), colsetOf(n), make([]colset, n), make([]colset, n), v(), v()}
	words := len(g.all)
	memory := make(colset, n*words)
	for c, s := range sizes {
		if s < 1 {
			return nil, fmt.Errorf("column %d has %d codes, want at least 1", c, s)
		}
		g.logs[c] = math.Log(float64(s))
		g.all.add(c)
		g.adj[c] = memory[c*words:][:words:words]
		g.adj[c].add(c)
	}
	for _, q := range cliques {
		for _, c := range q {
			if c < 0 || c >= n {
				return nil, fmt.Errorf("column %d of a clique is not in 0..%d", c, n-1)
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

// complete finds the maximal cliques of the smallest chordal completion of what is left of the
// graph, beside those found before, and the cells of all. An isolated column is a clique. Unless
// most is +Inf, the first completion of so many cells will do; if there is none, the cells are
// +Inf.
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
	for c := range left.each {
		adj[c] = g.adj[c].overlap(left)
		adj[c].remove(c)
	}
	all = found
	left, stale := slices.Clone(left), slices.Clone(left)
	for range left.count() {
		for c := range stale.each {
			missing, logw := 0, g.logs[c]
			for d := range adj[c].each {
				logw += g.logs[d]
				for i, w := range adj[c] {
					missing += bits.OnesCount64(w &^ adj[d][i])
				}
				missing-- // d itself
			}
			first[c], second[c] = math.Inf(-1), logw // simplicial: always safe
			if missing > 0 {
				first[c], second[c] = score(float64(missing/2), math.Exp(logw))
			}
		}
		v := -1
		for c := range left.each {
			if v < 0 || first[c] < first[v] || first[c] == first[v] && second[c] < second[v] {
				v = c
			}
		}
		filled = filled || !math.IsInf(first[v], -1)
		left.remove(v)
		clear(stale)
		for d := range adj[v].each {
			adj[d].union(adj[v])
			adj[d].remove(d)
			adj[d].remove(v)
			stale.union(adj[d])
			stale.add(d)
		}
		q := adj[v]
		q.add(v)
		if !inside(all, q, v) {
			all = append(all, slices.Clone(q))
			own := 1.0
			for c := range q.each {
				own *= float64(g.sizes[c])
			}
			if cells += own; cells > most {
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
	g, err := newGraph(sizes, cliques)
	if err != nil {
		return nil, err
	}
	sets, cells := g.complete(g.all, nil, 0, math.Inf(1))
	if cells > mostCells {
		return nil, fmt.Errorf("a junction tree of %.4g cells, limit %d: %w", cells,
			mostCells, errTooLarge)
	}
	k := len(sets)
	t := &junctionTree{sizes: slices.Clone(sizes)}
	cols := make([][]int, k)
	root := 0
	for i, s := range sets {
		cols[i] = ranked(sizes, slices.Collect(s.each))
		if cellsOf(sizes, cols[i]) > cellsOf(sizes, cols[root]) {
			root = i
		}
	}
	// Prim's algorithm; position[i] is the position in the tree, -1 while out.
	position, weight := slices.Repeat([]int{-1}, k), slices.Repeat([]int{-1}, k)
	near := make([]int, k)
	for next := root; ; {
		position[next] = len(t.cliques)
		t.cliques = append(t.cliques, cols[next])
		parent, sep := -1, []int(nil)
		if next != root {
			parent, sep = position[near[next]], shared(cols[next], sets[near[next]])
		}
		t.parent, t.seps = append(t.parent, parent), append(t.seps, sep)
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
