package marginal

import (
	"math"
	"slices"
	"sync"
)

// A term is a table of the parameter vector: the log potential of one measured
// set of columns.
type term struct {
	cols   []int // rank order
	off    int   // its cells are [off, off+cells) of the parameter vector
	cells  int
	clique int // clique it is assigned to: the smallest that holds it
}

// A propagator computes, for log potentials θ over the terms, the marginals of
// p(x) = exp(Σ θ_t(x_t))/Z over the terms and over the cliques of a junction tree.
// It holds all memory that an iteration needs.
//
// Up, from the leaves: a clique's log potential is the sum of its terms and of
// its children's messages; its exponential is summed to the separator, and the
// message is the logarithm of that. Exponentials are taken relative to the
// clique's largest log potential or, where a separator cell would underflow,
// relative to the largest within that cell: so any finite θ is handled.
// Down, from the root: a clique's table is multiplied by the ratio of the
// separator's marginal to its sum, which makes it the clique's marginal.
// One exponential a clique cell and one logarithm a separator cell in all.
type propagator struct {
	tree    *junctionTree
	terms   []term
	dim     int // Σ cells of the terms
	cliques []cliqueState
}

type cliqueState struct {
	nodes   []node
	table   []float64 // log potential, then exponentials, then probabilities
	base    []float64 // optional fixed log potential
	sep     *plan     // to the separator with the parent
	scale   []float64 // over the separator: sums, then ratios; one cell for the root
	message []float64 // over the separator
	spans   []span
	spare   [][]float64 // per span after the first: accumulators of the separator and of the small children, end to end
	small   []int       // children of node 0 that every span sums into an accumulator of its own
	large   []int       // the others, summed by one goroutine each: accumulators would cost too much memory
}

// A span is a range of blocks that one goroutine handles. How a clique is
// divided depends on its size only, so results do not depend on the processors.
type span struct{ from, to int }

const (
	twoSpans  = 1 << 16 // cells from which a clique is handled by two goroutines
	fourSpans = 1 << 20
)

// newPropagator plans and allocates. Every term must be inside a clique of the
// tree.
func newPropagator(t *junctionTree, cols [][]int) *propagator {
	p := &propagator{tree: t, cliques: make([]cliqueState, len(t.cliques))}
	sets := make([]colset, len(t.cliques))
	for i, q := range t.cliques {
		sets[i] = newColset(len(t.sizes))
		for _, c := range q {
			sets[i].add(c)
		}
	}
	for _, cs := range cols {
		s := newColset(len(t.sizes))
		for _, c := range cs {
			s.add(c)
		}
		best := -1
		for i := range sets {
			if s.within(sets[i]) && (best < 0 || cellsOf(t.sizes, t.cliques[i]) < cellsOf(t.sizes, t.cliques[best])) {
				best = i
			}
		}
		n := int(cellsOf(t.sizes, cs))
		p.terms = append(p.terms, term{cols: cs, off: p.dim, cells: n, clique: best})
		p.dim += n
	}
	for i := range p.cliques {
		p.prepare(i)
	}
	return p
}

// prepare plans clique i.
func (p *propagator) prepare(i int) {
	t := p.tree
	c := &p.cliques[i]
	var targets [][]int
	target := func(cols []int) int {
		k := slices.IndexFunc(targets, func(q []int) bool { return slices.Equal(q, cols) })
		if k < 0 {
			k = len(targets)
			targets = append(targets, cols)
		}
		return k
	}
	var terms, kids [][2]int // (term or clique, target)
	for j, tm := range p.terms {
		if tm.clique == i {
			terms = append(terms, [2]int{j, target(tm.cols)})
		}
	}
	for j, up := range t.parent {
		if up == i {
			kids = append(kids, [2]int{j, target(t.seps[j])})
		}
	}
	var where []int
	c.nodes, where = projectionTree(t.sizes, t.cliques[i], targets)
	for _, x := range terms {
		nd := &c.nodes[where[x[1]]]
		nd.terms = append(nd.terms, x[0])
	}
	for _, x := range kids {
		nd := &c.nodes[where[x[1]]]
		nd.kids = append(nd.kids, x[0])
	}
	c.table = make([]float64, c.nodes[0].cells)
	for k := 1; k < len(c.nodes); k++ {
		nd := &c.nodes[k]
		if !nd.plain() {
			nd.in = make([]float64, nd.cells)
			nd.out = nd.in
		}
	}
	c.sep = newPlan(t.sizes, t.cliques[i], t.seps[i])
	ns := int(cellsOf(t.sizes, t.seps[i]))
	c.scale = make([]float64, ns)
	c.message = make([]float64, ns)
	blocks := c.nodes[0].cells / c.nodes[0].block
	n := 1
	if c.nodes[0].cells >= fourSpans {
		n = 4
	} else if c.nodes[0].cells >= twoSpans {
		n = 2
	}
	n = min(n, blocks)
	acc := ns
	for _, ch := range c.nodes[0].children {
		if n > 1 && c.nodes[ch].cells > c.nodes[0].cells/16 {
			c.large = append(c.large, ch)
		} else {
			c.small = append(c.small, ch)
			acc += c.nodes[ch].cells
		}
	}
	for k := range n {
		c.spans = append(c.spans, span{k * blocks / n, (k + 1) * blocks / n})
		if k > 0 {
			c.spare = append(c.spare, make([]float64, acc))
		}
	}
}

