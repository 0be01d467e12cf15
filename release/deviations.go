package release

import (
	"cmp"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/marginal"
	"github.com/decoy-dp/decoy/workload"
)

// noiseErrors is for each item the standard error of the measurement that answers it most precisely
// by itself: cells of one marginal have independent noise, so a sum of c cells has σ·√c. Codes that
// were merged before the measurement share their noise, which then is less. It is +Inf of what no
// measurement answers.
//
// Measurements are the noisy marginals of the file, apart from those over runs of codes, which
// answer nothing by themselves, and the marginals that mwem lists in the settings under "measured".
// Its counts of conditions are listed by names, which another query may have too. The settings are
// the file's own words, so nothing in them is taken on trust but numbers and names of columns.
func noiseErrors(m *Model, w *workload.Workload) []float64 {
	p := m.params.(*Marginal)
	known := slices.DeleteFunc(p.whole(), func(one marginal.Measurement) bool {
		for i, c := range one.Cols {
			if one.Groups[i] != nil && !slices.Equal(one.Groups[i], p.Grouping.Groups(c)) {
				return true
			}
		}
		return false
	})
	list, _ := m.Settings["measured"].([]any)
	for _, x := range list {
		said, _ := x.(map[string]any)
		sigma, _ := said["sigma"].(float64)
		names, _ := said["columns"].([]any)
		one := marginal.Measurement{Sigma: sigma}
		for _, name := range names {
			text, _ := name.(string)
			one.Cols = append(one.Cols, m.schema.Index(text))
		}
		if sigma > 0 && len(names) > 0 && !slices.Contains(one.Cols, -1) {
			known = append(known, one)
		}
	}
	sizes, out := w.Schema().Sizes(), slices.Repeat([]float64{math.Inf(1)}, w.Len())
	for i := range out {
		it, cols := w.Item(i), w.Item(i).Columns()
		if it.Fine != nil { // the share within a bin is the model's guess, which has no known error
			continue
		}
		inside := 0.0 // cells of the item's own columns that an answer adds up
		for _, one := range known {
			cells, found := 1.0, 0
			for _, c := range one.Cols {
				if slices.Contains(cols, c) {
					found++
				} else {
					cells *= float64(sizes[c])
				}
			}
			if found == len(cols) {
				inside = cmp.Or(inside, it.Cells(sizes))
				out[i] = min(out[i], one.Sigma*math.Sqrt(cells*inside))
			}
		}
	}
	return out
}
