package accountant

import (
	"errors"
	"math"
	"testing"
)

// Reference values of σ at sensitivity 1, computed for the project with a second program.
var sigmas = []struct{ epsilon, delta, sigma float64 }{
	{.1, 1e-5, 30.749566}, {.25, 1e-5, 13.285525}, {.5, 1e-5, 7.031827}, {1, 1e-5, 3.730632}, {2, 1e-5,
		1.993812},
	{4, 1e-5, 1.081162}, {8, 1e-5, .600229}, {10, 1e-5, .499889},
	{1, 1e-6, 4.224679}, {1, 1e-9, 5.495266}, {2, 1e-9, 2.844547}, {8, 1e-9, .792237},
}

func TestGaussianSigma(t *testing.T) {
	for _, row := range sigmas {
		b := Budget{row.epsilon, row.delta}
		got, err := GaussianSigma(b, 1)
		if err != nil || math.Abs(got-row.sigma) > 6e-7 {
			t.Errorf("σ at %v = %v, %v; want %v", b, got, err, row.sigma)
		}
		if d := GDPDelta(1/got, row.epsilon); d > row.delta || d < row.delta*(1-1e-8) {
			t.Errorf("σ at %v spends δ = %v", b, d)
		}
		scaled, _ := GaussianSigma(b, 1e4)
		if !near(scaled, 1e4*got, 1e-9) || GDPDelta(1e4/scaled, row.epsilon) > row.delta {
			t.Errorf("σ at sensitivity 1e4 = %v, want %v", scaled, 1e4*got)
		}
	}
}

// classicalSigma is √(2·ln(1.25/δ))/ε, the textbook noise of the Gaussian mechanism at sensitivity
// 1 (Dwork & Roth 2014, theorem A.1), valid for ε < 1 only.
func classicalSigma(epsilon, delta float64) float64 {
	return math.Sqrt(2*math.Log(1.25/delta)) / epsilon
}

// The textbook formula is not valid above ε = 1: it must fail the exact test that GaussianSigma
// passes.
func TestClassicalSigmaIsInvalidAtTen(t *testing.T) {
	small, large := classicalSigma(1, 1e-5), classicalSigma(10, 1e-5)
	if math.Abs(small-4.844805) > 1e-6 || math.Abs(large-.484481) > 1e-6 {
		t.Errorf("classical σ = %v, %v", small, large)
	}
	if GDPDelta(1/small, 1) > 1e-5 {
		t.Error("the classical σ should be enough at ε = 1")
	}
	if GDPDelta(1/large, 10) <= 1e-5 {
		t.Error("the classical σ should be too small at ε = 10")
	}
}

