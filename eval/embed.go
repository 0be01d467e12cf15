package eval

import (
	"math"
	"slices"

	gemm "github.com/decoy-dp/decoy/internal/matrix"
)

const (
	maxOneHot = 512 // categories of a column with a coordinate of their own
	// of all rows: the rarest categories, up to this share together, have one coordinate in common
	rareShare = .03
)

// embedding lays points out in vectors whose squared distance never exceeds [space.between]: a
// number is a coordinate, a category has several. A number lies on a half circle under Gower's
// distance: squares there are (4/π²)·(1 − cos πd), the first term of the Fourier series of d, in
// which none is negative. A missing number, which is at 1 from all others, lies in the middle.
type embedding struct {
	hot    [][]int // of a category: which of its coordinates each code has; else nil
	widths []int   // coordinates of each column
	circle bool    // numbers have two
	width  int     // of all
}

// newEmbedding makes the embedding for distances within and between two sets,
// which may be the same one.
func newEmbedding(a, b *Points) embedding {
	e := embedding{width: a.dim, hot: make([][]int, a.dim), widths: slices.Repeat([]int{1}, a.dim),
		circle: a.space.distance == Gower}
	for k, c := range a.space.columns {
		if !c.numeric() {
			e.hot[k], e.widths[k] = oneHot(c.size, []*Points{a, b}, k)
		} else if e.circle {
			e.widths[k] = 2
		}
		e.width += e.widths[k] - 1
	}
	return e
}

// oneHot gives each of the commonest categories a coordinate, and all others one
// in common: two of those count as equal, which understates their distance.
func oneHot(size int, sets []*Points, column int) (at []int, width int) {
	count, total := make([]int64, size), 0
	for _, p := range sets {
		for i := range p.n {
			count[int(p.x[i*p.dim+column])]++
		}
		total += p.n
	}
	order, rest := byCount(count), int64(total)
	for width < min(size, maxOneHot) && float64(rest) > rareShare*float64(total) {
		rest -= count[order[width]]
		width++
	}
	return commonest(count, width)
}

// rows embeds points in this order, each as a row of its coordinates and two more, one of them −½
// of its squared norm and the other 1, the norm first or last: the product of two such rows is −½
// of a squared distance, or a little more, so that no pair is nearer than its product says.
func (e embedding) rows(p *Points, order []int, normFirst bool) gemm.Matrix {
	out := gemm.New(p.n, e.width+2)
	// Let u = 2⁻²⁴ and R = ‖x‖² + ‖y‖². Rounding coordinates moves a squared distance by at most
	// 4.1·u·R, and the K+2 sums of the product err by at most γ·R, γ = (K+2)u/(1−(K+2)u). Taking
	// c·R/2 with c = 2γ + 5u off the norms covers both.
	const u = 1. / (1 << 24)
	terms := float64(e.width+2) * u
	c := 2.02*terms/(1-terms) + 5*u
	for i, of := range order {
		row, point, at, norm := out.Row(i), p.row(of), 0, 0.
		for k, x := range point {
			switch hot := e.hot[k]; {
			case hot != nil:
				row[at+hot[int(x)]] = math.Sqrt2 / 2
			case x == missingPlace:
			case e.circle:
				sin, cos := math.Sincos(math.Pi * x)
				row[at], row[at+1] = float32(math.Sqrt2/math.Pi*cos), float32(math.Sqrt2/math.Pi*sin)
			default:
				row[at] = float32(x - .5)
			}
			at += e.widths[k]
		}
		for _, x := range row[:at] {
			norm += float64(x) * float64(x)
		}
		half := roundUp(0x1p-120 - norm/2*(1-c)) // the first term covers underflow
		row[at], row[at+1] = half, 1
		if !normFirst {
			row[at], row[at+1] = 1, half
		}
	}
	return out
}

// roundUp returns the smallest float32 that is at least x.
func roundUp(x float64) float32 {
	f := float32(x)
	if float64(f) < x {
		f = math.Nextafter32(f, float32(math.Inf(1)))
	}
	return f
}
