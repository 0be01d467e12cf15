package eval

import (
	"math"
	"slices"

	"github.com/decoy-dp/decoy/eval/internal/nearest"
)

const (
	maxOneHot = 512 // categories of a column with a coordinate of their own; pairs of others count as equal there, which only understates
	maxCuts   = 128 // steps of a number's place under Gower's distance
)

// feature stores the coordinates that one column adds to the embedding.
type feature struct {
	width  int
	slack  float64
	fill   func(dst []float32, x float64)
	column int
}

// embedding lays points out in vectors whose squared distance never exceeds
// unit·between by more than slack (see [nearest.Metric]).
type embedding struct {
	features []feature
	width    int
	slack    float64
	unit     float64
	integral bool
}

// newEmbedding makes the embedding for distances within and between two sets,
// which may be the same one.
func newEmbedding(a, b *Points) embedding {
	if a.space.columns == nil {
		return embedNumbers(a, b)
	}
	e := embedding{unit: 1, integral: !slices.ContainsFunc(a.space.columns, column.numeric)}
	if e.integral {
		e.unit = 2 // one-hot categories differ in two coordinates by 1
	}
	for k, c := range a.space.columns {
		var f feature
		switch {
		case !c.numeric():
			f = oneHot(c.size, math.Sqrt(e.unit/2), []*Points{a, b}, k)
			e.integral = e.integral && c.size <= maxOneHot
		case a.space.distance == Gower:
			f = thermometer(c)
		default:
			f = single(c)
		}
		f.column = k
		e.features = append(e.features, f)
		e.width += f.width
		e.slack += f.slack
	}
	return e
}

// embedNumbers centres numbers, so that rounding to float32 costs little, and
// scales them by a power of two, so that no square leaves its range.
func embedNumbers(a, b *Points) embedding {
	mean := make([]float64, a.dim)
	for _, p := range []*Points{a, b} {
		for i := range p.n {
			addScaled(mean, 1/float64(a.n+b.n), p.row(i))
		}
	}
	size := 0.0
	for _, p := range []*Points{a, b} {
		for i := range p.n {
			for k, x := range p.row(i) {
				size = max(size, math.Abs(x-mean[k]))
			}
		}
	}
	_, exponent := math.Frexp(size)
	scale := math.Ldexp(1, -max(exponent, -500)) // a power of two: distances scale without rounding
	e := embedding{width: a.dim, unit: scale * scale}
	for k := range a.dim {
		e.features = append(e.features, feature{width: 1, column: k, fill: func(dst []float32, x float64) {
			dst[0] = float32((x - mean[k]) * scale)
		}})
	}
	return e
}

// oneHot gives each of the commonest categories a coordinate of its own.
func oneHot(size int, height float64, sets []*Points, column int) feature {
	at := make([]int, size) // coordinate of each category, or −1
	for i := range at {
		at[i] = i
	}
	if size > maxOneHot {
		count := make([]int, size)
		for _, p := range sets {
			for i := range p.n {
				count[int(p.x[i*p.dim+column])]++
			}
		}
		order := slices.Clone(at)
		slices.SortStableFunc(order, func(a, b int) int { return count[b] - count[a] })
		for rank, code := range order {
			at[code] = rank
			if rank >= maxOneHot {
				at[code] = -1
			}
		}
	}
	return feature{width: min(size, maxOneHot), fill: func(dst []float32, x float64) {
		if k := at[int(x)]; k >= 0 {
			dst[k] = float32(height)
		}
	}}
}

// single gives a number one coordinate from −½ to ½. Missing lies at the centre
// and √¾ to the side: at most 1 from all of them.
func single(c column) feature {
	f := feature{width: 1, fill: func(dst []float32, x float64) { dst[0] = float32(x - .5) }}
	if c.missing >= 0 {
		f.width = 2
		f.fill = missingAside(f.fill)
	}
	return f
}

// thermometer gives a number a coordinate for every place t that numbers of the
// column have, ±½√w on either side of it, w being the distance to the place
// before: the squared distance of two numbers is then the distance of their
// places. With too many places it has even steps, and overstates by at most one.
func thermometer(c column) feature {
	cuts := places(c)[:len(c.mid)]
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	f := feature{}
	if len(cuts) > maxCuts {
		f.slack = 1. / maxCuts
		cuts = cuts[:0]
		for i := range maxCuts + 1 {
			cuts = append(cuts, float64(i)/maxCuts)
		}
	}
	f.width = len(cuts) - 1
	half := make([]float32, f.width)
	for k := range half {
		half[k] = float32(math.Sqrt(cuts[k+1]-cuts[k]) / 2)
	}
	f.fill = func(dst []float32, x float64) {
		for k, h := range half {
			if x < cuts[k+1] {
				h = -h
			}
			dst[k] = h
		}
	}
	if c.missing >= 0 {
		f.width++
		f.fill = missingAside(f.fill)
	}
	return f
}

// missingAside fills the last coordinate for a missing number and the others
// otherwise.
func missingAside(fill func(dst []float32, x float64)) func(dst []float32, x float64) {
	return func(dst []float32, x float64) {
		if x == missingPlace {
			dst[len(dst)-1] = float32(math.Sqrt(.75))
			return
		}
		fill(dst[:len(dst)-1], x)
	}
}

// set embeds points.
func (e embedding) set(p *Points) nearest.Set {
	s := nearest.Set{N: p.n, K: e.width, X: make([]float32, p.n*e.width)}
	at := 0
	for i := range p.n {
		row := p.row(i)
		for _, f := range e.features {
			f.fill(s.X[at:at+f.width:at+f.width], row[f.column])
			at += f.width
		}
	}
	return s
}

// metric is the exact distance of points of a and of b, in units of the embedding.
func (e embedding) metric(a, b *Points) nearest.Metric {
	space, unit := a.space, e.unit
	return nearest.Metric{
		Distance: func(i, j int) float64 { return unit * space.between(a.row(i), b.row(j)) },
		Slack:    e.slack,
		Integral: e.integral,
	}
}

// distances turns what the search found into distances.
func (e embedding) distances(s space, found []float64) {
	for i, d := range found {
		found[i] = s.scale(d / e.unit)
	}
}
