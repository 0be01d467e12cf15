package marginal

import (
	"math"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/internal/kernels"
	"github.com/decoy-dp/decoy/internal/matrix"
)

// Drawn rows are changed a little, so that their pairs of columns are closer to given ones than
// chance leaves them. It is post-processing: of public rows, towards public pairs.

// Pairs are one- and two-way marginals of rows. A cell is a code of a column.
type Pairs struct {
	Offsets []int         // first cell of each column, one more than columns
	Ones    []float32     // share of each cell
	Two     matrix.Matrix // cells × cells: share of each pair of cells of different columns
}

// CountPairs counts rows of codes, column-major, of which there is at least one. sizes are the
// codes of each column.
func CountPairs(sizes []int, codes [][]uint16) *Pairs {
	p := &Pairs{Offsets: []int{0}}
	for k, n := range sizes {
		p.Offsets = append(p.Offsets, p.Offsets[k]+n)
	}
	cells, rows := p.Offsets[len(sizes)], float32(len(codes[0]))
	p.Ones, p.Two = make([]float32, cells), matrix.New(cells, cells)
	tally(p.Offsets, codes, func(cell int, n float32) { p.Ones[cell] = n / rows },
		func(a, b int, n float32) { p.Two.Row(a)[b] = n / rows })
	return p
}

// Meet gives the columns the shares that they have in the model m, and scales pairs with them, in
// place. Where the rows that were counted are those of one seed, they are off in the same way for
// every model.
func (p *Pairs) Meet(m *Model) *Pairs {
	for c, k := range m.Sizes() {
		counts := make([]float64, k)
		_ = m.MarginalTo(counts, []int{c}) // a column is inside a clique: there is no error
		for i, x := range counts {
			cell := p.Offsets[c] + i
			scale := float32(x/m.Total()) / max(p.Ones[cell], math.SmallestNonzeroFloat32)
			p.Ones[cell] *= scale
			for other := range p.Ones {
				p.Two.Row(cell)[other] *= scale
				p.Two.Row(other)[cell] *= scale
			}
		}
	}
	return p
}

// tally calls one with how many rows have a cell, and two, in both orders, with how many have two
// cells of different columns.
func tally(offsets []int, codes [][]uint16, one func(int, float32), two func(a, b int, n float32)) {
	var counts []uint32
	for k, column := range codes {
		first, size := offsets[k], offsets[k+1]-offsets[k]
		counts = append(counts[:0], make([]uint32, size)...)
		for _, code := range column {
			counts[code]++
		}
		for i, n := range counts {
			one(first+i, float32(n))
		}
		for l, other := range codes[:k] {
			width := offsets[l+1] - offsets[l]
			counts = append(counts[:0], make([]uint32, size*width)...)
			for r, code := range column {
				counts[int(code)*width+int(other[r])]++
			}
			for i, n := range counts {
				two(first+i/width, offsets[l]+i%width, float32(n))
				two(offsets[l]+i%width, first+i/width, float32(n))
			}
		}
	}
}

// Steering steers rows, block by block: each makes up for what those before it have too much or too
// few. Of a row, the codes are drawn again, column by column (Gibbs sampling; Geman, Geman, IEEE
// TPAMI 1984), with the probabilities
//
//	∝ q(x) · exp(−β/2 · Σ_k w_k·(N_k − n·p_k)²/(n·p_k + 1)),
//
// where q says which codes the row may have, k are the cells of one or two columns, N_k the rows so
// far that have them, p_k their shares and n the rows of the block; w_k is 1 for two columns,
// and more for one (oneWeight).
type steering struct {
	p *Pairs
	u *rand.Rand
	n float32 // rows of the block
	// of a cell, and of two: 1/(n·p_k + 1)
	ones  []float32
	weigh []float32 // w of a cell of one column
	twos  matrix.Matrix
	one   []float32 // what one more row with it adds to the sum: (2(N_k − n·p_k) + 1)·weight
	two   matrix.Matrix
	sum   []float32 // of all cells: what those of the columns before add
	score []float32 // of the codes of a column, and their chances
	row   []int     // the cells of a row
}

// Where columns are many, the pairs of a rare code are each too rare for a single row, and round
// the rows of the code away if oneWeight is small. As deviations count beside np, a code of many
// rows would be free to lose some, to which chance leads it; so the weight grows with them.
// It is one more for oneRows rows of a code.
const oneWeight, oneRows = 16, 256

// NewSteering steers towards p with randomness from u alone.
func NewSteering(p *Pairs, u *rand.Rand) *steering {
	cells := len(p.Ones)
	v := func() []float32 { return make([]float32, cells) }
	return &steering{p: p, u: u, ones: v(), weigh: v(), twos: matrix.New(cells, cells), one: v(),
		two: matrix.New(cells, cells), sum: v(), score: make([]float32, 2*cells),
		row: make([]int, len(p.Offsets)-1)}
}

