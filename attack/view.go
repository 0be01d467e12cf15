package attack

import (
	"math/rand/v2"

	"github.com/decoy-dp/decoy/release"
)

// sampledRows is how many rows a view draws from a model that cannot be asked for counts. Drawing
// adds noise of its own, which costs the audit power but never makes it wrong.
const sampledRows = 20_000

// view is what an auditor who holds the parameters of a model looks at: how many rows it thinks
// there are, and how many with the target's codes, column by column and in the combinations that it
// models, beside those of the opposite corner.
//
// The features are: number of rows; rows with the target's code in each column; rows with the
// corner's, summed over columns; rows with the target's codes in combinations, and with the
// corner's.
func view(params release.Params, target, corner []uint16) ([]float64, error) {
	if m, ok := params.(*release.Marginal); ok {
		return viewMarginal(m, target, corner)
	}
	return viewSampled(params, target, corner), nil
}

// viewMarginal asks the graphical model. It sees groups of codes, and a rare code is seen with its
// group.
func viewMarginal(p *release.Marginal, target, corner []uint16) ([]float64, error) {
	sizes := p.Model.Sizes()
	codes := p.Sizes()
	group := func(row []uint16, col int) int {
		code := within(row[col], codes[col])
		if g := p.Grouping.Groups(col); g != nil {
			return int(g[code])
		}
		return int(code)
	}
	// cells counts the rows that have the codes of target, and those that have the codes of corner,
	// in all of cols.
	cells := func(cols []int) (atTarget, atCorner float64, err error) {
		n, t, c := 1, 0, 0
		for _, col := range cols {
			n, t, c = n*sizes[col], t*sizes[col]+group(target, col), c*sizes[col]+group(corner, col)
		}
		counts := make([]float64, n)
		if err := p.Model.MarginalTo(counts, cols); err != nil {
			return 0, 0, err
		}
		return counts[t], counts[c], nil
	}
	out := []float64{p.Total()}
	corners, pairs, cornerPairs := 0.0, 0.0, 0.0
	for col := range sizes {
		t, c, err := cells([]int{col})
		if err != nil {
			return nil, err
		}
		out = append(out, t)
		corners += c
	}
	for _, clique := range p.Model.Cliques() {
		t, c, err := cells(clique)
		if err != nil {
			return nil, err
		}
		pairs += t
		cornerPairs += c
	}
	return append(out, corners, pairs, cornerPairs), nil
}

// viewSampled counts in sampled rows, scaled to the model's number of rows.
func viewSampled(p release.Params, target, corner []uint16) []float64 {
	codes := p.Sizes()
	sample := p.Sample(sampledRows, rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())))
	scale := p.Total() / sampledRows
	out := make([]float64, 1+len(target)+3)
	out[0] = p.Total()
	corners, pairs, cornerPairs := 0, 0, 0
	for r := range sampledRows {
		t, c := 0, 0
		for col := range target {
			switch sample[col][r] {
			case within(target[col], codes[col]):
				t++
				out[1+col] += scale
			case corner[col]:
				c++
			}
		}
		corners += c
		pairs += t * (t - 1) / 2
		cornerPairs += c * (c - 1) / 2
	}
	rest := out[1+len(target):]
	rest[0], rest[1], rest[2] = float64(corners)*scale, float64(pairs)*scale,
		float64(cornerPairs)*scale
	return out
}

// within is a code of the schema in a model that has bought coarser bins: the last code stays the
// last one.
func within(code uint16, size int) uint16 { return min(code, uint16(size-1)) }
