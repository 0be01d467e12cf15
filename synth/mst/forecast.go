package mst

import "github.com/decoy-dp/decoy/synth"

// Forecast is that of a table without rows.
func (p *plan) Forecast() synth.Forecast { return p.ForecastRows(0) }

// ForecastRows assumes that no codes are merged: a fit needs less. Its constants were measured on
// the tables adult, bank and support2, on one core (go test ./cmd/decoy -run TestForecasts -v -args
// -tables DIR compares).
func (p *plan) ForecastRows(rows int) synth.Forecast {
	f := synth.Forecast{Noise: []synth.Noise{{What: "one-way marginal", Count: p.columns,
		Sigma: p.oneWay}}}
	columns := float64(p.columns)
	// composing privacy-loss distributions: to plan, to reserve, to verify
	f.Seconds = 0.05 + 0.0045*columns
	if p.columns == 1 {
		return f
	}
	f.Noise = append(f.Noise,
		synth.Noise{What: "tree edge selection", Count: p.columns - 1, Eps: p.epsilon},
		synth.Noise{What: "pair marginal", Count: p.columns - 1, Sigma: p.pair})
	sizes := p.schema.Sizes()
	widest, cells, pairs := 0, 0, 0
	for i := range sizes {
		for j := i + 1; j < len(sizes); j++ {
			if sizes[i] > MaxPairCells/sizes[j] {
				continue
			}
			widest = max(widest, sizes[i]*sizes[j])
			cells += sizes[i] * sizes[j]
			pairs++
		}
	}
	tree := widest * (p.columns - 1)
	// An estimate is 8 bytes a candidate cell, its grid form 8 more; the model keeps about five
	// arrays over the tree's cells.
	f.MemoryBytes = int64(16*cells + 5*8*tree)
	// A selection counts every pair that is still open, 0.6 of all in the mean: 1.5 ns a row, 50 ns
	// a cell.
	open := 0.6 * (columns - 1)
	f.Seconds += open * (1.5e-9*float64(pairs)*float64(rows) + 50e-9*float64(cells))
	// The estimation: 20 ns a cell and iteration, over some 150 iterations on what is left of the
	// tree when rare codes are merged.
	f.Seconds += 20e-9 * 150 * float64(tree) / 4
	return f
}
