package marginal

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
)

// A term is a table of the parameter vector: the log potential of one measured set of columns.
type term struct {
	cols   []int // rank order
	off    int   // its cells are [off, off+cells) of the parameter vector
	cells  int
	clique int // clique it is assigned to: the smallest that holds it
	// A term over groups of codes: its cell of each cell over the codes. nil: the same.
	coarse []int32
}

// addTo adds the term's cells of theta to a stretch of a table over its columns that begins at cell
// lo.
func (t *term) addTo(v, theta []float64, lo int) {
	theta = theta[t.off : t.off+t.cells]
	if t.coarse == nil {
		addTo(v, theta[lo:])
		return
	}
	for i, o := range t.coarse[lo:][:len(v)] {
		v[i] += theta[o]
	}
}

// sumTo sets the term's cells of mu to the sums of v, a table over its columns.
func (t *term) sumTo(mu, v []float64) {
	mu = mu[t.off : t.off+t.cells]
	if t.coarse == nil {
		copy(mu, v)
		return
	}
	clear(mu)
	for i, o := range t.coarse {
		mu[o] += v[i]
	}
}

// A propagator computes, for log potentials θ over the terms, the marginals of p(x) = exp(Σ
// θ_t(x_t))/Z over the terms and over the cliques of a junction tree. It holds all memory that an
// iteration needs.
//
// Up, from the leaves: a clique's log potential is the sum of its terms and of its children's
// messages; its exponential is summed to the separator, and the message is the logarithm of that.
// The exponential is the product of those of the tables that the potential is built up from, each
// relative to its own largest: exponentials of small tables only. Where a separator cell would
// underflow, it is taken cell by cell, relative to the largest within the separator cell: so any
// finite θ is handled. Down, from the root: a clique's table is multiplied by the ratio of the
// separator's marginal to its sum, which makes it the clique's marginal.
type propagator struct {
	tree      *junctionTree
	terms     []term
	dim       int // Σ cells of the terms
	cliques   []cliqueState
	theta, mu []float64 // the caller's, during run
}

// newPropagator plans and allocates. Every term must be inside a clique of the tree.
func newPropagator(t *junctionTree, tables []resolution) *propagator {
	p := &propagator{tree: t, cliques: make([]cliqueState, len(t.cliques))}
	sets := make([]colset, len(t.cliques))
	for i, q := range t.cliques {
		sets[i] = colsetOf(len(t.sizes), q...)
	}
	for _, r := range tables {
		cs := r.cols
		s, best := colsetOf(len(t.sizes), cs...), -1
		for i := range sets {
			if s.within(sets[i]) && (best < 0 ||
				cellsOf(t.sizes, t.cliques[i]) < cellsOf(t.sizes, t.cliques[best])) {
				best = i
			}
		}
		coarse, n := r.cells(t.sizes)
		p.terms = append(p.terms, term{cols: cs, off: p.dim, cells: n, clique: best,
			coarse: coarse})
		p.dim += n
	}
	for i := range p.cliques {
		p.prepare(i)
	}
	return p
}

// prepare plans clique i and allocates what it needs.
func (p *propagator) prepare(i int) {
	t, c := p.tree, &p.cliques[i]
	var targets []node
	target := func(cols []int) *node {
		k := slices.IndexFunc(targets, func(nd node) bool { return slices.Equal(nd.cols, cols) })
		if k < 0 {
			k = len(targets)
			targets = append(targets, node{cols: cols})
		}
		return &targets[k]
	}
	for j, tm := range p.terms {
		if tm.clique == i {
			nd := target(tm.cols)
			nd.terms = append(nd.terms, j)
		}
	}
	for j, up := range t.parent {
		if up == i {
			nd := target(t.seps[j])
			nd.kids = append(nd.kids, j)
		}
	}
	c.nodes = projectionTree(t.sizes, t.cliques[i], targets)
	for k := 1; k < len(c.nodes); k++ {
		nd := &c.nodes[k]
		nd.plain = len(nd.terms) == 1 && len(nd.kids) == 0 && len(nd.children) == 0 &&
			p.terms[nd.terms[0]].coarse == nil
		if !nd.plain {
			nd.in = make([]float64, nd.cells)
			nd.out = nd.in
		}
	}
	cells, ns := c.nodes[0].cells, int(cellsOf(t.sizes, t.seps[i]))
	c.table, c.scale, c.message = make([]float64, cells), make([]float64, ns), make([]float64, ns)
	c.sep = newPlan(t.sizes, t.cliques[i], t.seps[i])
	blocks, n := len(c.sep.hi), 1
	c.block = cells / blocks
	if cells >= fourSpans {
		n = 4
	} else if cells >= twoSpans {
		n = 2
	}
	n = min(n, blocks)
	c.top = make([]float64, n)
	for k := range n {
		c.spans = append(c.spans, span{k * blocks / n, (k + 1) * blocks / n})
		c.partial = append(c.partial, make([]float64, ns))
	}
	c.partial[0] = c.scale
}

