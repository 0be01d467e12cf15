package bounds

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// No coordinate of a row's gradient leaves its interval, and over all rows of a domain of blocks
// the intervals of the first layer, of one hidden layer, are what the gradients span.
func TestGradientBounds(t *testing.T) {
	for seed, sizes := range [][]int{{3, 4, 2}, {2, 2, 1, 5}} {
		in := oneHot(t, sizes...)
		for _, n := range []Network[float64]{randomNetwork[float64](in, .2, uint64(seed), 6),
			biased(randomNetwork[float64](in, 0, uint64(seed), 6))} {
			c := newCritic("", n, in, 0x1p-20)
			lo, hi, err := GradientBounds(n, in, c.factor)
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
				if loose := span[k].lo - lo[k] + hi[k] - span[k].hi; loose > 2*c.factor {
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

func TestGradientBoundsRefusals(t *testing.T) {
	in := oneHot(t, 3, 2)
	n := randomNetwork[float32](in, .2, 1, 3)
	if _, _, err := GradientBounds(n, in, 3); !errors.Is(err, ErrConfig) {
		t.Errorf("factor 3: %v", err)
	}
	if _, _, err := GradientBounds(n, oneHot(t, 3, 3), 0); !errors.Is(err, ErrNetwork) {
		t.Errorf("another domain: %v", err)
	}
	if _, _, err := GradientBounds(scaled(n, 1e6), in, 0); !errors.Is(err, ErrNetwork) {
		t.Errorf("large weights: %v", err)
	}
}
