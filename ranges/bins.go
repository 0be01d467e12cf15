package ranges

import "fmt"

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
