package bounds

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

const clipFactor = 0x1p-16

// sample is a network over a domain of blocks.
type sample struct {
	blocks []int
	in     *Input
	n      Network
}

func samples(t *testing.T) (out []sample) {
	t.Helper()
	for seed, blocks := range [][]int{{16, 9, 5, 2}, {5, 1, 2}, {3, 4, 2}, {1, 1}, {7}} {
		for _, hidden := range [][]int{{}, {8}, {6, 5}, {4, 1, 3}} {
			for _, scale := range []float64{.5, 4} {
				s := sample{blocks: blocks, in: oneHot(t, blocks...)}
				s.n = referenceNetwork(uint64(seed), s.in.size, scale, hidden...)
				out = append(out, s)
			}
		}
	}
	return out
}

func (s sample) certify(t *testing.T, c Config) *Certificate {
	t.Helper()
	c.Factor = clipFactor
	cert := stattest.Must(Certify(s.n, s.in, c))
	return cert
}

// row is a random row of the domain as the critic sees it.
func (s sample) row(u *rand.Rand) reference {
	var x []float64
	for _, m := range s.blocks {
		cells := make([]float64, m)
		cells[u.IntN(m)] = 1
		x = append(x, cells...)
	}
	return runReference(s.n, x, clipFactor)
}

// addTo adds a row with a weight to a sum.
func addTo(sum *Sum, c *Certificate, p reference, w int64) {
	if sum.Gradient == nil {
		sum.Gradient = make([]int64, c.Parameters())
	}
	sum.Rows += w
	for k, g := range p.Gradient() {
		sum.Gradient[k] += w * int64(g/(clipFactor*clipFactor))
	}
}

// sumNorm is ‖v/c‖₂ of a batch's encoded sum.
func sumNorm(c *Certificate, s Sum) float64 {
	v, sum := make([]int64, c.Coordinates()), 0.
	c.EncodeTo(v, s)
	for k, scale := range c.Scales() {
		x := float64(v[k]) * c.Grid() / scale
		sum += x * x
	}
	return math.Sqrt(sum)
}

// TestClipperCountsAllItsTerms: of a row's squared norm 1 + n/2⁵³, n = 2²⁴ the products of two
// layers of 4096 units, float64 loses every term but the first, more than 2⁻³⁰ of the norm. The
// weight must not be what the computed norm alone allows.
func TestClipperCountsAllItsTerms(t *testing.T) {
	const units = 1 << 12
	const terms = 2*units + units*units + 2*units + 1
	scales := slices.Repeat([]float64{0x1p500}, terms)
	scales[0] = 1
	inner := scales[2*units:][:units*units]
	for k := range inner {
		// squares just below half of the last digit of 1
		inner[k] = math.Nextafter(0x1p26*math.Sqrt2, math.Inf(1))
	}
	ones := slices.Repeat([]float64{1}, units)
	first := make([]float64, units)
	first[0] = 1
	square := 1 + units*units/(inner[0]*inner[0])
	if square < 1+0x1.ffp-30 {
		t.Fatalf("the terms are too small: %v", square)
	}
	// less than the root of square, and more than that of 1 + 2⁻³⁰
	const limit = 1 + 0x1p-31 + 0x1p-34
	x := [][]float64{nil, ones, make([]float64, units)}
	k := newClipper([]int{1, units, units, 1}, []Field{Block(1)}, scales,
		make([]float64, terms), limit)
	w := k.Weight(x, [][]float64{first, ones, {1}})
	if length := float64(w) * rowStep * math.Sqrt(square); length > limit || w < 255 {
		t.Errorf("weight %d brings the row to norm %v, limit %v", w, length, limit)
	}
	if w := k.Weight(x, [][]float64{first, ones, {math.NaN()}}); w != 0 {
		t.Errorf("a row that is not a number has weight %d", w)
	}
}

