package synth

import (
	"math"
	"slices"
)

// Forecast assumes that as many codes stay unmerged as so many rows can lift above the noise, all
// of them if rows is 0, and that the tree has half the cells of the largest. Its constants were
// measured on the tables adult, bank and support2, on one core (go test ./cmd/decoy -run
// TestForecasts -v -args -tables DIR compares).
func (p *mstPlan) Forecast(rows int) Forecast {
	f := Forecast{Joints: jointsOf(p.columns, p.pairs()), Noise: []Noise{
		{What: "one-way marginal", Columns: 1, Count: p.columns, Sigma: p.oneWay}}}
	columns := float64(p.columns)
	f.Seconds = 0.05 + 0.0045*columns
	if p.columns == 1 {
		return f
	}
	f.Noise = append(f.Noise,
		Noise{What: "tree edge selection", Count: p.columns - 1, Eps: p.epsilon},
		Noise{What: "pair marginal", Columns: 2, Count: p.columns - 1, Sigma: p.pair})
	codes, sizes := p.schema.Sizes(), p.schema.Sizes()
	least := p.cfg.GroupSigmas * p.oneWay // rows of a code that stays
	noise := math.Erfc(p.cfg.GroupSigmas/math.Sqrt2) / 2
	for c, k := range codes {
		if rows > 0 {
			sizes[c] = min(k, int(float64(rows)/least+noise*float64(k))+2)
		}
	}
	sum, cells, pairs := 0, 0, 0
	for i, k := range sizes {
		sum += k
		for j := i + 1; j < len(sizes); j++ {
			if codes[i] <= maxPairCells/codes[j] {
				cells += k * sizes[j]
				pairs++
			}
		}
	}
	widest := slices.Max(sizes)
	tree := min(widest*(sum-widest), cells) / 2 // the largest: the pairs of the widest column
	// An estimate is 8 bytes a candidate cell, its grid form 8 more; the model keeps about five
	// arrays over the tree's cells.
	f.MemoryBytes = int64(16*cells + 5*8*tree)
	// A selection counts every pair that is still open, 0.6 of all in the mean: 1 ns a row, 30 ns
	// a cell.
	open := 0.6 * (columns - 1)
	f.Seconds += open * (1e-9*float64(pairs)*float64(rows) + 30e-9*float64(cells))
	// The estimation: 10 ns a cell and iteration, over some 150 iterations on what is left of the
	// tree when rare codes are merged.
	f.Seconds += 10e-9 * 150 * float64(tree) / 2
	return f
}
