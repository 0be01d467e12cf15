package bounds

import (
	"math"
	"testing"

	"github.com/decoy-dp/decoy/privacy/accountant"
)

// The ball's noise shrinks with its radius from that of the blocks, which it never exceeds.
func TestBallShrinksWithTheRadius(t *testing.T) {
	for _, c := range critics(t) {
		for _, adjacency := range adjacencies {
			blocks := c.measure(Config{Mode: Ball(1), Adjacency: adjacency})
			blocks.factor = 1
			factor := map[accountant.Adjacency]float64{accountant.AddRemove: 1,
				accountant.ReplaceOne: 2}[adjacency]
			blocks.replace = false // a pair of clipped rows is bounded by twice the norm of one
			for k := range blocks.units {
				blocks.units[k].q = blocks.units[k].norm
			}
			// of blocks without intervals given a cell, which Ball does not use
			size, _ := blocks.solve()
			size *= factor
			last := math.Inf(1)
			for _, radius := range []float64{1e5, 10, 3, 1, .3, .1} {
				cert := certify(t, c, Config{Mode: Ball(radius), Adjacency: adjacency})
				if cert.TotalStd() > last*(1+1e-9) {
					t.Errorf("%s: size %v at radius %v, %v at a larger one", c.name,
						cert.TotalStd(), radius, last)
				}
				last = cert.TotalStd()
				if radius == 1e5 && math.Abs(cert.TotalStd()-size) > 1e-6*size {
					t.Errorf("%s: without a radius to speak of the ball has size %v, blocks %v",
						c.name, cert.TotalStd(), size)
				}
			}
			if spherical := factor * .1 * math.Sqrt(float64(len(blocks.scales))); last > spherical*(1+1e-6) {
				t.Errorf("%s: size %v at radius .1, more than spherical noise %v", c.name, last,
					spherical)
			}
		}
	}
}