// A row with its weight lies in the ellipsoid, of the size that the adjacency and the rows of a
// unit ask for; one step of weight more and it would not, unless it has all its weight.
func TestClippedRowsAreInTheEllipsoid(t *testing.T) {
	for seed, s := range samples(t) {
		u := rand.New(rand.NewPCG(uint64(seed), 6))
		for _, config := range []Config{
			{Adjacency: accountant.AddRemove, Mode: Ball(.5)},
			{Adjacency: accountant.ReplaceOne, Mode: Ball(.2)},
			{Adjacency: accountant.AddRemove, Mode: Ball(.05), UnitRows: 4},
			{Adjacency: accountant.ReplaceOne, Mode: Ball(1e6)},
		} {
			cert := s.certify(t, config)
			k := NewClipper(cert)
			limit := cert.norm / float64(cert.unitRows)
			for range 40 {
				p := s.row(u)
				length := func(w int64) float64 {
					var sum Sum
					addTo(&sum, cert, p, w)
					return sumNorm(cert, sum)
				}
				w := k.Weight(p.X, p.Delta)
				if w < 0 || w > 256 || length(w) > limit {
					t.Fatalf("%v, %+v: weight %d has norm %v, limit %v",
						s.blocks, config, w, length(w), limit)
				}
				if w < 256 && length(w+1) <= limit*(1-1e-6) {
					t.Fatalf("%v, %+v: weight %d is too small: %d has norm %v, limit %v",
						s.blocks, config, w, w+1, length(w+1), limit)
				}
			}
		}
	}
}

// Rows within the radius keep all their weight: that is what the scales are for.
func TestRowsWithinTheRadiusAreKept(t *testing.T) {
	kept := 0
	for seed, s := range samples(t) {
		for _, adjacency := range []accountant.Adjacency{accountant.AddRemove,
			accountant.ReplaceOne} {
			u := rand.New(rand.NewPCG(uint64(seed), 7))
			for _, radius := range []float64{1e5, 10, 3, 1, .3, .1} {
				cert := s.certify(t, Config{Adjacency: adjacency, Mode: Ball(radius)})
				k, centre := NewClipper(cert), cert.Centre()
				for range 20 {
					p := s.row(u)
					euclid := 0.
					for k, g := range p.Gradient() {
						euclid += (g - centre[k]) * (g - centre[k])
					}
					if math.Sqrt(euclid) > radius {
						continue
					}
					kept++
					if w := k.Weight(p.X, p.Delta); w < 255 {
						t.Errorf("%v: a row at %v, within radius %v, has weight %d", s.blocks,
							math.Sqrt(euclid), radius, w)
					}
				}
			}
		}
	}
	if kept < 1000 {
		t.Errorf("%d rows are within the radius", kept)
	}
}

// Neighbouring clipped batches are never more than 1 apart.
func TestClippedNeighbours(t *testing.T) {
	for seed, s := range samples(t) {
		u := rand.New(rand.NewPCG(uint64(seed), 8))
		for _, adjacency := range []accountant.Adjacency{accountant.AddRemove,
			accountant.ReplaceOne} {
			n := 1 + u.IntN(3)
			cert := s.certify(t, Config{Adjacency: adjacency, UnitRows: n, Mode: Ball(.3)})
			k := NewClipper(cert)
			for range 20 {
				apart := Sum{Gradient: make([]int64, cert.Parameters())}
				add := func(rows int, sign int64) {
					for range rows {
						p := s.row(u)
						addTo(&apart, cert, p, sign*k.Weight(p.X, p.Delta))
					}
				}
				add(1+u.IntN(n), 1)
				if adjacency == accountant.ReplaceOne {
					add(u.IntN(n+1), -1)
				}
				if d := sumNorm(cert, apart); d > 1 {
					t.Fatalf("%v, %v: clipped neighbours are %v apart", s.blocks, adjacency, d)
				}
			}
		}
	}
}
