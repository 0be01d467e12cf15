package derive

import (
	"math"
	"testing"

	"github.com/decoy-dp/decoy/privacy/accountant"
)

// TestSharesDelta: the bound at the ε that package zcdp gives for some sums is the δ that it was
// asked at, however it looks for α; half the noise is not within it.
func TestSharesDelta(t *testing.T) {
	for _, epsilon := range []float64{.1, 1, 10} {
		for _, honest := range []int{1, 4, 19} {
			const delta = 1e-9
			sums := []accountant.Shares{{Honest: honest, Cells: 800, Sensitivity: math.Sqrt(15)},
				{Honest: honest, Cells: 1680, Sensitivity: 41},
				{Honest: honest, Cells: 90000, Sensitivity: math.Sqrt(14)}}
			low, high := 0., 100. // of ρ
			for range 100 {
				rho, total := (low+high)/2, 0.
				for i := range sums {
					sums[i] = sums[i].Within(rho / 3)
					total += sums[i].Rho()
				}
				if accountant.RhoEpsilon(total, delta) <= epsilon {
					low = rho
				} else {
					high = rho
				}
			}
			for i := range sums {
				sums[i] = sums[i].Within(low / 3)
			}
			if got := SharesDelta(sums, epsilon); math.Abs(got/delta-1) > 1e-6 {
				t.Errorf("ε = %v, %d parties: δ = %v, want %v", epsilon, honest, got, delta)
			}
			sums[1].Sigma /= 2
			if got := SharesDelta(sums, epsilon); got < 2*delta {
				t.Errorf("ε = %v, %d parties: δ = %v with half the noise", epsilon, honest, got)
			}
		}
	}
	for _, x := range []struct {
		honest             int
		sensitivity, sigma float64
	}{{2, 1, .7}, {0, 1, 1}, {2, 1, math.NaN()}, {2, 1, math.Inf(1)}, {2, math.Inf(1), 1},
		{1 << 40, 1, 1}} {
		s := accountant.Shares{Honest: x.honest, Cells: 5, Sensitivity: x.sensitivity, Sigma: x.sigma}
		if got := SharesDelta([]accountant.Shares{s}, 100); got != 1 {
			t.Errorf("%+v: δ = %v", s, got)
		}
	}
	if got, _ := logBelowOne(number(.75)).Float64(); math.Abs(got-math.Log(.25)) > 1e-15 {
		t.Errorf("ln(1/4) = %v", got)
	}
}
