package marginal

import (
	"fmt"
	"math"
	"slices"
)

// bend is how much a row that an even bin would put on the wrong side of a place counts, beside one
// that is in the bin: rows that are not spread evenly are cut before even ones that are more.
const bend = 4

// Bins cuts the leaves into at most k intervals within which rows are spread about evenly, none
// with many more than another: it returns the first leaf of each, the first of which is 0. It cuts
// one interval in two for as long as there are less than k: the one with the most rows at its
// median, or that where the running count is farthest from a straight line, there. So a spike, a
// gap and a tail get ends of their own.
//
// noise is the standard deviation in rows of one measurement, times as many as a cut must stand out
// by; with 0 there are k intervals, if there are as many leaves. Negative counts are read as 0. It
// panics for k < 1.
func (c *Counts) Bins(k int, noise float64) []int {
	if k < 1 {
		panic(fmt.Sprintf("marginal: %d intervals", k))
	}
	leaves := c.values[c.tree.Height()]
	sums := make([]float64, len(leaves)+1)
	for i, x := range leaves {
		sums[i+1] = sums[i] + max(0, x)
	}
	open := []interval{c.interval(sums, 0, len(leaves), noise)}
	starts := []int{0}
	for len(starts) < k {
		best := 0
		for i := range open {
			if open[i].gain > open[best].gain {
				best = i
			}
		}
		b := open[best]
		if b.gain < 0 {
			break
		}
		starts = append(starts, b.cut)
		open[best] = c.interval(sums, b.lo, b.cut, noise)
		open = append(open, c.interval(sums, b.cut, b.hi, noise))
	}
	slices.Sort(starts)
	return starts
}

// interval is a run of leaves, from lo up to but not including hi, where it would be cut, and what
// that is worth: less than 0, nothing.
type interval struct {
	lo, hi, cut int
	gain        float64
}

func (c *Counts) interval(sums []float64, lo, hi int, noise float64) interval {
	out := interval{lo: lo, hi: hi, gain: -1}
	if hi-lo < 2 {
		return out
	}
	rows, slope := sums[hi]-sums[lo], (sums[hi]-sums[lo])/float64(hi-lo)
	median, bent, most := lo+1, lo+1, 0.0
	for i := lo + 1; i < hi; i++ {
		if math.Abs(sums[i]-sums[lo]-rows/2) < math.Abs(sums[median]-sums[lo]-rows/2) {
			median = i
		}
		if off := math.Abs(sums[i] - sums[lo] - slope*float64(i-lo)); off > most {
			bent, most = i, off
		}
	}
	stands := func(rows float64, from, to int) bool {
		return noise == 0 || rows >= noise*math.Sqrt(c.tree.variance(c.within, from, to))
	}
	switch {
	case bend*most > rows && stands(most, lo, bent):
		out.cut, out.gain = bent, bend*most
	case rows == 0 && noise == 0:
		out.cut, out.gain = (lo+hi)/2, 0
	case stands(sums[median]-sums[lo], lo, median) && stands(sums[hi]-sums[median], median, hi):
		out.cut, out.gain = median, rows
	}
	return out
}
