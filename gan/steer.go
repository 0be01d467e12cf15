package gan

import (
	"math/rand/v2"

	"github.com/decoy-dp/decoy/internal/matrix"
	"github.com/decoy-dp/decoy/model/marginal"
)

const (
	steeredRows  = 1 << 14 // that are steered together, at most
	steeredCells = 1 << 23 // of the rows that are steered together
	steeredBatch = 1024    // rows that the network computes together
)

// betas are the weights of the sweeps over the rows. Chosen on adult.
var betas = []float64{1, 8, 64, 512}

// SampleToward draws n rows, column-major codes, with randomness from u alone, such that their
// pairs of columns are close to p (package marginal). The codes of a row are drawn, and steered,
// with their probabilities given the row's latent numbers: each code is one that the generator
// gives these numbers; the pairs decide which of them.
func (g *Generator) SampleToward(p *marginal.Pairs, n int, u *rand.Rand) [][]uint16 {
	codes, block := make([][]uint16, g.encoder.Columns()), make([][]uint16, g.encoder.Columns())
	for k := range codes {
		codes[k] = make([]uint16, n)
	}
	s, cells := marginal.NewSteering(p, u), g.encoder.Cells()
	pass := g.NewPass(steeredBatch, Head{Mean: true})
	most := min(steeredRows, max(1, steeredCells/cells))
	for first := 0; first < n; first += most {
		rows := min(most, n-first)
		chance := matrix.New(rows, cells)
		of := func(i, k int) []float32 { return chance.Row(i)[g.offsets[k]:g.offsets[k+1]] }
		for k := range block {
			block[k] = codes[k][first : first+rows]
		}
		for i := range rows {
			if i%steeredBatch == 0 {
				copy(chance.Data[i*cells:], pass.Forward(u).Data)
			}
			for k := range block {
				block[k][i] = uint16(marginal.Pick(of(i, k), 1, u))
			}
		}
		s.Rows(block, betas, rows, func(dst []float32, i, k int) { copy(dst, of(i, k)) })
	}
	return codes
}
