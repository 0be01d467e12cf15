package marginal

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestExpShift(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 2))
	v := []float64{0, -1e-300, -1e-17, -0.5, -1, -700, -707.9999, -math.Ln2, -math.Ln2 / 256,
		-math.Ln2 / 128}
	for range 200_000 {
		v = append(v, -708*u.Float64(), -u.Float64(), -math.Exp(-40*u.Float64()))
	}
	for _, shift := range []float64{0, 3, -250.5} {
		got := make([]float64, len(v))
		for i := range v {
			got[i] = v[i] + shift
		}
		in := append([]float64(nil), got...)
		expShift(got, shift)
		for i := range v {
			x := in[i] - shift
			want := math.Exp(x)
			if e := math.Abs(got[i]-want) / want; !(e < 4e-15) && x >= expMin {
				t.Fatalf("exp(%v) = %v, want %v: relative error %.2g", x, got[i], want, e)
			}
		}
	}
	for _, x := range []float64{-708.5, -1e4, -1e300, math.Inf(-1)} {
		b := []float64{x}
		if expShift(b, 0); b[0] != 0 {
			t.Errorf("exp(%v) = %v, want 0", x, b[0])
		}
	}
}
