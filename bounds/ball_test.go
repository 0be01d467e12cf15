package bounds

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
)

// scalars are the values of a row's scalar fields.
func scalars(in *Input, x row) (out []float64) {
	for k, f := range in.fields {
		if f.cells == 0 {
			out = append(out, x[k])
		}
	}
	return out
}

func weight(clip *Clipper, in *Input, x row, p pass) int64 {
	return clip.Weight(append([][]float64{scalars(in, x)}, p.x[1:]...), p.delta)
}

// A row with its weight lies in the ellipsoid, of the size that the adjacency and the rows of a
// unit ask for; one step of weight more and it would not, unless it has all its weight.
func TestClippedRowsAreInTheEllipsoid(t *testing.T) {
	for seed, c := range critics(t) {
		u := rand.New(rand.NewPCG(uint64(seed), 6))
		for _, config := range []Config{
			{Adjacency: accountant.AddRemove, Radius: .5},
			{Adjacency: accountant.ReplaceOne, Radius: .2},
			{Adjacency: accountant.AddRemove, Radius: .05, UnitRows: 4},
			{Adjacency: accountant.ReplaceOne, Radius: 1e6},
		} {
			config.Mode = Ball
			cert := certify(t, c, config)
			clip := NewClipper(cert)
			limit := cert.Norm() / float64(cert.UnitRows())
			for i := range 40 {
				x := randomRow(u, c.in, c.factor)
				p := c.run(x, order(i)%orders)
				length := func(w int64) float64 {
					var s Sum
					p.addTo(&s, cert, w)
					v := make([]int64, cert.Coordinates())
					cert.EncodeTo(v, s)
					return norm(cert, v)
				}
				w := weight(clip, c.in, x, p)
				if w < 0 || w > 256 || length(w) > limit {
					t.Fatalf("%s, %+v: weight %d has norm %v, limit %v", c.name, config, w,
						length(w), limit)
				}
				if w < 256 && length(w+1) <= limit*(1-1e-6) {
					t.Fatalf("%s, %+v: weight %d is too small: %d has norm %v, limit %v", c.name,
						config, w, w+1, length(w+1), limit)
				}
			}
		}
	}
}

// The ball's noise shrinks with its radius from that of the blocks, which it never exceeds, and
// rows in the box and within the radius keep all their weight: that is what its scales are for.
func TestBallShrinksWithTheRadius(t *testing.T) {
	for seed, c := range critics(t) {
		for _, adjacency := range adjacencies {
			u := rand.New(rand.NewPCG(uint64(seed), 7))
			blocks := c.measure(Config{Mode: Ball, Radius: 1, Adjacency: adjacency})
			blocks.factor = 1
			factor := map[accountant.Adjacency]float64{accountant.AddRemove: 1,
				accountant.ReplaceOne: 2}[adjacency]
			blocks.replace = false // a pair of clipped rows is bounded by twice the norm of one
			for k := range blocks.units {
				blocks.units[k].q = blocks.units[k].norm
			}
			// of mode Blocks without intervals given a cell, which Ball does not use
			size, _ := blocks.solve()
			size *= factor
			last := math.Inf(1)
			for _, radius := range []float64{1e5, 10, 3, 1, .3, .1} {
				cert := certify(t, c, Config{Mode: Ball, Adjacency: adjacency, Radius: radius})
				if cert.TotalStd() > last*(1+1e-9) {
					t.Errorf("%s: size %v at radius %v, %v at a larger one", c.name,
						cert.TotalStd(), radius, last)
				}
				last = cert.TotalStd()
				clip := NewClipper(cert)
				for i := range 20 {
					x := randomRow(u, c.in, c.factor)
					p := c.run(x, order(i)%orders)
					euclid := 0.
					for k, g := range p.gradient() {
						d := g - cert.centreAt(k)
						euclid += d * d
					}
					if w := weight(clip, c.in, x, p); math.Sqrt(euclid) <= radius && w < 255 {
						t.Errorf("%s: a row at %v, within radius %v, has weight %d", c.name,
							math.Sqrt(euclid), radius, w)
					}
				}
				if radius == 1e5 && math.Abs(cert.TotalStd()-size) > 1e-6*size {
					t.Errorf("%s: without a radius to speak of the ball has size %v, blocks %v",
						c.name, cert.TotalStd(), size)
				}
			}
			if spherical := factor * .1 * math.Sqrt(
				float64(len(blocks.scales))); last > spherical*(1+1e-6) {
				t.Errorf("%s: size %v at radius .1, more than spherical noise %v", c.name, last,
					spherical)
			}
		}
	}
}

// Neighbouring clipped batches are never more than 1 apart.
func TestClippedNeighbours(t *testing.T) {
	for seed, c := range critics(t) {
		u := rand.New(rand.NewPCG(uint64(seed), 8))
		for _, adjacency := range adjacencies {
			n := 1 + u.IntN(3)
			cert := certify(t, c, Config{Mode: Ball, Adjacency: adjacency, UnitRows: n, Radius: .3})
			clip := NewClipper(cert)
			batch := func(rows []row) []int64 {
				s := Sum{Gradient: make([]int64, cert.Parameters()),
					Inputs: make([]int64, c.in.size)}
				for i, x := range rows {
					p := c.run(x, order(i)%orders)
					p.addTo(&s, cert, weight(clip, c.in, x, p))
				}
				v := make([]int64, cert.Coordinates())
				cert.EncodeTo(v, s)
				return v
			}
			for range 20 {
				var unit, other []row
				for range 1 + u.IntN(n) {
					unit = append(unit, randomRow(u, c.in, c.factor))
				}
				if adjacency == accountant.ReplaceOne {
					for range u.IntN(n + 1) {
						other = append(other, randomRow(u, c.in, c.factor))
					}
				}
				if d := distance(cert, batch(unit), batch(other)); d > 1 {
					t.Fatalf("%s, %v: clipped neighbours are %v apart", c.name, adjacency, d)
				}
			}
		}
	}
}
