package eval

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/decoy-dp/decoy/data/table"
	gemm "github.com/decoy-dp/decoy/internal/matrix"
)

// Distance says how far apart two rows of a table are.
type Distance uint8

// The distances. Both start from a difference δ between 0 and 1 in every column:
// 0 or 1 for categories; for numbers, the distance of the middles of their bins
// as a share of the column's public range; 1 between missing and not missing.
const (
	// √Σ δ²: what nearest-neighbour adversarial accuracy was defined with; on categories alone, the
	// root of the Hamming distance
	Euclidean Distance = iota
	// the mean of δ: what SDMetrics' DCR measures and SynthEval's nnAA use (Gower 1971, Biometrics
	// 27)
	Gower
)

// Points is the rows of a table as points with a distance.
// It is immutable and safe for concurrent use.
type Points struct {
	n, dim int
	// row-major: the code of a category; the place of a number in its range, from 0 to 1; −2 for a
	// missing number
	x     []float64
	space space

	once         sync.Once
	nearestOther []float64 // of [Points.others]
}

// space is what two sets of points must share to have distances.
type space struct {
	distance Distance
	columns  []column
}

const (
	// places are multiples of it, so that sums of squares are exact and equal distances tie exactly
	placeUnit    = 1. / (1 << 20)
	missingPlace = -2
)

// TablePoints makes points of the rows of a table, leaving out the columns in
// drop. Places of numbers are rounded to 2⁻²⁰ of the range, so that distances
// are computed without rounding and ties are what the definition says.
func TablePoints(t *table.Table, d Distance, drop ...string) (*Points, error) {
	if d > Gower {
		return nil, fmt.Errorf("there is no distance %d: %w", d, ErrTables)
	}
	e, err := newEncoder(t, drop, func(_ int, c column) []float64 {
		out := make([]float64, c.size)
		for code := range out {
			switch {
			case !c.numeric():
				out[code] = float64(code)
			case code == c.values:
				out[code] = missingPlace
			default:
				out[code] = math.Round(c.place[code]/placeUnit) * placeUnit
			}
		}
		return out
	})
	if err != nil {
		return nil, err
	}
	places, err := e.encode(t)
	if err != nil {
		return nil, err
	}
	p := &Points{n: t.Rows(), dim: len(places), x: make([]float64, t.Rows()*len(places)),
		space: space{d, e.columns}}
	for k, column := range places {
		for row, place := range column {
			p.x[row*p.dim+k] = place
		}
	}
	return p, nil
}

// Len returns the number of points.
func (p *Points) Len() int { return p.n }

// sample returns n of the points, drawn without replacement from a public seed,
// or all of them if there are no more.
func (p *Points) sample(n int, seed uint64) *Points {
	if n >= p.n {
		return p
	}
	return p.choose(choice(p.n, n, seed, 0))
}

// choose returns the points of the given indices.
func (p *Points) choose(rows []int) *Points {
	out := &Points{n: len(rows), dim: p.dim, space: p.space, x: make([]float64, 0, len(rows)*p.dim)}
	for _, i := range rows {
		out.x = append(out.x, p.row(i)...)
	}
	return out
}

// choice draws n of the numbers below of, in increasing order; each use of a seed draws others.
func choice(of, n int, seed, use uint64) []int {
	rows := rand.New(rand.NewPCG(seed, use)).Perm(of)[:n]
	slices.Sort(rows)
	return rows
}

func (p *Points) row(i int) []float64 { return p.x[i*p.dim : (i+1)*p.dim] }

// between returns the squared Euclidean distance, or the sum of Gower's differences, of two points.
func (s space) between(a, b []float64) float64 {
	sum := 0.0
	if s.distance == Gower {
		for k, x := range a {
			sum += min(math.Abs(x-b[k]), 1)
		}
		return sum
	}
	for k, x := range a {
		d := min(math.Abs(x-b[k]), 1)
		sum += d * d
	}
	return sum
}

// scale turns what between returns into the distance.
func (s space) scale(sum float64) float64 {
	if s.distance == Gower {
		return sum / float64(len(s.columns))
	}
	return math.Sqrt(sum)
}

// sameSpace checks that all points have distances to each other.
func sameSpace(sets ...*Points) error {
	first := sets[0]
	for _, p := range sets[1:] {
		same := p.dim == first.dim && p.space.distance == first.space.distance &&
			slices.EqualFunc(p.space.columns, first.space.columns, column.equal)
		if !same {
			return fmt.Errorf("points of different columns or distances: %w", ErrTables)
		}
	}
	return nil
}

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
	return Commonest(count, width)
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
