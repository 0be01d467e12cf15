package bounds

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
)

// No coordinate of a row's gradient leaves its interval, and over all rows of a domain of blocks
// the intervals of the first layer, of one hidden layer, are what the gradients span.
func TestGradientBounds(t *testing.T) {
	for seed, sizes := range [][]int{{3, 4, 2}, {2, 2, 1, 5}} {
		in := oneHot(t, sizes...)
		for _, n := range []Network{randomNetwork(in, .2, uint64(seed), 6),
			biased(randomNetwork(in, 0, uint64(seed), 6))} {
			c := newCritic[float64]("", n, in, 0x1p-20)
			lo, hi, err := gradientBounds(n, in, c.factor)
			if err != nil {
				t.Fatal(err)
			}
			span := make([]interval, len(lo))
			for k := range span {
				span[k] = interval{math.Inf(1), math.Inf(-1)}
			}
			everyRow(in, func(x row) {
				for k, g := range c.run(x, pairwise).gradient() {
					span[k] = interval{min(span[k].lo, g), max(span[k].hi, g)}
				}
			})
			for k := range span {
				if span[k].lo < lo[k] || span[k].hi > hi[k] {
					t.Errorf("coordinate %d spans %v, out of [%v, %v]", k, span[k], lo[k], hi[k])
				}
				if loose := span[k].lo - lo[k] + hi[k] - span[k].hi; loose > 8*c.factor {
					t.Errorf("coordinate %d spans %v, bounds [%v, %v] are looser", k, span[k],
						lo[k], hi[k])
				}
			}
		}
	}
	for seed, c := range critics(t) {
		u := rand.New(rand.NewPCG(uint64(seed), 11))
		lo, hi, err := c.bounds()
		if err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			for k, g := range c.run(randomRow(u, c.in, c.factor), order(i)%orders).gradient() {
				if g < lo[k] || g > hi[k] {
					t.Fatalf("%s: coordinate %d is %v, not in [%v, %v]", c.name, k, g, lo[k], hi[k])
				}
			}
		}
	}
}

// gradientBounds is an interval for each coordinate of a row's gradient, with one-hot blocks taken
// as such.
func gradientBounds(n Network, in *Input, factor float64) (lo, hi []float64, err error) {
	c, err := Config{Adjacency: accountant.AddRemove, Factor: factor}.checked(false)
	if err != nil {
		return nil, nil, err
	}
	net := checked(n, in.size)
	r := propagate(net, in, c.Factor)
	if err := r.check(c.Factor); err != nil {
		return nil, nil, err
	}
	add := func(i interval) { lo, hi = append(lo, i.lo), append(hi, i.hi) }
	for k, field := range in.fields {
		for cell := range field.width() {
			for j, delta := range r.delta[0] {
				switch {
				case field.cells == 0:
					delta = delta.times(r.act[0][field.offset])
				case field.cells == 1:
				default:
					if r.decides(k, j) {
						delta = r.given(net, c.Factor, k, j, net.first(field.offset+cell, j))
					}
					delta = interval{min(delta.lo, 0), max(delta.hi, 0)}
				}
				add(delta)
			}
		}
	}
	for l, delta := range r.delta {
		if l > 0 {
			for _, x := range r.act[l] {
				for _, d := range delta {
					add(x.times(d))
				}
			}
		}
		for _, d := range delta {
			add(d)
		}
	}
	return lo, hi, nil
}
