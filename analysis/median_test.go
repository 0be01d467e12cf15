package analysis

import (
	"math"
	"slices"
	"testing"
)

// smoothSensitivity is S*_β of the median of sorted values in [lo, hi]: max_k e^{−kβ}·max_t
// (x_{m+t} − x_{m+t−k−1}), t from 0 to k+1, values beyond the ends being lo and hi (Nissim,
// Raskhodnikova, Smith 2007, proposition 3.4).
func smoothSensitivity(x []float64, lo, hi, beta float64) (s float64) {
	m := (len(x)+1)/2 - 1
	at := func(i int) float64 {
		switch {
		case i < 0:
			return lo
		case i >= len(x):
			return hi
		}
		return x[i]
	}
	for k := range len(x) + 1 {
		far := 0.
		for t := range k + 2 {
			far = max(far, at(m+t)-at(m+t-k-1))
		}
		s = max(s, math.Exp(-float64(k)*beta)*far)
	}
	return s
}

// TestMediansOfTheSources: the median by smooth sensitivity has noise (2S/ε)·Lap(1) with β =
// ε/(2·ln(2/δ)), and propose-test-release refuses where the noisy distance to a table of larger
// local sensitivity is at most ln(1/δ)/ε (Dwork, Lei 2009): reference values. Noisy counts, which
// need no noise whose scale the rows decide, have less error (docs/decisions/017-medians.md).
func TestMediansOfTheSources(t *testing.T) {
	var x []float64
	for i := range 11 {
		x = append(x, float64(i))
	}
	for beta, want := range map[float64]float64{.1: 4.0656965974, .5: 1.2130613194, 1: 1} {
		if got := smoothSensitivity(x, 0, 10, beta); math.Abs(got-want) > 1e-9 {
			t.Errorf("S* at β = %v is %v, want %v", beta, got, want)
		}
	}
	if got := math.Log(1/1e-6) / .5; math.Abs(got-27.631021) > 1e-6 {
		t.Errorf("the threshold is %v", got)
	}
	tab := people(t, 2000, 11)
	f := parsed(t, "quantile:y,0.5", tab)
	y := f.column.present(tab)
	slices.Sort(y)
	for _, epsilon := range []float64{.5, 1, 3} {
		s := smoothSensitivity(y, 0, 99, epsilon/(2*math.Log(2/budget.Delta)))
		smooth, square := 2*s/epsilon*math.Sqrt2, 0.
		for range 30 {
			d := ran(t, f, 11, 2000, epsilon, 0).Estimate - y[len(y)/2]
			square += d * d / 30
		}
		t.Logf("ε = %v: root mean square error %.2f, of smooth sensitivity %.2f", epsilon,
			math.Sqrt(square), smooth)
		if math.Sqrt(square) > smooth {
			t.Errorf("ε = %v: counts are off by %v, smooth sensitivity by %v", epsilon, math.Sqrt(square),
				smooth)
		}
	}
}
