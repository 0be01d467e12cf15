package pategan

import (
	"slices"

	"github.com/decoy-dp/decoy/schema"
)

// groupsOf merges the codes of a column until each group's noisy count is at least the threshold:
// neighbouring codes of an ordered column, the rarest codes of a categorical one. It returns the
// group of each code, numbered without gaps, and the number of groups.
func groupsOf(c schema.Column, noisy []int64, threshold float64) (of []uint16, groups int) {
	of = make([]uint16, len(noisy))
	if threshold <= 0 {
		for code := range of {
			of[code] = uint16(code)
		}
		return of, len(of)
	}
	if !c.Kind.Ordered() {
		order := make([]int, len(noisy))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order,
			func(a, b int) int { return int(min(max(noisy[a]-noisy[b], -1), 1)) })
		// Rare codes share the first group until it is large enough; each other code is its own
		// group.
		sum := 0.0
		for _, code := range order {
			of[code] = uint16(groups)
			if sum += float64(noisy[code]); sum >= threshold {
				groups, sum = groups+1, 0
			}
		}
		if sum > 0 || groups == 0 {
			groups++
		}
		return closed(of, groups)
	}
	// The last code of a column that may be missing is "missing", a group of its own.
	ordered := len(noisy)
	if len(c.Missing) > 0 && ordered > 1 {
		ordered--
	}
	sum := 0.0
	for code := range ordered {
		of[code] = uint16(groups)
		if sum += float64(noisy[code]); sum >= threshold {
			groups, sum = groups+1, 0
		}
	}
	if groups == 0 {
		groups = 1
	}
	for code := range ordered { // what is left at the upper end joins the last group
		of[code] = min(of[code], uint16(groups-1))
	}
	if ordered < len(noisy) {
		of[ordered] = uint16(groups)
		groups++
	}
	return of, groups
}

// closed renumbers groups so that there are no gaps.
func closed(of []uint16, groups int) ([]uint16, int) {
	next, n := make([]int, groups+1), 0
	for i := range next {
		next[i] = -1
	}
	out := make([]uint16, len(of))
	for i, g := range of {
		if next[g] < 0 {
			next[g] = n
			n++
		}
		out[i] = uint16(next[g])
	}
	return out, n
}
