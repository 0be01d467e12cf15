package release

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestStandsOut: of independent columns whose counts are noisy hardly any pair stands out, in small
// tables as in large ones, and of columns that go together nearly all do. With half the true noise
// the test would fail.
func TestStandsOut(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 2))
	const runs, sigma = 4000, 20.0
	// a first code has a share of the rows of each column, the others share the rest
	drawn := func(shape []int, first, tied, assumed float64) (hits int) {
		share := func(code, codes int) float64 {
			if code == 0 {
				return first
			}
			return (1 - first) / float64(codes-1)
		}
		cells := 1
		for _, k := range shape {
			cells *= k
		}
		for range runs {
			counts := make([]float64, cells)
			for i := range counts {
				a, b := i/shape[1]%shape[0], i%shape[1]
				counts[i] = 4000*share(a, shape[0])*share(b, shape[1])*
					(1+tied*float64((a%2*2-1)*(b%2*2-1))) + sigma*u.NormFloat64()
			}
			if standsOut(counts, assumed*math.Sqrt(float64(cells)), shape, 0, 1) {
				hits++
			}
		}
		return hits
	}
	for _, shape := range [][]int{{2, 2}, {2, 8}, {6, 10}} {
		// at one in a thousand, 17 of 4000 or more come once in a million runs of this test
		for _, first := range []float64{1 / float64(shape[0]), .95} {
			if n := drawn(shape, first, 0, sigma); n > 16 {
				t.Errorf("%v, %v: %d of %d independent pairs stand out", shape, first, n, runs)
			}
		}
		if n := drawn(shape, .2, .5, sigma); n < runs*9/10 {
			t.Errorf("%v: %d of %d pairs that go together stand out", shape, n, runs)
		}
		if n := drawn(shape, .2, 0, sigma/2); n < 30 {
			t.Errorf("%v: with half the noise %d of %d stand out: the test sees no wrong scale", shape, n,
				runs)
		}
	}
}
