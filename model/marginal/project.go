package marginal

import (
	"cmp"
	"math"
	"slices"
)

// A node is a table that a clique is summed down to, or that its potential is built up from: a
// measured marginal, a separator, or an intermediate on the way.
type node struct {
	cols     []int // rank order
	cells    int
	plan     *plan
	children []int
	terms    []int     // measured tables over exactly these columns
	kids     []int     // child cliques whose separator is exactly these columns
	plain    bool      // one measured table and nothing else: it works on the caller's vectors
	in, out  []float64 // log potential on the way up, probabilities on the way down
}

// mergeCells is the size of clique below which intermediates do not pay.
const mergeCells = 1024

// A projection is a node of a projection tree that is being built.
type projection struct {
	node
	set   colset
	size  float64 // its cells
	up    int     // what it hangs on: the clique is 0
	near  int     // of those on the clique: the later one with the smallest union, 0 for none
	union float64 // and the cells of that
}

// projectionTree arranges the targets (distinct lists of columns within clique, rank order) so that
// summing the clique down to all of them, and building its potential up from all of them, costs
// little: a target inside another comes from that one, and targets with a small union share an
// intermediate over it. The first node is the clique; parents come before children.
//
// With k targets of a clique of n cells the plain cost is k·n; for the 120 pairs of 16 binary
// columns in one clique the tree costs about 2.2·n.
func projectionTree(sizes []int, clique []int, targets []node) []node {
	tree := make([]projection, 1, len(targets)+1)
	tree[0].cols = clique
	for _, nd := range targets {
		if len(nd.cols) == len(clique) {
			tree[0].node = nd
		} else {
			tree = append(tree, projection{node: nd})
		}
	}
	for i := range tree {
		tree[i].set, tree[i].size = colsetOf(len(sizes), tree[i].cols...), cellsOf(sizes, tree[i].cols)
	}
	// Inside another target: hang under the smallest.
	for i := 1; i < len(tree); i++ {
		a := &tree[i]
		for j := 1; j < len(tree); j++ {
			if b := &tree[j]; len(a.cols) < len(b.cols) && a.set.within(b.set) &&
				(a.up == 0 || b.size < tree[a.up].size) {
				a.up = j
			}
		}
	}
	if tree[0].size >= mergeCells {
		tree = joinTops(sizes, tree)
	}
	below := make([][]int, len(tree))
	for i := 1; i < len(tree); i++ {
		below[tree[i].up] = append(below[tree[i].up], i)
	}
	var nodes []node
	var visit func(i, parent int)
	visit = func(i, parent int) {
		self, nd := len(nodes), tree[i].node
		nd.cols, nd.cells = shared(clique, tree[i].set), int(tree[i].size)
		if i > 0 {
			nd.plan = newPlan(sizes, nodes[parent].cols, nd.cols)
			nodes[parent].children = append(nodes[parent].children, self)
		}
		nodes = append(nodes, nd)
		for _, k := range below[i] {
			visit(k, self)
		}
	}
	visit(0, -1)
	return nodes
}

// joinTops adds intermediates, each over the union of two of those that hang on the clique, which
// hang on it then: greedily by the smallest union, as in Huffman's algorithm, while they save
// something.
func joinTops(sizes []int, tree []projection) []projection {
	var tops []int
	for i, nd := range tree {
		if i > 0 && nd.up == 0 {
			tops = append(tops, i)
		}
	}
	union := func(a, b int) float64 {
		n := 1.0
		for w := range tree[a].set {
			for c := range (colset{tree[a].set[w] | tree[b].set[w]}).each {
				n *= float64(sizes[w<<6+c])
			}
		}
		return n
	}
	look := func(pos int) {
		a := &tree[tops[pos]]
		a.near, a.union = 0, math.Inf(1)
		for _, b := range tops[pos+1:] {
			if n := union(tops[pos], b); n < a.union {
				a.near, a.union = b, n
			}
		}
	}
	for pos := range tops {
		look(pos)
	}
	for len(tops) > 1 {
		a := slices.MinFunc(tops, func(a, b int) int { return cmp.Compare(tree[a].union, tree[b].union) })
		if 2*tree[a].union >= tree[0].size {
			break
		}
		u, id := slices.Clone(tree[a].set), len(tree)
		u.union(tree[tree[a].near].set)
		tree = append(tree, projection{set: u, size: tree[a].union})
		tops = slices.DeleteFunc(tops, func(t int) bool {
			if tree[t].set.within(u) {
				tree[t].up = id
			}
			return tree[t].up == id
		})
		tops = append(tops, id)
		for pos, t := range tops {
			if n := union(t, id); t == id || tree[tree[t].near].up == id { // its nearest is gone
				look(pos)
			} else if n < tree[t].union {
				tree[t].near, tree[t].union = id, n
			}
		}
	}
	return tree
}
