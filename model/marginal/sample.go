package marginal

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Sample draws n ≥ 0 rows and returns them by column: out[c][i] is the code of column c in row i.
// Every row has the model's distribution, and the rows are exchangeable: their order carries
// nothing.
//
// The rows together are closer to the model than independent draws. Clique by clique along the
// tree, the rows that share a parent configuration (a cell of the separator) are allotted to the
// cells of the clique by systematic sampling: each cell gets its expected number rounded up or
// down, without bias, and so does every stretch of neighbouring cells. Which of those rows gets
// which cell is a uniform shuffle, so that columns outside the clique stay independent given the
// separator. (Madow, On the theory of systematic sampling II, Annals of Mathematical Statistics
// 1949.) One call for n rows is therefore better than many for a few.
//
// For the same model and the same u the result is the same on every platform. It takes about 20 ns
// a row and column on one core.
func (m *Model) Sample(n int, u *rand.Rand) [][]uint16 {
	if n < 0 || uint64(n) > math.MaxUint32 {
		panic(fmt.Sprintf("marginal: Sample of %d rows, want 0 to %d", n, uint32(math.MaxUint32)))
	}
	t := m.tree
	out := make([][]uint16, len(t.sizes))
	for c := range out {
		out[c] = make([]uint16, n)
	}
	s := sampler{rows: make([]uint32, n), cell: make([]uint32, n), out: out, u: u}
	for i := range t.cliques {
		s.draw(t.sizes, t.cliques[i], t.seps[i], m.p[i])
	}
	return out
}

// A sampler holds what the cliques share.
type sampler struct {
	out      [][]uint16
	rows     []uint32 // row numbers, grouped by the cell of the separator
	cell     []uint32 // per row, its cell of the separator
	start    []int    // per cell of the separator, where its rows begin; one more at the end
	u        *rand.Rand
	word     uint64 // the draw, its unused half last
	halfLeft bool
}

// draw fills the columns of a clique that are not in the separator, for all rows.
func (s *sampler) draw(sizes, clique, sep []int, p []float64) {
	var rest []int
	for _, c := range clique {
		if !slices.Contains(sep, c) {
			rest = append(rest, c)
		}
	}
	given := make([]float64, len(p))
	transpose(given, p, sizes, clique, slices.Concat(sep, rest))
	width := int(cellsOf(sizes, rest))
	s.group(sizes, sep, len(p)/width)
	for g := 0; (g+1)*width <= len(p); g++ {
		rows := s.rows[s.start[g]:s.start[g+1]]
		if len(rows) == 0 {
			continue
		}
		for i := len(rows) - 1; i > 0; i-- { // a uniform permutation
			j := s.below(uint32(i) + 1)
			rows[i], rows[j] = rows[j], rows[i]
		}
		s.allot(sizes, rest, rows, given[g*width:(g+1)*width])
	}
}

// group sorts the row numbers by their cell of the separator.
func (s *sampler) group(sizes, sep []int, cells int) {
	s.start = append(s.start[:0], make([]int, cells+1)...)
	clear(s.cell)
	for _, c := range sep {
		size := uint32(sizes[c])
		for i, x := range s.out[c] {
			s.cell[i] = s.cell[i]*size + uint32(x)
		}
	}
	for _, g := range s.cell {
		s.start[g]++
	}
	sum := 0
	for g, k := range s.start {
		sum += k
		s.start[g] = sum // the end of group g, counted down to its start below
	}
	for i := len(s.cell) - 1; i >= 0; i-- {
		g := s.cell[i]
		s.start[g]--
		s.rows[s.start[g]] = uint32(i)
	}
}

// allot gives len(rows) rows to the cells of a table over cols with weights w, by systematic
// sampling: with sums W_j = w_0 + … + w_j and one uniform number v in [0, 1), the first ⌊rows·W_j/W
// + v⌋ rows go to cells 0 to j. The explicit conversions forbid fused multiply-add, which some
// platforms have and some not.
func (s *sampler) allot(sizes, cols []int, rows []uint32, w []float64) {
	total, last := 0.0, len(w)-1
	for j, x := range w {
		if x > 0 {
			total += x
			last = j
		}
	}
	scale := float64(len(rows)) / total
	if !(total > 0) || math.IsInf(scale, 1) {
		// Only rows that rounding brought here: the separator's cell is next to impossible.
		for j := range w {
			w[j] = 1
		}
		total, last = float64(len(w)), len(w)-1
		scale = float64(len(rows)) / total
	}
	v := s.u.Float64()
	sum, done := 0.0, 0
	for j, x := range w {
		sum += x
		upto := min(int(float64(sum*scale)+v), len(rows))
		if j == last {
			upto = len(rows) // rounding of the sums must not lose the last row
		}
		if upto <= done {
			continue
		}
		cell := j
		for k := len(cols) - 1; k >= 0; k-- {
			size := sizes[cols[k]]
			code := uint16(cell % size)
			cell /= size
			column := s.out[cols[k]]
			for _, r := range rows[done:upto] {
				column[r] = code
			}
		}
		done = upto
	}
}

// below returns a uniform number in [0, n), n > 0, from half a draw of u. (rand.Rand's own methods
// draw differently on 32-bit platforms.) Lemire, Fast random integer generation in an interval, ACM
// TOMACS 2019.
func (s *sampler) below(n uint32) uint32 {
	for {
		if s.halfLeft = !s.halfLeft; s.halfLeft {
			s.word = s.u.Uint64()
		} else {
			s.word >>= 32
		}
		if p := uint64(uint32(s.word)) * uint64(n); uint32(p) >= n || uint32(p) >= -n%n {
			return uint32(p >> 32)
		}
	}
}

// below returns a uniform number in [0, n), n > 0, the same on every platform.
func below(u *rand.Rand, n uint64) uint64 {
	for {
		hi, lo := bits.Mul64(u.Uint64(), n)
		if lo >= n || lo >= -n%n {
			return hi
		}
	}
}
