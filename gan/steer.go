package gan

import (
	"math"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/internal/kernels"
	"github.com/decoy-dp/decoy/internal/matrix"
)

// How rows are steered. Chosen on adult.
const (
	steeredRows  = 1 << 14 // that are steered together, at most
	steeredCells = 1 << 23 // of the rows that are steered together
	steeredBatch = 1024    // rows that the network computes together
	// MaxSteered is the most cells of a row that can be steered: the square of them is counted.
	MaxSteered = 1 << 13
)

// sweeps are the weights β of the counts in the sweeps over the rows.
var sweeps = []float64{1, 8, 64, 512}

// SampleToward draws n rows, column-major codes, with randomness from u alone, such that their
// pairs of columns are close to p. The codes x of a row are drawn given its latent numbers z, and
// then again and again, column by column (Gibbs sampling; Geman, Geman, IEEE TPAMI 1984), with the
// probabilities
//
//	∝ p(x|z) · exp(−β/2 · Σ_k (N_k − n·p_k)²/(n·p_k + 1)),
//
// where k are the cells of one or two columns, N_k the rows so far that have them, and β grows from
// sweep to sweep. So each code is one that the generator gives these latent numbers; the pairs
// decide which of them. It panics if the cells of a row are more than [MaxSteered].
func (g *Generator) SampleToward(p *Pairs, n int, u *rand.Rand) [][]uint16 {
	cells := g.encoder.Cells()
	if cells > MaxSteered {
		panic("gan: too many cells to steer by")
	}
	codes := make([][]uint16, g.encoder.Columns())
	for k := range codes {
		codes[k] = make([]uint16, n)
	}
	block := min(steeredRows, max(1, steeredCells/cells))
	s := newSteering(g, p, u)
	for first := 0; first < n; first += block {
		s.draw(min(block, n-first))
		for _, beta := range sweeps {
			for i, row := range s.rows {
				s.again(row, s.chance.Row(i), beta)
			}
		}
		for i, row := range s.rows {
			for k, cell := range row {
				codes[k][first+i] = uint16(cell - g.offsets[k])
			}
		}
	}
	return codes
}

// steering holds the rows that are steered together.
type steering struct {
	g      *Generator
	u      *rand.Rand
	p      *Pairs
	n      float32       // rows that are steered together
	chance matrix.Matrix // of each row, the probabilities of its cells given its latent numbers
	rows   [][]int       // of each row, the cell of each column
	// what one more row with a cell, or with two, adds to the sum: (2(N_k − n·p_k) + 1)·weight
	one    []float32
	two    matrix.Matrix
	score  []float32 // of the codes of a column
	others []int
}

func newSteering(g *Generator, p *Pairs, u *rand.Rand) *steering {
	cells := g.encoder.Cells()
	return &steering{g: g, u: u, p: p, one: make([]float32, cells), two: matrix.New(cells, cells),
		score: make([]float32, cells)}
}

// weight is that of the cells with a share.
func (s *steering) weight(share float32) float32 { return 1 / (s.n*share + 1) }

// draw draws rows as they come. What those before them have too much or too few stays counted.
func (s *steering) draw(n int) {
	before := *s
	s.n = float32(n)
	next := func(scores, shares []float32) {
		for i, share := range shares {
			over := float32(0) // 2(N − np) of the rows before
			if before.n > 0 {
				over = scores[i]/before.weight(share) - 1
			}
			scores[i] = (over - 2*s.n*share + 1) * s.weight(share)
		}
	}
	next(s.one, s.p.ones)
	next(s.two.Data, s.p.pairs.Data)
	s.chance, s.rows = matrix.New(n, len(s.one)), make([][]int, n)
	offsets := s.g.offsets
	pass := s.g.NewPass(steeredBatch, Head{Mean: true})
	for i := range n {
		if i%steeredBatch == 0 {
			x := pass.Forward(s.u)
			copy(s.chance.Data[i*x.Cols:], x.Data)
		}
		row := make([]int, len(offsets)-1)
		for k := range row {
			row[k] = offsets[k] + pick(s.chance.Row(i)[offsets[k]:offsets[k+1]], 1, s.u)
			s.count(row[:k], row[k], 1)
		}
		s.rows[i] = row
	}
}

// count adds, sign times, a row's cell and its pairs with the row's other cells.
func (s *steering) count(others []int, cell int, sign float32) {
	s.one[cell] += 2 * sign * s.weight(s.p.ones[cell])
	shares, scores := s.p.pairs.Row(cell), s.two.Row(cell)
	for _, other := range others {
		add := 2 * sign * s.weight(shares[other])
		scores[other] += add
		s.two.Row(other)[cell] += add
	}
}

// again draws the codes of a row once more.
func (s *steering) again(row []int, chance []float32, beta float64) {
	for k, cell := range row {
		first, end := s.g.offsets[k], s.g.offsets[k+1]
		score := s.score[:end-first]
		s.others = append(append(s.others[:0], row[:k]...), row[k+1:]...)
		s.count(s.others, cell, -1)
		copy(score, s.one[first:end])
		for _, other := range s.others {
			kernels.AddTo(score, s.two.Row(other)[first:end])
		}
		least := float32(math.Inf(1))
		for c, x := range score {
			if chance[first+c] > 0 {
				least = min(least, x)
			}
		}
		total := float32(0)
		for c, x := range score {
			score[c] = chance[first+c] * float32(math.Exp(-beta/2*float64(x-least)))
			total += score[c]
		}
		row[k] = first + pick(score, total, s.u)
		s.count(s.others, row[k], 1)
	}
}

// pick draws an index with chances that add up to total.
func pick(chance []float32, total float32, u *rand.Rand) (likely int) {
	left := u.Float32() * total
	for i, p := range chance {
		if left -= p; left < 0 {
			return i
		}
		if p > chance[likely] {
			likely = i
		}
	}
	return likely // rounding
}