// plain reports whether the node is one measured table and nothing else: it
// then works on the caller's vectors.
func (nd *node) plain() bool {
	return len(nd.terms) == 1 && len(nd.kids) == 0 && len(nd.children) == 0
}

// run calibrates: mu receives the marginals of the terms for log potentials
// theta (each table sums to 1), and the tables of the cliques become their
// marginals. It returns log Z.
func (p *propagator) run(mu, theta []float64) (logZ float64) {
	for i := len(p.cliques) - 1; i >= 0; i-- {
		p.collect(i, theta)
	}
	root := &p.cliques[0]
	logZ = root.message[0]
	for i := range p.cliques {
		p.distribute(i, mu)
	}
	return logZ
}

// collect computes the exponentials of clique i and its message.
func (p *propagator) collect(i int, theta []float64) {
	c := &p.cliques[i]
	for k := len(c.nodes) - 1; k > 0; k-- {
		nd := &c.nodes[k]
		if nd.plain() {
			tm := &p.terms[nd.terms[0]]
			nd.in = theta[tm.off : tm.off+tm.cells]
			continue
		}
		clear(nd.in)
		p.gather(c, nd, nd.in, theta)
	}
	shift := p.potential(c, theta)
	p.exponentials(c, shift)
	low := math.Inf(1)
	for _, x := range c.scale {
		low = min(low, x)
	}
	if low > 1e-280 {
		for s, x := range c.scale {
			c.message[s] = shift + math.Log(x)
		}
		return
	}
	// Some separator cell underflows: once more, relative to its own largest.
	p.potential(c, theta)
	root := &c.nodes[0]
	for s := range c.message {
		c.message[s] = math.Inf(-1)
		c.scale[s] = 0
	}
	root.blocks(c.table, func(k int, b []float64) { c.sep.max(c.message, b, k) })
	for s := range c.message {
		c.message[s] = -c.message[s]
	}
	root.blocks(c.table, func(k int, b []float64) {
		c.sep.add(b, c.message, k)
		expShift(b, 0)
		c.sep.sum(c.scale, b, k)
	})
	for s, x := range c.scale {
		c.message[s] = math.Log(x) - c.message[s]
	}
}

// gather adds to v, the table of node nd, what hangs on it.
func (p *propagator) gather(c *cliqueState, nd *node, v, theta []float64) {
	for _, t := range nd.terms {
		addTo(v, theta[p.terms[t].off:])
	}
	for _, kid := range nd.kids {
		addTo(v, p.cliques[kid].message)
	}
	for _, ch := range nd.children {
		child := &c.nodes[ch]
		nd.blocks(v, func(k int, b []float64) { child.plan.add(b, child.in, k) })
	}
}

// potential fills the clique's table with its log potential and returns the
// largest.
func (p *propagator) potential(c *cliqueState, theta []float64) float64 {
	root := &c.nodes[0]
	top := make([]float64, len(c.spans))
	c.parallel(func(h int, sp span) {
		m := math.Inf(-1)
		for k := sp.from; k < sp.to; k++ {
			lo := k * root.block
			b := c.table[lo : lo+root.block]
			if c.base != nil {
				copy(b, c.base[lo:])
			} else {
				clear(b)
			}
			for _, t := range root.terms {
				addTo(b, theta[p.terms[t].off+lo:])
			}
			for _, kid := range root.kids {
				addTo(b, p.cliques[kid].message[lo:])
			}
			for _, ch := range root.children {
				child := &c.nodes[ch]
				child.plan.add(b, child.in, k)
			}
			m = max(m, largest(b))
		}
		top[h] = m
	})
	return slices.Max(top)
}

