package release

import (
	"math"
	"slices"

	"github.com/decoy-dp/decoy/workload"
)

// measurement is one of which the counts are in the model, or were.
type measurement struct {
	cols  []int
	sigma float64 // of the noise of every cell
	query string  // of a query, which is no marginal
}

// measurements are the noisy marginals of the file, apart from those over runs of codes, which
// answer nothing by themselves, and the list that other methods leave in the settings under
// "measured". The settings are the file's own words, so nothing in them is taken on trust but
// numbers and names of columns.
func measurements(m *Model) []measurement {
	var out []measurement
	if p, ok := m.Params().(*Marginal); ok {
		for _, one := range p.whole() {
			fine := true
			for i, c := range one.Cols {
				groups := one.Groups[i]
				fine = fine && (groups == nil || slices.Equal(groups, p.Grouping.Groups(c)))
			}
			if fine {
				out = append(out, measurement{cols: one.Cols, sigma: one.Sigma})
			}
		}
	}
	list, _ := m.Settings["measured"].([]any)
	for _, x := range list {
		said, _ := x.(map[string]any)
		one := measurement{}
		one.query, _ = said["query"].(string)
		one.sigma, _ = said["sigma"].(float64)
		names, _ := said["columns"].([]any)
		for _, name := range names {
			text, _ := name.(string)
			one.cols = append(one.cols, m.Schema().Index(text))
		}
		if one.sigma > 0 && len(names) > 0 && !slices.Contains(one.cols, -1) {
			out = append(out, one)
		}
	}
	return out
}

// noiseErrors is for each item the standard error of the measurement that answers it most precisely
// by itself: cells of one marginal have independent noise, so a sum of c cells has σ·√c. Codes that
// were merged before the measurement share their noise, which then is less. It is +Inf of what no
// measurement answers.
func noiseErrors(m *Model, w *workload.Workload) []float64 {
	known := measurements(m)
	sizes := w.Schema().Sizes()
	out := make([]float64, w.Len())
	for i := range out {
		it, cols := w.Item(i), w.Item(i).Columns()
		best := math.Inf(1)
		if it.Fine != nil { // the share within a bin is the model's guess, which has no known error
			out[i] = best
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
				inside = it.Cells(sizes)
			}
			best = min(best, one.sigma*math.Sqrt(cells*inside))
		}
		out[i] = best
	}
	return out
}
