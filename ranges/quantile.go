package ranges

import (
	"fmt"
	"math"
)

// Quantile is the place below which the share p of the total lies, 0 to n in leaves: leaf ⌊x⌋ is
// reached, and the share x − ⌊x⌋ of it is below. It is monotone in p on counts that are not
// negative ([Counts.NonNegative]); others are read as if negative leaves were empty. p outside 0 to
// 1 is moved inside, NaN gives NaN. Without any count it is p·n.
func (c *Counts) Quantile(p float64) float64 {
	leaves := c.values[c.tree.Height()]
	if math.IsNaN(p) {
		return p
	}
	p = min(1, max(0, p))
	total := 0.0
	for _, x := range leaves {
		total += max(0, x)
	}
	if total == 0 {
		return p * float64(len(leaves))
	}
	below, last := 0.0, 0.0
	for i, x := range leaves {
		if x <= 0 {
			continue
		}
		if below+x >= p*total {
			return min(float64(i)+max(0, (p*total-below)/x), float64(i+1))
		}
		below, last = below+x, float64(i+1)
	}
	return last
}

// Bins cuts the leaves into k intervals, 1 ≤ k ≤ n, with about equal counts: it returns the first
// leaf of each interval, the first of which is 0. A leaf that holds more than its share is an
// interval of its own, and the rest is shared by the others. It panics for other k. Negative counts
// are read as 0.
func (c *Counts) Bins(k int) []int {
	leaves := c.values[c.tree.Height()]
	if k < 1 || k > len(leaves) {
		panic(fmt.Sprintf("ranges: %d intervals of %d leaves", k, len(leaves)))
	}
	rest := 0.0
	for _, x := range leaves {
		rest += max(0, x)
	}
	starts := []int{0}
	if rest == 0 { // nothing is known: intervals of even width
		for i := 1; i < k; i++ {
			starts = append(starts, i*len(leaves)/k)
		}
		return starts
	}
	filled := 0.0
	for i := 0; len(starts) < k; i++ {
		// Leaf i joins the open interval, or opens the next one. Every further interval needs a leaf.
		x, open, left := max(0, leaves[i]), starts[len(starts)-1], k-len(starts)
		share := (rest + filled) / float64(left+1) // of the open interval and each of those to come
		must := len(leaves)-i <= left
		if i > open && (must || filled+x-share > share-filled) {
			starts = append(starts, i)
			filled = 0
		}
		filled += x
		rest -= x
	}
	return starts
}