// exponentials replaces the log potentials by their exponentials relative to
// shift and sums them to the separator, into scale.
func (p *propagator) exponentials(c *cliqueState, shift float64) {
	root := &c.nodes[0]
	clear(c.scale)
	c.parallel(func(h int, sp span) {
		acc := c.scale
		if h > 0 {
			acc = c.spare[h-1][:len(c.scale)]
			clear(acc)
		}
		for k := sp.from; k < sp.to; k++ {
			b := c.table[k*root.block : (k+1)*root.block]
			expShift(b, shift)
			c.sep.sum(acc, b, k)
		}
	})
	for _, s := range c.spare {
		addTo(c.scale, s)
	}
}

// distribute turns the exponentials of clique i into its marginal and sums it
// to the nodes.
func (p *propagator) distribute(i int, mu []float64) {
	c := &p.cliques[i]
	if i == 0 {
		c.scale[0] = 1 / c.scale[0]
	} // else the parent has written the separator's marginal over the sums
	for k := 1; k < len(c.nodes); k++ {
		nd := &c.nodes[k]
		if nd.plain() {
			tm := &p.terms[nd.terms[0]]
			nd.out = mu[tm.off : tm.off+tm.cells]
		}
		clear(nd.out)
	}
	root := &c.nodes[0]
	c.parallel(func(h int, sp span) {
		if h > 0 {
			clear(c.spare[h-1])
		}
		for k := sp.from; k < sp.to; k++ {
			lo := k * root.block
			b := c.table[lo : lo+root.block]
			c.sep.mul(b, c.scale, k)
			for _, t := range root.terms {
				copy(mu[p.terms[t].off+lo:], b)
			}
			at := len(c.scale)
			for _, ch := range c.small {
				child := &c.nodes[ch]
				acc := child.out
				if h > 0 {
					acc = c.spare[h-1][at : at+child.cells]
				}
				child.plan.sum(acc, b, k)
				at += child.cells
			}
		}
	})
	for _, s := range c.spare {
		at := len(c.scale)
		for _, ch := range c.small {
			addTo(c.nodes[ch].out, s[at:])
			at += c.nodes[ch].cells
		}
	}
	var wg sync.WaitGroup
	for _, ch := range c.large {
		child := &c.nodes[ch]
		wg.Go(func() { root.blocks(c.table, func(k int, b []float64) { child.plan.sum(child.out, b, k) }) })
	}
	wg.Wait()
	p.pass(c, root, c.table)
	for k := 1; k < len(c.nodes); k++ {
		nd := &c.nodes[k]
		for _, ch := range nd.children {
			child := &c.nodes[ch]
			nd.blocks(nd.out, func(k int, b []float64) { child.plan.sum(child.out, b, k) })
		}
		if !nd.plain() {
			for _, t := range nd.terms {
				copy(mu[p.terms[t].off:], nd.out)
			}
		}
		p.pass(c, nd, nd.out)
	}
}

// pass gives the child cliques at a node the ratio of the separator's marginal
// to its sum.
func (p *propagator) pass(c *cliqueState, nd *node, v []float64) {
	for _, kid := range nd.kids {
		for s, x := range p.cliques[kid].scale {
			p.cliques[kid].scale[s] = v[s] / x
		}
	}
}

// parallel runs f on every span, each on a goroutine of its own.
func (c *cliqueState) parallel(f func(h int, s span)) {
	if len(c.spans) == 1 {
		f(0, c.spans[0])
		return
	}
	var wg sync.WaitGroup
	for h, s := range c.spans {
		wg.Go(func() { f(h, s) })
	}
	wg.Wait()
}

// tables returns copies of the cliques' tables.
func (p *propagator) tables() [][]float64 {
	out := make([][]float64, len(p.cliques))
	for i := range p.cliques {
		out[i] = slices.Clone(p.cliques[i].table)
	}
	return out
}
