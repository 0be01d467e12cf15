package marginal

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/floats"
)

// A cliqueState is what belief propagation holds for a clique. Passes over its table go block by
// block, so that everything that happens to a cell happens while it is in cache, and large tables
// are divided among goroutines.
type cliqueState struct {
	nodes   []node
	table   []float64 // log potential, then exponentials, then probabilities
	sep     *plan     // to the separator with the parent
	scale   []float64 // over the separator: sums, then ratios; one cell for the root
	message []float64 // over the separator
	shift   float64   // the largest log potential
	spans   []span
	top     []float64   // per span: the largest log potential
	partial [][]float64 // per span: sums over the separator; the first are scale
}

// A span is a range of blocks that one goroutine handles. How a clique is divided depends on its
// size only, so results do not depend on the processors.
type span struct{ from, to int }

const (
	twoSpans  = 1 << 16 // cells from which a clique is handled by two goroutines
	fourSpans = 1 << 20
)

// divide plans the spans and allocates what they need.
func (c *cliqueState) divide() {
	root := &c.nodes[0]
	blocks := root.cells / root.block
	n := 1
	if root.cells >= fourSpans {
		n = 4
	} else if root.cells >= twoSpans {
		n = 2
	}
	n = min(n, blocks)
	c.top = make([]float64, n)
	for k := range n {
		c.spans = append(c.spans, span{k * blocks / n, (k + 1) * blocks / n})
		c.partial = append(c.partial, make([]float64, len(c.scale)))
	}
	c.partial[0] = c.scale
}

// parallel runs f for every span h, each on a goroutine of its own.
func (p *propagator) parallel(c *cliqueState, f func(p *propagator, c *cliqueState, h int)) {
	if len(c.spans) == 1 {
		f(p, c, 0)
		return
	}
	var wg sync.WaitGroup
	for h := range c.spans {
		wg.Go(func() { f(p, c, h) })
	}
	wg.Wait()
}

// block returns block k of the table and where it begins.
func (c *cliqueState) block(k int) (b []float64, lo int) {
	n := c.nodes[0].block
	return c.table[k*n : (k+1)*n], k * n
}

// potential fills a span of the table with the log potential.
func (p *propagator) potential(c *cliqueState, h int) {
	root := &c.nodes[0]
	top := math.Inf(-1)
	for k := c.spans[h].from; k < c.spans[h].to; k++ {
		b, lo := c.block(k)
		clear(b)
		for _, t := range root.terms {
			p.terms[t].addTo(b, p.theta, lo)
		}
		for _, ch := range root.children {
			child := &c.nodes[ch]
			child.plan.add(b, child.in, k)
		}
		top = max(top, floats.Max(b))
	}
	c.top[h] = top
}

// product fills a span of the table with the product of the children's exponentials, which is that
// of the log potential relative to c.shift, and sums it to the separator.
func (p *propagator) product(c *cliqueState, h int) {
	root, sums := &c.nodes[0], c.partial[h]
	clear(sums)
	for k := c.spans[h].from; k < c.spans[h].to; k++ {
		b, _ := c.block(k)
		clear(b)
		for i, ch := range root.children {
			child := &c.nodes[ch]
			if i == 0 {
				child.plan.add(b, child.out, k)
			} else {
				child.plan.mul(b, child.out, k)
			}
		}
		c.sep.sum(sums, b, k)
	}
}

// exponentials replaces the log potentials of a span by their exponentials relative to c.shift and
// sums them to the separator.
func (p *propagator) exponentials(c *cliqueState, h int) {
	sums := c.partial[h]
	clear(sums)
	for k := c.spans[h].from; k < c.spans[h].to; k++ {
		b, _ := c.block(k)
		expShift(b, c.shift)
		c.sep.sum(sums, b, k)
	}
}

// share turns the exponentials of a span into probabilities and sums them to the terms; to the
// children, too, where there is one span.
func (p *propagator) share(c *cliqueState, h int) {
	root := &c.nodes[0]
	for k := c.spans[h].from; k < c.spans[h].to; k++ {
		b, lo := c.block(k)
		c.sep.mul(b, c.scale, k)
		for _, t := range root.terms {
			if p.terms[t].coarse == nil {
				copy(p.mu[p.terms[t].off+lo:], b)
			}
		}
		if len(c.spans) == 1 {
			for _, ch := range root.children {
				c.nodes[ch].plan.sum(c.nodes[ch].out, b, k)
			}
		}
	}
}

// shareOut sums the probabilities to the children, each on a goroutine of its own.
func (c *cliqueState) shareOut() {
	var wg sync.WaitGroup
	for _, ch := range c.nodes[0].children {
		child := &c.nodes[ch]
		wg.Go(func() {
			c.nodes[0].blocks(c.table, func(k int, b []float64) { child.plan.sum(child.out, b, k) })
		})
	}
	wg.Wait()
}
