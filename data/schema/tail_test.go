package schema

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestTails: the outermost bins that hold more than one value are drawn as Cut says; their shares
// fall by the law that gives the two last bins their rows; of two uneven cuts the finer codes draw
// what the codec draws. Null: the number of draws below a cut is binomial, z = 5 has a false-alarm
// rate below 6e-7 for each of about 40 comparisons.
func TestTails(t *testing.T) {
	const n = 40_000
	for name, test := range map[string]struct {
		column Column
		rows   []float64
		code   uint16
		at     []float64
		mean   float64 // at most, of a bin whose middle is far above, or below (negative)
	}{
		"whole": {Column{Kind: Integer, Edges: []float64{0, 10, 20, 1000}}, []float64{50, 40, 10}, 2,
			[]float64{25, 40, 100}, 40},
		"downwards": {Column{Kind: Integer, Edges: []float64{-1000, -20, -10, 0}},
			[]float64{10, 40, 50}, 0, []float64{-100, -40, -25}, -40},
		"decimals": {Column{Kind: Real, Decimals: 1, Edges: []float64{0, 1, 2, 100}},
			[]float64{50, 40, 10}, 2, []float64{2.5, 4, 10}, 4},
		"no decimals": {Column{Kind: Real, Edges: []float64{0, 1e16, 2e16, 1e18}},
			[]float64{50, 40, 10}, 2, []float64{2.5e16, 4e16, 1e17}, 4e16},
	} {
		t.Run(name, func(t *testing.T) {
			plain := mustCodec(t, test.column)
			c := plain.WithTails(test.rows)
			fine, of, shares := c.Cut(test.at)
			draw := func(c *Codec, code uint16, u *rand.Rand) float64 {
				v := c.Decode(code, u)
				return v.Float + float64(v.Int)
			}
			u, sum, below := rand.New(rand.NewPCG(1, 2)), 0.0, make([]int, len(test.at))
			count := func(x float64) {
				for i, at := range test.at {
					if x < at {
						below[i]++
					}
				}
			}
			check := func(what string) {
				t.Helper()
				want := 0.0
				k := 0
				for ; of[k] != test.code; k++ {
				}
				for i := range below {
					want += shares[k+i]
					got := float64(below[i]) / n
					if math.Abs(got-want) > 5*math.Sqrt(want*(1-want)/n) {
						t.Errorf("%s: a share of %.4f is below %g, want %.4f", what, got, test.at[i], want)
					}
					below[i] = 0
				}
			}
			for range n {
				x := draw(c, test.code, u)
				if lo, hi := c.Bin(test.code); x < lo || x > hi {
					t.Fatalf("%g is not in the bin from %g to %g", x, lo, hi)
				}
				sum += x
				count(x)
			}
			check("drawn")
			if mean := sum / n; test.mean > 0 && mean > test.mean || test.mean < 0 && mean < test.mean {
				t.Errorf("the mean is %g, want it nearer to the inner bin than %g", mean, test.mean)
			}
			for range n {
				v := u.Float64()
				k := 0
				for of[k] != test.code {
					k++
				}
				for ; k+1 < len(of) && of[k+1] == test.code; k++ {
					if v -= shares[k]; v < 0 {
						break
					}
				}
				count(draw(fine, uint16(k), u))
			}
			check("drawn for finer codes")
			if _, _, even := plain.Cut(test.at); even[0] != shares[0] && test.code != 0 {
				t.Errorf("the first bin has a tail: %v, want %v", shares, even)
			}
		})
	}
}

// TestNoTail: where the outer bin is as dense as the one beside it or denser, a bin has no rows, or
// all others hold one value, values stay even.
func TestNoTail(t *testing.T) {
	wide := []float64{0, 10, 20, 100}
	for name, test := range map[string]struct {
		edges, rows []float64
	}{
		"level":         {wide, []float64{10, 10, 81}},
		"denser":        {wide, []float64{11, 10, 90}},
		"no rows":       {wide, []float64{0, 0, 0}},
		"none within":   {wide, []float64{10, 0, 10}},
		"not a number":  {wide, []float64{math.NaN(), math.NaN(), math.NaN()}},
		"one wide bin":  {[]float64{0, 1, 100}, []float64{10, 10}},
		"next to level": {wide, []float64{10, 10, 81 - 1e-7}},
	} {
		t.Run(name, func(t *testing.T) {
			plain := mustCodec(t, Column{Kind: Integer, Edges: test.edges})
			c := plain.WithTails(test.rows)
			for code := range c.Size() {
				a, b := rand.New(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(1, 2))
				for range 50 {
					if x, y := plain.Decode(uint16(code), a), c.Decode(uint16(code), b); x != y {
						t.Fatalf("code %d: %v, want %v", code, y, x)
					}
				}
			}
		})
	}
}

// TestTailScale: a tail has in the two bins the rows that it was fitted to.
func TestTailScale(t *testing.T) {
	for _, x := range [][3]float64{{4, 10, 980}, {1, 10, 30}, {.02, 1, 80}, {1e6, 1, 1e12}} {
		scale := tailScale(x[0], x[1], x[2]) - x[1]
		left := survival(x[1] / scale)
		got := (1 - left) / (left - survival((x[1]+x[2])/scale))
		if !(math.Abs(got/x[0]-1) < 1e-6) {
			t.Errorf("%v: a ratio of %g", x, got)
		}
		tail := tail{scale: scale + x[1]}
		for _, p := range []float64{0, .1, .5, .999} {
			if got := tail.below(tail.quantile(p, x[2]), x[2]); math.Abs(got-p) > 1e-6 {
				t.Errorf("%v: %g became %g", x, p, got)
			}
		}
	}
}
