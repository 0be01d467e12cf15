package schema

import (
	"math"
	"slices"
	"sort"
)

// Cut gives a codec that tells more values of a column with an order apart: a bin begins also at
// each of the values at, in any order, that is inside one. of is the code of c for each of its
// codes, share the probability that a value drawn for that code falls into it: [Codec.Decode]'s own
// law. It is for conditions: it reads nothing, and draws as c does the values that are in the finer
// bin, of which there are none where the share is 0. At most maxCodes cuts more than that are left
// out.
func (c *Codec) Cut(at []float64) (fine *Codec, of []uint16, share []float64) {
	f, b := *c, *c.bins
	at = slices.Compact(slices.Sorted(slices.Values(at)))
	b.lower, b.perUnit, b.tails, b.ticks.first, b.ticks.last = nil, 0, nil, nil, nil
	ticks := &c.bins.ticks
	for i := range c.bins.count() {
		lo, hi := c.bins.bounds(i)
		edges := []float64{lo}
		for _, x := range at {
			if x > lo && x <= hi && !(x == hi && !b.whole && i < c.bins.count()-1) &&
				len(b.lower)+len(edges) < maxCodes-c.size {
				edges = append(edges, x)
			}
		}
		for k, x := range edges {
			end := math.Inf(1)
			if k+1 < len(edges) {
				end = edges[k+1]
			}
			b.lower, of = append(b.lower, x), append(of, uint16(i))
			from, to := c.bins.offset(i, x), c.bins.offset(i, end)
			t, w := c.bins.tails[i], c.bins.width(i)
			share = append(share, t.below(to, w)-t.below(from, w))
			b.tails = append(b.tails, t.cut(from, to, w))
			if ticks.first != nil {
				b.ticks.first = append(b.ticks.first, ticks.first[i]+int64(from))
				b.ticks.last = append(b.ticks.last, ticks.first[i]+int64(to)-1)
			}
		}
	}
	f.bins, f.size, f.values = &b, len(b.lower), len(b.lower)
	if c.values < c.size {
		f.size++
		of, share = append(of, uint16(c.values)), append(share, 1)
	}
	return &f, of, share
}

// offset is how much of the width of bin i is below x.
func (b *bins) offset(i int, x float64) float64 {
	if g := &b.ticks; g.first != nil {
		return float64(g.below(i, x))
	}
	lo, hi := b.bounds(i)
	return min(max(x, lo), hi) - lo
}

// below is the number of ticks of bin i below x.
func (g *ticks) below(i int, x float64) int64 {
	n := int(g.last[i] - g.first[i] + 1)
	return int64(sort.Search(n, func(k int) bool { return g.value(g.first[i]+int64(k)) >= x }))
}

// Next is the least value above x that a column with an order can have.
func (c *Codec) Next(x float64) float64 {
	if c.bins.whole {
		return math.Floor(x) + 1
	}
	return math.Nextafter(x, math.Inf(1))
}

// Between says which bins of a column with an order hold no values but those x with from ≤ x <
// below; cut is the first of those that hold such and others, or −1.
func (c *Codec) Between(from, below float64) (allow []bool, cut int) {
	if c.bins.whole {
		from, below = math.Ceil(from), math.Ceil(below)
	}
	allow, cut = make([]bool, c.size), -1
	for i, lo := range c.bins.lower {
		_, hi := c.bins.bounds(i)
		if c.bins.whole || i == c.bins.count()-1 {
			hi = c.Next(hi)
		}
		allow[i] = lo >= from && hi <= below
		if cut < 0 && from < below && !allow[i] && lo < below && hi > from {
			cut = i
		}
	}
	return allow, cut
}
