package release

import (
	"math"
	"slices"

	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/model/workload"
)

// noiseErrors is for each item the standard error of the best linear unbiased estimate from the
// measurements together; +Inf of what no measurement answers by itself.
//
// A table over the columns S splits into independent parts, one for each R ⊆ S: what it says of R
// beyond the subsets of R. Part R is known from every measurement of R and more columns, which have
// σ²·(their codes) of noise each, added up as inverse variances to p_R. With f_c the share of the
// codes of column c that an item allows, k_c their number,
//
//	variance = Σ_R 1/p_R · ∏_{c ∈ R} f_c·(1 − f_c)·k_c · ∏_{c ∈ S∖R} f_c²
//
// (Xiao, He, Zhang, Kifer, ResidualPlanner, NeurIPS 2023, arXiv 2305.08175). Of an item of several
// columns only the number of cells is looked at: they are taken to be shared out alike.
//
// Measurements are the noisy marginals of the file, of the columns that they do not cut into runs
// of codes, and the marginals that mwem lists in the settings under "measured". Its counts of
// conditions are listed by names, which another query may have too. The settings are the file's own
// words, so nothing in them is taken on trust but numbers and names of columns.
func noiseErrors(m *Model, w *workload.Workload) []float64 {
	p := m.params.(*Marginal)
	known := p.whole()
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
	sizes, out := w.Schema().Sizes(), slices.Repeat([]float64{math.Inf(1)}, len(w.Items()))
	for i, it := range w.Items() {
		cols, cells := it.Columns(), it.Cells(sizes)
		if it.Fine != nil || len(cols) > 10 || math.IsInf(cells, 1) {
			continue // 2^n parts; the share within a bin is the model's guess, with no known error
		}
		all := 1.0
		for _, c := range cols {
			all *= float64(sizes[c])
		}
		spread := math.Log(all/cells) / math.Log(math.Max(all, 2))
		out[i] = 0
		for mask := range 1 << len(cols) {
			var part []int
			share := 1.0
			for j, c := range cols {
				k := float64(sizes[c])
				if f := math.Pow(k, -spread); mask>>j&1 == 0 {
					share *= f * f
				} else {
					part = append(part, c)
					share *= f * (1 - f) * k
				}
			}
			if share > 0 {
				out[i] += share / precision(known, p.Grouping, sizes, part)
			}
		}
		out[i] = math.Sqrt(out[i])
	}
	return out
}

// precision is the inverse variance of a cell of the table over these columns, from all
// measurements that have them at full detail.
func precision(
	known []marginal.Measurement, g *marginal.Grouping, sizes, cols []int,
) (sum float64) {
	for _, one := range known {
		variance, found := one.Sigma*one.Sigma, 0
		for i, codes := range one.Shape(sizes) {
			c := one.Cols[i]
			if !slices.Contains(cols, c) {
				variance *= float64(codes)
			} else if one.Groups == nil || one.Groups[i] == nil ||
				slices.Equal(one.Groups[i], g.Groups(c)) {
				found++
			}
		}
		if found == len(cols) {
			sum += 1 / variance
		}
	}
	return sum
}

// shrunk is the standard error of an answer whose unbiased estimate has that one. The model keeps
// what the noise hides near what its others say, so small answers scatter less: about .3 of it at
// 0, .65 at one, .86 at four (root mean squares of some 20 000 cells, half of them of icu-mortality
// at ε = 3, the others of the cohorts, heart_cleveland and adult).
func shrunk(answer, e float64) float64 {
	x := math.Max(answer, 0) / math.Max(e, 1e-9)
	return e * (0.3 + x) / (1 + x)
}
