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
	block   int       // cells of a block of the table
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

// potential fills a span of the table with the log potential.
func (p *propagator) potential(c *cliqueState, h int) {
	root := &c.nodes[0]
	top := math.Inf(-1)
	for k := c.spans[h].from; k < c.spans[h].to; k++ {
		b := c.table[k*c.block:][:c.block]
		clear(b)
		for _, t := range root.terms {
			p.terms[t].addTo(b, p.theta, k*c.block)
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
		b := c.table[k*c.block:][:c.block]
		clear(b)
		for i, ch := range root.children {
			child := &c.nodes[ch]
			if i == 0 {
				child.plan.add(b, child.out, k)
			} else {
				child.plan.mul(b, child.out, k)
			}
		}
		c.sep.sum(b, sums, k)
	}
}

// exponentials replaces the log potentials of a span by their exponentials relative to c.shift and
// sums them to the separator.
func (p *propagator) exponentials(c *cliqueState, h int) {
	sums := c.partial[h]
	clear(sums)
	for k := c.spans[h].from; k < c.spans[h].to; k++ {
		b := c.table[k*c.block:][:c.block]
		expShift(b, c.shift)
		c.sep.sum(b, sums, k)
	}
}

// share turns the exponentials of a span into probabilities and sums them to the terms; to the
// children, too, where there is one span.
func (p *propagator) share(c *cliqueState, h int) {
	root := &c.nodes[0]
	for k := c.spans[h].from; k < c.spans[h].to; k++ {
		b := c.table[k*c.block:][:c.block]
		c.sep.mul(b, c.scale, k)
		for _, t := range root.terms {
			if p.terms[t].coarse == nil {
				copy(p.mu[p.terms[t].off+k*c.block:], b)
			}
		}
		if len(c.spans) == 1 {
			for _, ch := range root.children {
				c.nodes[ch].plan.sum(b, c.nodes[ch].out, k)
			}
		}
	}
}

// The exponentials of belief propagation: one per cell and iteration, so math.Exp (about 6 ns)
// would be most of the work.
//
// Method: x = (k/128)·ln 2 + r with |r| ≤ ln 2/256, exp(x) = 2^(k/128)·exp(r), the first factor
// from a table and the exponent bits, the second by its Taylor polynomial of degree 4, whose
// remainder is below r⁵/120 < 1.3e-15. The relative error against math.Exp is below 4e-15 on [-708,
// 0] (TestExpShift). Fitting only: sampling never calls it.

const (
	expBits = 7
	expN    = 1 << expBits
	// expMin is where results would leave the normal floats; below it the result is 0.
	expMin = -708.0
)

// expTable[j] = 2^(j/expN).
var expTable = func() (t [expN]float64) {
	for j := range t {
		t[j] = math.Exp2(float64(j) / expN)
	}
	return t
}()

// expShift replaces each x of v by exp(x - shift). Every x must be ≤ shift and not NaN; x = -Inf
// gives 0.
func expShift(v []float64, shift float64) {
	const (
		invL  = expN / math.Ln2
		lHi   = 0x1.62e42fefap-1 / expN // ln 2 in two parts: lHi·k is exact for |k| < 2^20
		lLo   = 0x1.cf79abc9e3b39p-40 / expN
		magic = 0x1.8p52 // adding it rounds to an integer, held in the low bits
	)
	for i, x := range v {
		x -= shift
		if x < expMin {
			v[i] = 0
			continue
		}
		t := x*invL + magic
		// the low 52 bits; the magic's own bits are above 2^51
		k := int64(math.Float64bits(t)) << 12 >> 12
		kf := t - magic
		r := x - kf*lHi - kf*lLo
		r2 := r * r
		p := r + r2*(0.5+r*(1.0/6)+r2*(1.0/24))
		s := expTable[k&(expN-1)]
		y := s + s*p
		v[i] = math.Float64frombits(math.Float64bits(y) + uint64(k>>expBits)<<52)
	}
}