// run calibrates: mu receives the marginals of the terms for log potentials theta (each table sums
// to 1), and the tables of the cliques become their marginals. It returns log Z.
func (p *propagator) run(mu, theta []float64) (logZ float64) {
	p.theta, p.mu = theta, mu
	for i := len(p.cliques) - 1; i >= 0; i-- {
		p.collect(i)
	}
	logZ = p.cliques[0].message[0]
	for i := range p.cliques {
		p.distribute(i)
	}
	return logZ
}

// collect computes the exponentials of clique i and its message.
func (p *propagator) collect(i int) {
	c := &p.cliques[i]
	root := &c.nodes[0]
	for k := len(c.nodes) - 1; k > 0; k-- {
		nd := &c.nodes[k]
		if nd.plain {
			tm := &p.terms[nd.terms[0]]
			nd.in, nd.out = p.theta[tm.off:tm.off+tm.cells], p.mu[tm.off:tm.off+tm.cells]
			continue
		}
		p.gather(c, nd)
	}
	c.shift = 0
	if len(root.terms) == 0 {
		for _, ch := range root.children {
			nd := &c.nodes[ch]
			top := floats.Max(nd.in)
			copy(nd.out, nd.in)
			expShift(nd.out, top)
			c.shift += top
		}
		p.parallel(c, (*propagator).product)
	} else {
		p.parallel(c, (*propagator).potential)
		c.shift = slices.Max(c.top)
		p.parallel(c, (*propagator).exponentials)
	}
	for _, s := range c.partial[1:] {
		addTo(c.scale, s)
	}
	if !(slices.Min(c.scale) > tiny) { // some separator cell underflows
		p.cellwise(c)
		return
	}
	for s, x := range c.scale {
		c.message[s] = c.shift + math.Log(x)
	}
}

// cellwise does what collect does once more, each separator cell relative to its own largest.
func (p *propagator) cellwise(c *cliqueState) {
	for _, ch := range c.nodes[0].children { // their tables may hold exponentials
		if nd := &c.nodes[ch]; !nd.plain {
			p.gather(c, nd)
		}
	}
	p.parallel(c, (*propagator).potential)
	for s := range c.message {
		c.message[s] = math.Inf(-1)
		c.scale[s] = 0
	}
	c.sep.over((*plan).max, c.table, c.message)
	for s := range c.message {
		c.message[s] = -c.message[s]
	}
	c.sep.over((*plan).add, c.table, c.message)
	expShift(c.table, 0)
	c.sep.over((*plan).sum, c.table, c.scale)
	for s, x := range c.scale {
		c.message[s] = math.Log(x) - c.message[s]
	}
}

// gather builds up the log potential of node nd from what hangs on it.
func (p *propagator) gather(c *cliqueState, nd *node) {
	clear(nd.in)
	for _, t := range nd.terms {
		p.terms[t].addTo(nd.in, p.theta, 0)
	}
	for _, kid := range nd.kids {
		addTo(nd.in, p.cliques[kid].message)
	}
	for _, ch := range nd.children {
		child := &c.nodes[ch]
		child.plan.over((*plan).add, nd.in, child.in)
	}
}

// distribute turns the exponentials of clique i into its marginal and sums it to the nodes.
func (p *propagator) distribute(i int) {
	c := &p.cliques[i]
	if i == 0 {
		c.scale[0] = 1 / c.scale[0]
	} // else the parent has written the separator's marginal over the sums
	for k := 1; k < len(c.nodes); k++ {
		clear(c.nodes[k].out)
	}
	p.parallel(c, (*propagator).share)
	for _, t := range c.nodes[0].terms {
		if p.terms[t].coarse != nil {
			p.terms[t].sumTo(p.mu, c.table)
		}
	}
	if len(c.spans) > 1 { // to the children, each on a goroutine of its own
		var wg sync.WaitGroup
		for _, ch := range c.nodes[0].children {
			child := &c.nodes[ch]
			wg.Go(func() { child.plan.over((*plan).sum, c.table, child.out) })
		}
		wg.Wait()
	}
	for k := 1; k < len(c.nodes); k++ {
		nd := &c.nodes[k]
		for _, ch := range nd.children {
			child := &c.nodes[ch]
			child.plan.over((*plan).sum, nd.out, child.out)
		}
		if !nd.plain {
			for _, t := range nd.terms {
				p.terms[t].sumTo(p.mu, nd.out)
			}
		}
		for _, kid := range nd.kids { // the ratio of the separator's marginal to its sum
			for s, x := range p.cliques[kid].scale {
				p.cliques[kid].scale[s] = nd.out[s] / x
			}
		}
	}
}

// tables returns copies of the cliques' tables.
func (p *propagator) tables() [][]float64 {
	out := make([][]float64, len(p.cliques))
	for i := range p.cliques {
		out[i] = slices.Clone(p.cliques[i].table)
	}
	return out
}
