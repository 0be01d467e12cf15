package noise

import (
	"fmt"
	"testing"
)

// BenchmarkDraw measures one draw of each sampler.
func BenchmarkDraw(b *testing.B) {
	src := NewSource()
	dst := make([]int64, 1000)
	for _, sigma := range []float64{1, 100, 0x1p24, 0x1p40} {
		laplace, _ := NewDiscreteLaplace(sigma)
		rounded, _ := NewRoundedGaussian(sigma)
		for _, c := range []struct {
			name  string
			addTo func([]int64, *Source)
		}{{"laplace", laplace.AddTo}, {"rounded", rounded.AddTo}} {
			b.Run(fmt.Sprintf("%s/%g", c.name, sigma), func(b *testing.B) {
				b.ReportAllocs()
				for n := b.N; n > 0; n -= len(dst) {
					c.addTo(dst[:min(n, len(dst))], src)
				}
			})
		}
	}
}

// BenchmarkSelect measures one choice of 1000 candidates, about 100 of them likely.
func BenchmarkSelect(b *testing.B) {
	src := NewSource()
	scores := make([]int64, 1000)
	for i := range scores {
		scores[i] = int64(i)
	}
	for b.Loop() {
		Select(src, scores, .01)
	}
}
