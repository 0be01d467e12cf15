package marginal

import "math"

// A node is a table that a clique is summed down to, or that its potential is built up from: a
// measured marginal, a separator, or an intermediate on the way.
type node struct {
	cols     []int // rank order
	cells    int
	plan     *plan
	children []int
	block    int
	terms    []int     // measured tables over exactly these columns
	kids     []int     // child cliques whose separator is exactly these columns
	in, out  []float64 // log potential on the way up, probabilities on the way down
}

// blocks calls f for every block of the table v of the node.
func (nd *node) blocks(v []float64, f func(k int, block []float64)) {
	for k, lo := 0, 0; lo < nd.cells; k, lo = k+1, lo+nd.block {
		f(k, v[lo:lo+nd.block])
	}
}

// mergeCells is the size of clique below which intermediates do not pay.
const mergeCells = 1024

// projectionTree arranges the targets (distinct lists of columns within clique, rank order) so that
// summing the clique down to all of them, and building its potential up from all of them, costs
// little: a target inside another comes from that one, and targets with a small union share an
// intermediate over it, joined greedily by the smallest union as in Huffman's algorithm. The first
// node is the clique; parents come before children. where[i] is the node of targets[i].
//
// With k targets of a clique of n cells the plain cost is k·n; for the 120 pairs of 16 binary
// columns in one clique the tree costs about 2.2·n.
func projectionTree(sizes []int, clique []int, targets [][]int) (nodes []node, where []int) {
	type item struct {
		set      colset
		cells    float64
		up       int
		children []int
	}
	items := []item{{set: colsetOf(len(sizes), clique...), cells: cellsOf(sizes, clique), up: -1}}
	at := make([]int, len(targets))
	for i, cols := range targets {
		if len(cols) == len(clique) {
			continue // the clique itself: item 0
		}
		at[i] = len(items)
		items = append(items, item{set: colsetOf(len(sizes), cols...), cells: cellsOf(sizes, cols)})
	}
	// Inside another target: hang under the smallest.
	for i := 1; i < len(items); i++ {
		for j := 1; j < len(items); j++ {
			if i != j && len(items[i].set.cols()) < len(items[j].set.cols()) &&
				items[i].set.within(items[j].set) &&
				(items[i].up == 0 || items[j].cells < items[items[i].up].cells) {
				items[i].up = j
			}
		}
	}
	if items[0].cells >= mergeCells {
		var tops []int
		for i := 1; i < len(items); i++ {
			if items[i].up == 0 {
				tops = append(tops, i)
			}
		}
		unionCells := func(a, b int) float64 {
			n := 1.0
			for w := range items[a].set {
				colset{items[a].set[w] | items[b].set[w]}.each(func(c int) { n *= float64(sizes[w<<6+c]) })
			}
			return n
		}
		// near[a] is the later top with the smallest union, its cells in dist.
		near := map[int]int{}
		dist := map[int]float64{}
		look := func(pos int) {
			a := tops[pos]
			near[a], dist[a] = -1, math.Inf(1)
			for _, b := range tops[pos+1:] {
				if d := unionCells(a, b); d < dist[a] {
					near[a], dist[a] = b, d
				}
			}
		}
		for i := range tops {
			look(i)
		}
		for len(tops) > 1 {
			a := tops[0]
			for _, t := range tops {
				if dist[t] < dist[a] {
					a = t
				}
			}
			if 2*dist[a] >= items[0].cells {
				break
			}
			u := items[a].set.clone()
			u.union(items[near[a]].set)
			id := len(items)
			items = append(items, item{set: u, cells: dist[a]})
			kept := tops[:0]
			for _, t := range tops {
				if items[t].set.within(u) {
					items[t].up = id
				} else {
					kept = append(kept, t)
				}
			}
			tops = append(kept, id)
			for i, t := range tops {
				if t == id {
					look(i)
				} else if items[max(near[t], 0)].up == id { // its nearest is gone
					look(i)
				} else if d := unionCells(t, id); d < dist[t] {
					near[t], dist[t] = id, d
				}
			}
		}
	}
	for i := 1; i < len(items); i++ {
		items[items[i].up].children = append(items[items[i].up].children, i)
	}
	place := make([]int, len(items))
	var visit func(i, parent int)
	visit = func(i, parent int) {
		place[i] = len(nodes)
		cols := shared(clique, items[i].set)
		nd := node{cols: cols, cells: int(items[i].cells)}
		nd.block = blockOf(sizesOf(sizes, cols))
		if parent >= 0 {
			nd.plan = newPlan(sizes, nodes[parent].cols, cols)
			nodes[parent].children = append(nodes[parent].children, place[i])
		}
		nodes = append(nodes, nd)
		self := place[i]
		for _, c := range items[i].children {
			visit(c, self)
		}
	}
	visit(0, -1)
	for _, a := range at {
		where = append(where, place[a])
	}
	return nodes, where
}
