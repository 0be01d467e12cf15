package eval

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/decoy-dp/decoy/table"
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
		return nil, fmt.Errorf("eval: there is no distance %d: %w", d, ErrTables)
	}
	e, err := newEncoder(t, drop, coordinates)
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

// coordinates are those of every code.
func coordinates(_ int, c column) []float64 {
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
			return fmt.Errorf("eval: points of different columns or distances: %w", ErrTables)
		}
	}
	return nil
}
