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

// Points is the rows of a table, or rows of numbers, as points with a distance.
// It is immutable and safe for concurrent use.
type Points struct {
	n, dim int
	// row-major. Of a table: the code of a category; the place of a number in its range, from 0 to
	// 1; −2 for a missing number
	x     []float64
	space space

	once         sync.Once
	nearestOther []float64 // of [Points.others]
}

// space is what two sets of points must share to have distances.
type space struct {
	distance Distance
	columns  []column // of a table; nil for numbers
}

const (
	// places are multiples of it, so that sums of squares are exact and equal distances tie exactly
	placeUnit    = 1. / (1 << 20)
	missingPlace = -2
	largest      = 1e150 // numbers whose squared differences cannot overflow
)

// NewPoints makes points of dim finite numbers a row, row-major, under the
// Euclidean distance. No column is scaled: standardise first if their units
// differ. The result keeps x, which must not be changed afterwards.
func NewPoints(x []float64, dim int) (*Points, error) {
	if dim < 1 || len(x) == 0 || len(x)%dim != 0 {
		return nil, fmt.Errorf("eval: %d numbers are not points of %d: %w", len(x), dim, ErrTables)
	}
	for i, v := range x {
		if !(math.Abs(v) <= largest) {
			return nil, fmt.Errorf("eval: number %d of point %d is not within ±%g: %w", i%dim,
				i/dim, largest, ErrTables)
		}
	}
	return &Points{n: len(x) / dim, dim: dim, x: x}, nil
}

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
		case code == c.missing:
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
	most := 1. // difference of two cells of a table
	if s.columns == nil {
		most = math.Inf(1)
	}
	sum := 0.0
	if s.distance == Gower {
		for k, x := range a {
			sum += min(math.Abs(x-b[k]), most)
		}
		return sum
	}
	for k, x := range a {
		d := min(math.Abs(x-b[k]), most)
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
