package noise

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// TestGaussianVectorLaw: null, coordinate k has the law of round(N(0, (scales[k]/grid)²)), and the
// coordinates tell nothing about each other; 200,000 vectors. A scale 30 % off, and the scale of
// the neighbouring coordinate, are rejected.
func TestGaussianVectorLaw(t *testing.T) {
	const n = 200_000
	src := testSource(t)
	scales, grid := []float64{.5, 3, .7}, .25
	v, err := NewGaussianVector(scales, grid)
	if err != nil {
		t.Fatal(err)
	}
	scales[0] = 100 // copied: no effect
	draws := [3][]int64{make([]int64, n), make([]int64, n), make([]int64, n)}
	var signs [4]int64
	for i := range n {
		dst := []int64{1000, 2000, 3000}
		v.AddTo(dst, src)
		for k := range dst {
			draws[k][i] = dst[k] - 1000*int64(k+1)
		}
		if a, b := draws[0][i], draws[1][i]; a != 0 && b != 0 {
			signs[(sign(a)+1)+(sign(b)+1)/2]++
		}
	}
	for k, sigma := range []float64{2, 12, 2.8} {
		for _, c := range []struct {
			sigma float64
			ok    bool
		}{{sigma, true}, {sigma * 1.3, false}, {sigma / 1.3, false}} {
			if s, th, ok := fits(draws[k], int64(5*sigma), roundedPMF(c.sigma)); ok != c.ok {
				t.Errorf("coordinate %d, σ %v: %v ≤ %v is %v", k, c.sigma, s, th, ok)
			}
		}
	}
	if s, th, ok := stattest.ChiSquare(signs[:], []float64{.25, .25, .25, .25}); !ok {
		t.Errorf("signs of two coordinates: %v > %v", s, th)
	}
}

func sign(x int64) int {
	if x < 0 {
		return -1
	}
	return 1
}

// TestGaussianVectorIsRoundedGaussian: same source, same draws, in order, for grids at the ends of
// float64.
func TestGaussianVectorIsRoundedGaussian(t *testing.T) {
	for _, grid := range []float64{1, 0x1p-30, 0x1p30, 5e-324, 0x1p-1022, 0x1p1000} {
		sigmas := []float64{1, 2.75, 5 * 0x1p20}
		scales := make([]float64, len(sigmas))
		for k := range sigmas {
			scales[k] = sigmas[k] * grid
			if grid < 0x1p-1022 {
				// 2.75 has no subnormal at the smallest grid
				scales[k], sigmas[k] = float64(k+1)*grid, float64(k+1)
			}
		}
		v, err := NewGaussianVector(scales, grid)
		if err != nil {
			t.Fatalf("grid %g: %v", grid, err)
		}
		got, want := make([]int64, len(sigmas)), make([]int64, len(sigmas))
		v.AddTo(got, testSource(t))
		src := testSource(t)
		for k := range sigmas {
			d, _ := NewRoundedGaussian(sigmas[k])
			want[k] = d.Sample(src)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("grid %g: %v, want %v", grid, got, want)
		}
	}
}

func TestGaussianVectorErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		scales []float64
		grid   float64
		ok     bool
	}{
		{"fine", []float64{1, 2}, .5, true},
		{"no coordinates", nil, 1, true},
		{"at the bounds", []float64{MinScale / 8, MaxScale / 8}, .125, true},
		{"grid 0", []float64{1}, 0, false},
		{"grid −1", []float64{1}, -1, false},
		{"grid 3", []float64{1}, 3, false},
		{"grid NaN", []float64{1}, math.NaN(), false},
		{"grid Inf", []float64{1}, math.Inf(1), false},
		{"scale 0", []float64{1, 0}, 1, false},
		{"scale −1", []float64{-1}, 1, false},
		{"scale NaN", []float64{math.NaN()}, 1, false},
		{"scale Inf", []float64{math.Inf(1)}, 1, false},
		{"below the grid", []float64{MinScale / 16}, .125, false},
		{"overflow", []float64{MaxScale}, .5, false},
		{"overflow of the quotient", []float64{1e300}, 0x1p-1000, false},
	} {
		v, err := NewGaussianVector(c.scales, c.grid)
		if (err == nil) != c.ok || (err != nil && (!errors.Is(err, ErrParameter) || v != nil)) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestNewScale: against exact rationals, at all grids near the scale, for numbers of every kind:
// the scale is sigma/2^g, and what is not in the range is refused.
func TestNewScale(t *testing.T) {
	sigmas := []float64{0, math.Copysign(0, -1), 5e-324, -5e-324, 0x1p-1074 * 12345,
		math.Nextafter(0x1p-1022, 0), 0x1p-1022, math.Nextafter(0x1p-1022, 1), 1, -1, math.Pi,
		math.Nextafter(1, 0), math.Nextafter(1, 2), math.MaxFloat64, -math.MaxFloat64, 0x1p1023,
		math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(math.NaN(), -1)}
	b := testSource(t).state()
	for range 100 {
		sigmas = append(sigmas, math.Float64frombits(b.word()))
	}
	accepted := 0
	for _, sigma := range sigmas {
		exact := new(big.Rat).SetFloat64(sigma) // nil for Inf and NaN
		for g := -1074; g <= 1023; g++ {
			if _, e := math.Frexp(sigma); (e-g < -14 || e-g > 53) && g%97 != 0 {
				continue
			}
			s, ok := newScale(sigma, g)
			want := false
			if exact != nil {
				q := new(big.Rat).Mul(exact, rat(1, -g))
				want = inside(q, MinScale, MaxScale)
				if ok && rat(s.m, -int(s.shift)).Cmp(q) != 0 {
					t.Fatalf("%g on 2^%d: scale %d·2^−%d", sigma, g, s.m, s.shift)
				}
			}
			if ok != want {
				t.Fatalf("%g on 2^%d: accepted %v, want %v", sigma, g, ok, want)
			}
			if ok {
				accepted++
				if s.m < 1<<52 || s.m >= 1<<53 || s.shift < 4 || s.shift > 62 {
					t.Fatalf("%g on 2^%d: %d and %d", sigma, g, s.m, s.shift)
				}
			}
		}
	}
	if accepted < 1000 {
		t.Errorf("%d accepted", accepted)
	}
}
