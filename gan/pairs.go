package gan

import (
	"math/rand/v2"

	"github.com/decoy-dp/decoy/internal/kernels"
	"github.com/decoy-dp/decoy/internal/matrix"
	"github.com/decoy-dp/decoy/model/marginal"
)

// pairLoss compares a generator with the one- and two-way marginals of public rows, at full
// resolution. It is for one goroutine at a time.
type pairLoss struct {
	// share below which cells do not weigh more, in (0, 1]. A generator that is far away needs a
	// larger one: what weighs most are the cells that must be empty, and the shortest way to empty
	// them is to draw one row only.
	floor float32
	*marginal.Pairs
	x, down Matrix // batch × cells of the columns of a step
	mean    [2]Matrix
}

// pairRows is what an error counts: pairRows/p times its square, p the share and at least a floor:
// as many standard deviations of the count of so many rows, squared.
const pairRows = 512

func newPairLoss(p *marginal.Pairs) *pairLoss { return &pairLoss{floor: lastFloor, Pairs: p} }

// maxPairCells bounds the cells that a step compares: of wider rows it compares some columns,
// drawn anew at each step.
const maxPairCells = 512

// AddTo adds to dst the gradient with respect to the cells of rows x, at least 0 and each column's
// adding up to 1, of weight · L with
//
//	L = mean over marginals and cells k of pairRows/max(p_k, floor) · (a_k − p_k)·(b_k − p_k),
//
// where p is the share of the public rows and a, b are the means over the first and the second
// half of x of the product of two cells, or of a cell: an unbiased estimate of the generator's
// squared error, as in [History.GradientTo]. It returns weight · L. The number of
// rows must be even.
func (p *pairLoss) AddTo(dst, x Matrix, weight float32, u *rand.Rand) float64 {
	columns := p.draw(u)
	at := []int{0}
	for _, k := range columns {
		at = append(at, at[len(at)-1]+p.Offsets[k+1]-p.Offsets[k])
	}
	cells := at[len(at)-1]
	if p.x.Rows != x.Rows || p.x.Cols != cells {
		p.x, p.down = matrix.New(x.Rows, cells), matrix.New(x.Rows, cells)
		for side := range p.mean {
			p.mean[side] = matrix.New(cells, cells)
		}
	}
	for r := range x.Rows {
		to, from := p.x.Row(r), x.Row(r)
		for i, k := range columns {
			copy(to[at[i]:at[i+1]], from[p.Offsets[k]:p.Offsets[k+1]])
		}
	}
	half := x.Rows / 2
	scale := 1 / float32(half)
	var ones [2][]float32
	for side, mean := range p.mean {
		part := rows(p.x, side*half, half)
		matrix.MulTo(mean, scale, part.T(), part, 0)
		ones[side] = make([]float32, cells)
		columnSums(ones[side], part)
	}
	loss := p.residuals(columns, at, ones, scale, weight)
	for side := range 2 { // residuals of one half weigh the rows of the other
		part := rows(p.down, side*half, half)
		for r := range half {
			copy(part.Row(r), ones[1-side])
		}
		matrix.MulTo(part, scale, rows(p.x, side*half, half), p.mean[1-side], 1)
	}
	for r := range x.Rows {
		from, to := p.down.Row(r), dst.Row(r)
		for i, k := range columns {
			kernels.AddTo(to[p.Offsets[k]:p.Offsets[k+1]], from[at[i]:at[i+1]])
		}
	}
	return loss
}

// residuals turns means, and ones, sums of cells, into the gradients of weight · L and returns it.
func (p *pairLoss) residuals(
	columns, at []int, ones [2][]float32, scale, weight float32,
) float64 {
	cells := at[len(at)-1]
	counted := 0
	for i := range columns {
		counted += (at[i+1] - at[i]) * at[i]
	}
	norm := pairRows * weight / float32(counted+cells)
	var loss float64
	for i, k := range columns {
		for c := at[i]; c < at[i+1]; c++ {
			cell := p.Offsets[k] + c - at[i]
			want := p.Ones[cell]
			w := norm / max(want, p.floor)
			a, b := ones[0][c]*scale-want, ones[1][c]*scale-want
			loss += float64(a * b * w)
			ones[0][c], ones[1][c] = a*w*scale, b*w*scale
			rowA, rowB, wants := p.mean[0].Row(c), p.mean[1].Row(c), p.Two.Row(cell)
			clear(rowA[at[i]:at[i+1]])
			clear(rowB[at[i]:at[i+1]])
			var sum float32
			for j, other := range columns {
				if i == j {
					continue
				}
				from := wants[p.Offsets[other]:p.Offsets[other+1]]
				partA, partB := rowA[at[j]:][:len(from)], rowB[at[j]:][:len(from)]
				for d, want := range from {
					w := norm / max(want, p.floor)
					a, b := partA[d]-want, partB[d]-want
					sum += a * b * w
					partA[d], partB[d] = a*w, b*w
				}
			}
			loss += float64(sum) / 2
		}
	}
	return loss
}

// draw draws the columns of a step, in order of their place.
func (p *pairLoss) draw(u *rand.Rand) []int {
	n := len(p.Offsets) - 1
	use, cells := make([]bool, n), 0
	for i, k := range u.Perm(n) {
		if cells += p.Offsets[k+1] - p.Offsets[k]; cells > maxPairCells && i > 1 {
			break
		}
		use[k] = true
	}
	var out []int
	for k, one := range use {
		if one {
			out = append(out, k)
		}
	}
	return out
}
