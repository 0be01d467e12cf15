package accountant

import (
	"math"
	"math/big"
	"testing"
)

// TestShares: reference values of τ for ten parties, which were computed elsewhere, read off the
// first form of ε; one party is the discrete Gaussian itself; and each form is the smaller one
// somewhere.
func TestShares(t *testing.T) {
	for _, tt := range []struct{ variance, tau, within float64 }{
		{.5, .105, .001}, {1, 5.4e-4, 5e-6}, {4, 7.2e-17, 5e-19},
	} {
		s := Shares{Honest: 10, Cells: 1, Sensitivity: 1e-30, Sigma: math.Sqrt(tt.variance)}
		// ε² = Δ²/(nσ²) + τd/2 is of τ alone with such a Δ, the other form is (τ√d)²
		got := math.Sqrt(2 * s.Rho())
		if want := math.Min(tt.tau, math.Sqrt(tt.tau/2)); math.Abs(got-want) > tt.within {
			t.Errorf("variance %v: τ = %v, want %v", tt.variance, got, want)
		}
	}
	if least := new(big.Float).SetPrec(200).SetFloat64(minShareSigma); least.Mul(least, least).Cmp(
		big.NewFloat(.5)) < 0 {
		t.Error("the least variance is below ½")
	}
	one := Shares{Honest: 1, Cells: 100, Sensitivity: 3, Sigma: 6}
	if got, want := one.Rho(), .125; math.Abs(got/want-1) > 1e-11 || got < want {
		t.Errorf("one party: ρ = %v, want Δ²/2σ² = %v", got, want)
	}
	// small Δ: the second form, whose τ is a square; large Δ and many cells: the first
	for _, s := range []Shares{{5, 1, .01, 1}, {5, 100000, 1000, 1}} {
		tau := 0.0
		for k := 1.; k < 5; k++ {
			tau += 10 * math.Exp(-2*math.Pi*math.Pi*k/(k+1))
		}
		x, d := s.Sensitivity*s.Sensitivity/5, float64(s.Cells)
		first, second := x+tau*d/2, math.Pow(math.Sqrt(x)+tau*math.Sqrt(d), 2)
		if (first < second) != (s.Cells > 1) {
			t.Errorf("%+v: %v and %v", s, first, second)
		}
		if want := min(first, second) / 2; math.Abs(s.Rho()/want-1) > 1e-11 {
			t.Errorf("%+v: ρ = %v, want %v", s, s.Rho(), want)
		}
	}
	for _, s := range []Shares{{0, 1, 1, 1}, {2, 0, 1, 1}, {2, 1, 0, 1}, {2, 1, 1, .7},
		{2, 1, 1, math.NaN()}} {
		if !math.IsInf(s.Rho(), 1) {
			t.Errorf("%+v costs %v", s, s.Rho())
		}
	}
}

// TestWithin: the σ that is found is within ρ, and a slightly smaller one is not, unless it is the
// least of the theorem. More parties need less each.
func TestWithin(t *testing.T) {
	for _, rho := range []float64{1e-6, .001, .02, 1, 50} {
		before := math.Inf(1)
		for _, n := range []int{1, 2, 4, 20, 1000} {
			s := Shares{Honest: n, Cells: 5000, Sensitivity: math.Sqrt(15)}.Within(rho)
			less := s
			less.Sigma *= 1 - 1e-8
			if s.Rho() > rho || less.Rho() <= rho && s.Sigma > minShareSigma*(1+1e-8) {
				t.Errorf("ρ = %v, %d parties: σ = %v costs %v", rho, n, s.Sigma, s.Rho())
			}
			if s.Sigma > 2 && s.Sigma > before { // below, τ counts, and grows with n
				t.Errorf("ρ = %v: %d parties need σ = %v each, fewer need %v", rho, n, s.Sigma, before)
			}
			before = s.Sigma
		}
	}
}
