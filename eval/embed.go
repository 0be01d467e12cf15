package eval

import (
	"math"

	"gonum.org/v1/gonum/floats"

	gemm "github.com/decoy-dp/decoy/internal/matrix"
)

const (
	maxOneHot = 512 // categories of a column with a coordinate of their own
	// of all rows: the rarest categories, up to this share together, have one coordinate in common
	rareShare = .03
)

// feature is the coordinates that one column adds to the embedding; fill stores those of x in dst,
// which has zeros.
type feature struct {
	width int
	fill  func(dst []float32, x float64)
}

// line is one coordinate.
func line(middle, scale float64) feature {
	return feature{1, func(dst []float32, x float64) { dst[0] = float32((x - middle) * scale) }}
}

// halfCircle is where a number lies under Gower's distance: squares there are (4/π²)·(1 − cos πd),
// the first term of the Fourier series of d, in which none is negative.
var halfCircle = feature{2, func(dst []float32, x float64) {
	sin, cos := math.Sincos(math.Pi * x)
	dst[0], dst[1] = float32(math.Sqrt2/math.Pi*cos), float32(math.Sqrt2/math.Pi*sin)
}}

// aside has a coordinate more for a missing number, which lies at √¾ in it: since no number is
// farther than ½ from the origin, it is at most 1 from all.
func (f feature) aside() feature {
	return feature{f.width + 1, func(dst []float32, x float64) {
		if x == missingPlace {
			dst[f.width] = float32(math.Sqrt(.75))
		} else {
			f.fill(dst, x)
		}
	}}
}

// embedding lays points out in vectors whose squared distance never exceeds unit·between.
type embedding struct {
	features []feature // one a column
	width    int
	unit     float64
}

// newEmbedding makes the embedding for distances within and between two sets,
// which may be the same one.
func newEmbedding(a, b *Points) embedding {
	if a.space.columns == nil {
		return embedNumbers(a, b)
	}
	e := embedding{unit: 1}
	for k, c := range a.space.columns {
		f := line(.5, 1)
		switch {
		case !c.numeric():
			f = oneHot(c.size, []*Points{a, b}, k)
		case a.space.distance == Gower:
			f = halfCircle
		}
		if c.numeric() && c.missing >= 0 {
			f = f.aside()
		}
		e.features = append(e.features, f)
		e.width += f.width
	}
	return e
}

// embedNumbers centres numbers, so that rounding to float32 costs little, and
// scales them by a power of two, so that no square leaves its range.
func embedNumbers(a, b *Points) embedding {
	mean, size := make([]float64, a.dim), 0.0
	for _, p := range []*Points{a, b} {
		for i := range p.n {
			floats.AddScaled(mean, 1/float64(a.n+b.n), p.row(i))
		}
	}
	for _, p := range []*Points{a, b} {
		for i := range p.n {
			size = max(size, floats.Distance(p.row(i), mean, math.Inf(1)))
		}
	}
	_, exponent := math.Frexp(size)
	scale := math.Ldexp(1, -max(exponent, -500)) // a power of two: distances scale without rounding
	e := embedding{width: a.dim, unit: scale * scale}
	for _, m := range mean {
		e.features = append(e.features, line(m, scale))
	}
	return e
}

// oneHot gives each of the commonest categories a coordinate, and all others one
// in common: two of those count as equal, which understates their distance.
func oneHot(size int, sets []*Points, column int) feature {
	count, total := make([]int64, size), 0
	for _, p := range sets {
		for i := range p.n {
			count[int(p.x[i*p.dim+column])]++
		}
		total += p.n
	}
	order, width, rest := byCount(count), 0, int64(total)
	for width < min(size, maxOneHot) && float64(rest) > rareShare*float64(total) {
		rest -= count[order[width]]
		width++
	}
	at, width := commonest(count, width)
	return feature{width, func(dst []float32, x float64) { dst[at[int(x)]] = math.Sqrt2 / 2 }}
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
		for k, f := range e.features {
			f.fill(row[at:at+f.width:at+f.width], point[k])
			at += f.width
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