func TestGDPDelta(t *testing.T) {
	for _, row := range readOracle(t).GDP {
		got := GDPDelta(row.Mu, row.Epsilon)
		if got < row.Delta*(1-1e-15) || !near(got, row.Delta, 1e-9) {
			t.Errorf("GDPDelta(%v, %v) = %v, want %v from above", row.Mu, row.Epsilon, got, row.Delta)
		}
	}
	if got := GDPDelta(1, 1); math.Abs(got-.126936) > 1e-6 { // three Gaussians of σ = √3
		t.Errorf("GDPDelta(1, 1) = %v", got)
	}
	// The curve is its own reverse: δ(−ε) = 1 − e^{−ε} + e^{−ε}·δ(ε).
	for _, epsilon := range []float64{0.3, 2} {
		got, want := GDPDelta(.7, -epsilon), -math.Expm1(-epsilon)+math.Exp(-epsilon)*GDPDelta(.7,
			epsilon)
		if !near(got, want, 1e-12) {
			t.Errorf("δ(−%v) = %v, want %v", epsilon, got, want)
		}
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, row := range []struct{ mu, epsilon, want float64 }{
		{0, 1, 0}, {0, -math.Ln2, .5}, {inf, 1, 1}, {1, inf, 0}, {1e-9, 1, 0}, {80, 1, 1},
	} {
		if got := GDPDelta(row.mu, row.epsilon); !near(got, row.want, 1e-12) {
			t.Errorf("GDPDelta(%v, %v) = %v, want %v", row.mu, row.epsilon, got, row.want)
		}
	}
	for _, got := range []float64{GDPDelta(nan, 1), GDPDelta(1, nan), GDPDelta(-1, 1)} {
		if !math.IsNaN(got) {
			t.Errorf("got %v, want NaN", got)
		}
	}
}

func TestGDPEpsilon(t *testing.T) {
	for _, mu := range []float64{1e-3, .1, 1, 7} {
		for _, delta := range []float64{.3, 1e-3, 1e-9, 1e-12, 1e-30} {
			epsilon := GDPEpsilon(mu, delta)
			if GDPDelta(mu, epsilon) > delta {
				t.Errorf("GDPEpsilon(%v, %v) = %v is too small", mu, delta, epsilon)
			}
			if epsilon > 0 && GDPDelta(mu, epsilon*(1-1e-10)) <= delta {
				t.Errorf("GDPEpsilon(%v, %v) = %v is not the smallest", mu, delta, epsilon)
			}
		}
	}
	inf := math.Inf(1)
	for _, row := range []struct{ mu, delta, want float64 }{{0, 0, 0}, {1, 0, inf}, {1, 1, 0},
		{inf, .1, inf}} {
		if got := GDPEpsilon(row.mu, row.delta); got != row.want {
			t.Errorf("GDPEpsilon(%v, %v) = %v, want %v", row.mu, row.delta, got, row.want)
		}
	}
	if !math.IsNaN(GDPEpsilon(-1, .1)) || !math.IsNaN(GDPEpsilon(1, math.NaN())) {
		t.Error("want NaN")
	}
}

func TestGDPMu(t *testing.T) {
	for _, b := range []Budget{{1e-6, 1e-12}, {.01, 1e-9}, {1, 1e-5}, {50, 1e-3}, {1e4, 1e-9}} {
		mu, err := GDPMu(b)
		if err != nil {
			t.Fatal(err)
		}
		if GDPEpsilon(mu, b.Delta) > b.Epsilon*(1+1e-11) || GDPDelta(mu, b.Epsilon) > b.Delta {
			t.Errorf("GDPMu(%v) = %v is too large", b, mu)
		}
		if GDPDelta(mu*(1+1e-9), b.Epsilon) <= b.Delta {
			t.Errorf("GDPMu(%v) = %v is not the largest", b, mu)
		}
	}
	for _, row := range []struct {
		name string
		b    Budget
		want error
	}{
		{"pure", Budget{1, 0}, ErrUnbounded}, {"negative ε", Budget{-1, 1e-9}, ErrBudgetRange}, {"NaN",
			Budget{math.NaN(), 1e-9}, ErrBudgetRange},
		{"δ too large", Budget{1, .0011}, ErrBudgetRange},
	} {
		if _, err := GDPMu(row.b); !errors.Is(err, row.want) {
			t.Errorf("%s: %v, want %v", row.name, err, row.want)
		}
		if _, err := GaussianSigma(row.b, 1); !errors.Is(err, row.want) {
			t.Errorf("%s: %v, want %v", row.name, err, row.want)
		}
	}
	for _, s := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := GaussianSigma(Budget{1, 1e-5}, s); !errors.Is(err, ErrEvent) {
			t.Errorf("sensitivity %v: %v", s, err)
		}
	}
}

// TestTailsAgree: where both hold, the series of the far tail and the complementary error function
// differ by no more than what the bounds allow for.
func TestTailsAgree(t *testing.T) {
	for x := -37.0; x < -30; x += 1.0 / 64 {
		got, want := logPhi(x), math.Log(math.Erfc(-x/math.Sqrt2)/2)
		if math.Abs(got-want) > 8*ulp*(1+math.Abs(want)) {
			t.Errorf("x = %v: ln Φ is %v, want %v", x, got, want)
		}
	}
}

// TestNothingIsFree: no event costs nothing because its square underflows, and sums are rounded up.
func TestNothingIsFree(t *testing.T) {
	huge := Composition{{Event: Gaussian{NoiseMultiplier: 1e160}, Count: 1 << 40}}
	if _, err := huge.Epsilon(0, AddRemove); !errors.Is(err, ErrEvent) {
		t.Errorf("huge noise: %v", err)
	}
	for _, e := range []Event{Gaussian{NoiseMultiplier: 1e150}, GDPFilter{Mu: 1e-170}} {
		if _, err := (Composition{{Event: e, Count: 1}}).Epsilon(0, AddRemove); !errors.Is(err,
			ErrUnbounded) {
			t.Errorf("%v at delta 0: %v", e, err)
		}
	}
	// 64 + 10⁶·2⁻⁴⁸, which added one by one stays 64.
	small := Composition{{Event: Laplace{Epsilon: 64}, Count: 1}}
	for range 1000 {
		small = append(small, Charge{Event: Laplace{Epsilon: 0x1p-48}, Count: 1000})
	}
	got, err := small.Epsilon(0, AddRemove)
	if want := 64 + 1e6*0x1p-48; err != nil || got.Epsilon < want || got.Epsilon > want*(1+2*ulp) {
		t.Errorf("epsilon %v, want %v: %v", got.Epsilon, want, err)
	}
	leaky := Composition{{Event: Approx{Delta: 1.0104700000000003374e-09}, Count: 1}}
	if _, err := leaky.Epsilon(1.0104700000000001306e-09, AddRemove); !errors.Is(err, ErrUnbounded) {
		t.Errorf("one ulp too much delta: %v", err)
	}
}
