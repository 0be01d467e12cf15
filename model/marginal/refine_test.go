package marginal

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestRefine: cells alone are averaged by inverse variance; over many draws the estimate is
// unbiased and has the noise that it says.
func TestRefine(t *testing.T) {
	a := Measurement{Cols: []int{0}, Counts: []float64{10, 20}, Sigma: 3}
	b := Measurement{Cols: []int{0}, Counts: []float64{13, 17}, Sigma: 4}
	want, got := []float64{10 + 3*9./25, 20 - 3*9./25}, Refine(a, b)
	for i := range want {
		if math.Abs(got.Counts[i]-want[i]) > 1e-12 || math.Abs(got.Sigma-12./5) > 1e-12 {
			t.Fatalf("%+v, want %v with 2.4", got, want)
		}
	}
	if a.Counts[0] != 10 {
		t.Error("the measurement was changed")
	}
	truth, groups := []float64{5, 9, 30, 1}, []uint16{0, 0, 0, 1}
	u := rand.New(rand.NewPCG(1, 2))
	const n = 20000
	bias, square, sigma := make([]float64, 4), 0.0, 0.0
	for range n {
		fine := Measurement{Cols: []int{0}, Sigma: 2}
		for _, x := range truth {
			fine.Counts = append(fine.Counts, x+2*u.NormFloat64())
		}
		coarse := Measurement{Cols: []int{0}, Groups: [][]uint16{groups}, Sigmas: []float64{1, .5},
			Counts: []float64{44 + u.NormFloat64(), 1 + .5*u.NormFloat64()}}
		r := Refine(fine, coarse)
		sigma = r.Sigma
		for i, x := range r.Counts {
			bias[i] += (x - truth[i]) / n
			square += (x - truth[i]) * (x - truth[i]) / (4 * n)
		}
	}
	for i, x := range bias {
		if math.Abs(x) > 5*2/math.Sqrt(n) {
			t.Errorf("code %d is off by %v", i, x)
		}
	}
	if math.Abs(math.Sqrt(square)/sigma-1) > .02 || sigma >= 2 {
		t.Errorf("noise %v, said to be %v", math.Sqrt(square), sigma)
	}
}
