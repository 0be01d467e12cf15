package release

import (
	"math"
	"slices"

	"github.com/decoy-dp/decoy/workload"
)

// deviations are the standard errors of the numbers of one item.
type deviations struct {
	covers string    // "noise", "sampling" or "none"
	all    float64   // of every number, unless each is set
	each   []float64 // of each
}

// at is the standard error of number k.
func (d deviations) at(k int) (float64, bool) {
	switch {
	case d.covers == "none":
		return 0, false
	case d.each != nil:
		return d.each[k], true
	}
	return d.all, true
}

// measurement is a measurement that a model's settings tell of.
type measurement struct {
	cols  []int
	sigma float64
	query string // "" for a marginal, of which every cell has noise of deviation sigma
}

// measurements are the noisy marginals of the file, apart from those over runs of codes, which
// answer nothing by themselves, and the list that other methods leave in the settings under
// "measured". The settings are the file's own words, so nothing in them is taken on trust but
// numbers and names of columns.
func measurements(m *Model) []measurement {
	var out []measurement
	add := func(columns any, sigma any, query string) {
		names, _ := columns.([]any)
		s, ok := sigma.(float64)
		if !ok || !(s > 0) || len(names) == 0 {
			return
		}
		one := measurement{sigma: s, query: query}
		for _, name := range names {
			text, _ := name.(string)
			c := m.Schema().Index(text)
			if c < 0 {
				return
			}
			one.cols = append(one.cols, c)
		}
		out = append(out, one)
	}
	if p, ok := m.Params().(*Marginal); ok {
		for _, one := range p.whole() {
			coarse := false
			for i, c := range one.Cols {
				if one.Groups != nil && one.Groups[i] != nil &&
					!slices.Equal(one.Groups[i], p.Grouping.Groups(c)) {
					coarse = true
				}
			}
			if !coarse {
				out = append(out, measurement{cols: one.Cols, sigma: one.Sigma})
			}
		}
	}
	list, _ := m.Settings["measured"].([]any)
	for _, x := range list {
		if one, ok := x.(map[string]any); ok {
			query, _ := one["query"].(string)
			add(one["columns"], one["sigma"], query)
		}
	}
	return out
}

// noiseErrors is for each item the standard error of the measurement that answers it most precisely
// by itself: cells of one marginal have independent noise, so a sum of c cells has σ·√c. Codes that
// were merged before the measurement share their noise, which then is less.
func noiseErrors(m *Model, w *workload.Workload) []deviations {
	known := measurements(m)
	sizes := w.Schema().Sizes()
	out := make([]deviations, w.Len())
	for i := range out {
		it, cols := w.Item(i), w.Item(i).Columns()
		best := math.Inf(1)
		if it.Fine != nil { // the share within a bin is the model's guess, which has no known error
			out[i] = deviations{covers: "none", all: best}
			continue
		}
		inside := -1.0 // cells of the item's own columns that an answer adds up
		for _, one := range known {
			if one.query != "" {
				if one.query == it.Name && it.IsCount() {
					best = min(best, one.sigma)
				}
				continue
			}
			cells := 1.0
			for _, c := range one.cols {
				if !slices.Contains(cols, c) {
					cells *= float64(sizes[c])
				}
			}
			if slices.ContainsFunc(cols, func(c int) bool { return !slices.Contains(one.cols, c) }) {
				continue
			}
			if inside < 0 {
				inside = itemCells(it, sizes, cols)
			}
			best = min(best, one.sigma*math.Sqrt(cells*inside))
		}
		out[i] = deviations{covers: "noise", all: best}
		if math.IsInf(best, 1) {
			out[i].covers = "none"
		}
	}
	return out
}

// itemCells is how many cells of the table over cols one number of the item adds up.
func itemCells(it workload.Item, sizes, cols []int) float64 {
	if !it.IsCount() {
		return 1
	}
	cells := 0.0
	for _, r := range workload.Runs(it.Where, sizes, cols) {
		cells += float64(r.Hi - r.Lo)
	}
	return cells
}
