package ellipsoid

import (
	"errors"
	"math"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/noise"
)

// TestNoisedSumLaw: null, coordinate k has the law of round(N(0, (scales[k]/grid)²)), and the
// coordinates tell nothing about each other; 200,000 vectors. A scale 30 % off is rejected. The
// grids are at the ends of float64 too.
func TestNoisedSumLaw(t *testing.T) {
	const n, reach = 200_000, 40
	src := noise.NewSource()
	for _, grid := range []float64{.25, 5e-324, 0x1p-1022, 0x1p1000} {
		sigmas := []float64{2, 12, 3}
		scales := make([]float64, len(sigmas))
		for k := range sigmas {
			scales[k] = sigmas[k] * grid
		}
		sum := stattest.Must(Sum{Scales: scales, Grid: grid}.noise())
		counts, signs := make([][2*reach + 1]int64, len(sigmas)), [4]int64{}
		for range n {
			dst := []int64{1000, 2000, 3000}
			sum.AddTo(dst, src)
			for k := range dst {
				dst[k] -= 1000 * int64(k+1)
				counts[k][min(max(dst[k], -reach), reach)+reach]++
			}
			if a, b := dst[0], dst[1]; a != 0 && b != 0 {
				signs[2*(uint64(a)>>63)+uint64(b)>>63]++
			}
		}
		for k, sigma := range sigmas {
			for _, c := range []struct {
				sigma float64
				ok    bool
			}{{sigma, true}, {sigma * 1.3, false}, {sigma / 1.3, false}} {
				below := func(x float64) float64 { return math.Erfc(-x/c.sigma/math.Sqrt2) / 2 }
				p := make([]float64, 2*reach+1)
				for i := range p {
					p[i] = below(float64(i-reach)+.5) - below(float64(i-reach)-.5)
				}
				p[0], p[2*reach] = below(.5-reach), below(.5-reach)
				if s, th, ok := stattest.ChiSquare(counts[k][:], p); ok != c.ok {
					t.Errorf("grid %g, coordinate %d, σ %v: %v ≤ %v is %v", grid, k, c.sigma, s, th, ok)
				}
			}
		}
		if s, th, ok := stattest.ChiSquare(signs[:], []float64{.25, .25, .25, .25}); !ok {
			t.Errorf("signs of two coordinates: %v > %v", s, th)
		}
	}
}

func TestNoisedSumErrors(t *testing.T) {
	const least, most = noise.MinScale, noise.MaxScale
	for _, c := range []struct {
		name   string
		scales []float64
		grid   float64
		ok     bool
	}{
		{"fine", []float64{1, 2}, .5, true},
		{"no coordinates", nil, 1, true},
		{"at the bounds", []float64{least / 8, most / 8}, .125, true},
		{"subnormal", []float64{12345 * 5e-324}, 5e-324, true},
		{"grid 0", []float64{1}, 0, false},
		{"grid −1", []float64{1}, -1, false},
		{"grid 3", []float64{1}, 3, false},
		{"grid NaN", []float64{1}, math.NaN(), false},
		{"grid Inf", []float64{1}, math.Inf(1), false},
		{"scale 0", []float64{1, 0}, 1, false},
		{"scale −1", []float64{-1}, 1, false},
		{"scale NaN", []float64{math.NaN()}, 1, false},
		{"scale Inf", []float64{math.Inf(1)}, 1, false},
		{"below the grid", []float64{least / 16}, .125, false},
		{"overflow", []float64{most}, .5, false},
		{"overflow of the quotient", []float64{1e300}, 0x1p-1000, false},
		{"underflow of the quotient", []float64{5e-324}, 0x1p100, false},
	} {
		_, err := Sum{Scales: c.scales, Grid: c.grid}.noise()
		if (err == nil) != c.ok || c.scales != nil && c.grid == .125 && !c.ok &&
			!errors.Is(err, noise.ErrParameter) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestNoisedSumShape(t *testing.T) {
	sum := stattest.Must(Sum{Scales: []float64{1, 1}, Grid: 1}.noise())
	stattest.Panics(t, func() { sum.AddTo(make([]int64, 3), noise.NewSource()) },
		"three numbers with the noise of two")
}

// BenchmarkNoise measures a vector of 24,961 scales, made and drawn from; ns/op is for all of them.
func BenchmarkNoise(b *testing.B) {
	src, dst, scales := noise.NewSource(), make([]int64, 24_961), make([]float64, 24_961)
	for k := range scales {
		scales[k] = 1 + float64(k)/1000
	}
	for b.Loop() {
		sum := stattest.Must(Sum{Scales: scales, Grid: 0x1p-20}.noise())
		sum.AddTo(dst, src)
	}
}
