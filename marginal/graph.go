package marginal

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
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
func (s colset) intersect(t colset) {
	for i := range s {
		s[i] &= t[i]
	}
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

// triangulate returns the maximal cliques of the smallest chordal completion found of the graph in
// which every given clique is complete, and its number of cells. Every column is in some clique; an
// isolated one is a clique of one. With most > 0, the first completion of so many cells will do; if
// there is none, the cells are +Inf.
func triangulate(sizes []int, cliques [][]int, most float64) ([]colset, float64, error) {
	n := len(sizes)
	adj := colsets(n, n)
	set := newColset(n)
	for _, q := range cliques {
		clear(set)
		for _, c := range q {
			if c < 0 || c >= n {
				return nil, 0, fmt.Errorf("marginal: column %d of a clique is not in 0..%d", c, n-1)
			}
			set.add(c)
		}
		set.each(func(c int) { adj[c].union(set) })
	}
	for c := range adj {
		adj[c].remove(c)
	}
	logs := make([]float64, n)
	for c, s := range sizes {
		if s < 1 {
			return nil, 0, fmt.Errorf("marginal: column %d has %d codes, want at least 1", c, s)
		}
		logs[c] = math.Log(float64(s))
	}
	var best []colset
	least, limit := math.Inf(1), math.Inf(1)
	if most > 0 {
		limit = most
	}
	for _, score := range scorings {
		found, cells, filled := eliminate(sizes, logs, adj, score, math.Min(least, limit))
		if cells <= limit && (cells < least || best == nil) {
			best, least = found, cells
		}
		if !filled || most > 0 && best != nil {
			break // already chordal: its maximal cliques are unique
		}
	}
	return best, least, nil
}

// eliminate removes the columns greedily by score and returns the maximal cliques met, their cells
// and whether edges were added. It ends early when there are more cells than most. adj is not
// changed.
func eliminate(
	sizes []int, logs []float64, adj []colset, score scoring, most float64,
) (found []colset, cells float64, filled bool) {
	n := len(adj)
	g := colsets(n, n)
	for c := range g {
		copy(g[c], adj[c])
	}
	left := newColset(n)
	stale := newColset(n)
	for c := range n {
		left.add(c)
		stale.add(c)
	}
	first := make([]float64, n)
	second := make([]float64, n)
	for range n {
		stale.intersect(left)
		stale.each(func(c int) {
			missing, logw := 0, logs[c]
			g[c].each(func(d int) {
				logw += logs[d]
				for i, w := range g[c] {
					missing += bits.OnesCount64(w &^ g[d][i])
				}
				missing-- // d itself
			})
			if missing == 0 {
				first[c], second[c] = math.Inf(-1), logw // simplicial: always safe
				return
			}
			first[c], second[c] = score(float64(missing/2), math.Exp(logw))
		})
		v := -1
		left.each(func(c int) {
			if v < 0 || first[c] < first[v] || first[c] == first[v] && second[c] < second[v] {
				v = c
			}
		})
		if !math.IsInf(first[v], -1) {
			filled = true
		}
		q := g[v].clone()
		q.add(v)
		if !slices.ContainsFunc(found, q.within) {
			found = append(found, q)
			if cells += cellsOf(sizes, q.cols()); cells > most {
				return found, cells, true
			}
		}
		left.remove(v)
		clear(stale)
		g[v].each(func(d int) {
			g[d].union(g[v])
			g[d].remove(d)
			g[d].remove(v)
			stale.union(g[d])
			stale.add(d)
		})
	}
	return found, cells, filled
}
