package mst

import "github.com/decoy-dp/decoy/synth"

// Forecast assumes the widest pairs of the schema, ungrouped: a fit needs less.
func (p *plan) Forecast() synth.Forecast {
	f := synth.Forecast{Noise: []synth.Noise{{What: "one-way marginal", Count: p.columns, Sigma: p.oneWay}}}
	if p.columns == 1 {
		return f
	}
	f.Noise = append(f.Noise,
		synth.Noise{What: "tree edge selection", Count: p.columns - 1, Eps: p.epsilon},
		synth.Noise{What: "pair marginal", Count: p.columns - 1, Sigma: p.pair})
	sizes := p.schema.Sizes()
	widest, candidates := 0, 0
	for i := range sizes {
		for j := i + 1; j < len(sizes); j++ {
			if sizes[i] > MaxPairCells/sizes[j] {
				continue
			}
			widest = max(widest, sizes[i]*sizes[j])
			candidates += sizes[i] * sizes[j]
		}
	}
	tree := widest * (p.columns - 1)
	// An estimate is 8 bytes a candidate cell, its grid form 8 more; the model keeps about five arrays over the tree's cells.
	f.MemoryBytes = int64(16*candidates + 5*8*tree)
	// Measured: about 20 ns a cell and iteration over some 500 iterations, and 2 ns a candidate cell and selection.
	f.Seconds = 20e-9*500*float64(tree) + 2e-9*float64(candidates)*float64(p.columns-1)
	return f
}