// Rows changes a block of rows of codes, column-major: the first few, as many as first says, once
// for each β. chance sets dst to q of the codes of column k of row i, given the row's other codes,
// up to a factor.
//
// The earlier a row is visited, the more it takes on of what the block lacks, and the less it is
// like the others: the order of the rows, which is random before, is not random any more.
//
// Rows are the same on every platform if chances are.
func (s *steering) Rows(
	codes [][]uint16, betas []float64, first int, chance func(dst []float32, i, k int),
) {
	s.start(len(codes[0]))
	tally(s.p.Offsets, codes, func(cell int, n float32) {
		s.one[cell] += float32(2 * n * s.ones[cell])
	}, func(a, b int, n float32) {
		s.two.Row(a)[b] += float32(2 * n * s.twos.Row(a)[b])
	})
	for _, beta := range betas {
		for i := range min(first, len(codes[0])) {
			for k := range codes {
				s.row[k] = s.p.Offsets[k] + int(codes[k][i])
			}
			for c, x := range s.one {
				s.sum[c] = float32(s.weigh[c] * x)
			}
			for k := range codes {
				q := s.score[len(s.one):][:s.p.Offsets[k+1]-s.p.Offsets[k]]
				chance(q, i, k)
				s.again(k, q, beta)
				codes[k][i] = uint16(s.row[k] - s.p.Offsets[k])
				end := s.p.Offsets[k+1]
				kernels.AddTo(s.sum[end:], s.two.Row(s.row[k])[end:])
			}
		}
	}
}

// start begins a block of n rows. What those before it have too much or too few stays counted.
func (s *steering) start(n int) {
	first := s.n == 0
	s.n = float32(n)
	for _, of := range [][3][]float32{
		{s.one, s.p.Ones, s.ones}, {s.two.Data, s.p.Two.Data, s.twos.Data},
	} {
		for i, share := range of[1] {
			over := float32(0) // 2(N − np) of the rows before
			if !first {
				over = of[0][i]/of[2][i] - 1
			}
			of[2][i] = 1 / (float32(s.n*share) + 1)
			of[0][i] = (over - float32(2*s.n*share) + 1) * of[2][i]
		}
	}
	for cell, x := range s.ones {
		s.weigh[cell] = oneWeight + (1/x-1)/oneRows
	}
}

// count adds, sign times, a cell of column k and its pairs with the row's other cells.
func (s *steering) count(k, cell int, sign float32) {
	s.one[cell] += float32(2 * sign * s.ones[cell])
	weights, scores := s.twos.Row(cell), s.two.Row(cell)
	for l, other := range s.row {
		if l != k {
			add := float32(2 * sign * weights[other])
			scores[other] += add
			s.two.Row(other)[cell] += add
		}
	}
}

// again draws the code of column k of the row once more, with chances q.
func (s *steering) again(k int, q []float32, beta float64) {
	first, end := s.p.Offsets[k], s.p.Offsets[k+1]
	score, cell := s.score[:end-first], s.row[k]
	copy(score, s.sum[first:end])
	for _, other := range s.row[k+1:] {
		kernels.AddTo(score, s.two.Row(other)[first:end])
	}
	own, weights := float32(s.weigh[cell]*s.ones[cell]), s.twos.Row(cell) // without this row
	for l, other := range s.row {
		if l != k {
			own += weights[other]
		}
	}
	score[cell-first] -= float32(2 * own)
	least := float32(math.Inf(1))
	for c, x := range score {
		if q[c] > 0 {
			least = min(least, x)
		}
	}
	total := float32(0)
	for c, x := range score {
		if score[c] = 0; q[c] > 0 {
			score[c] = float32(q[c] * exp(-beta/2*float64(x-least)))
			total += score[c]
		}
	}
	if !(total > 0) {
		return // next to impossible by rounding
	}
	if drawn := first + Pick(score, total, s.u); drawn != cell {
		s.count(k, cell, -1)
		s.count(k, drawn, 1)
		s.row[k] = drawn
	}
}

// exp is e^x of x ≤ 0, the same on every platform: with n = ⌊x/ln 2⌋ and r = x − n·ln 2, 2ⁿ times
// the sixteenth power of the Taylor polynomial of e^(r/16), to 10⁻¹².
func exp(x float64) float32 {
	if !(x > -80) {
		return 0
	}
	n := math.Floor(float64(x * math.Log2E))
	r := float64(x-float64(n*math.Ln2)) / 16
	y := 1.
	for k := 6.; k > 0; k-- {
		y = 1 + float64(float64(r/k)*y)
	}
	for range 4 {
		y = float64(y * y)
	}
	return float32(math.Float64frombits(math.Float64bits(y) + uint64(int64(n))<<52))
}

// Pick draws an index with chances that add up to total.
func Pick(chance []float32, total float32, u *rand.Rand) (likely int) {
	left := float32(u.Float32() * total)
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
