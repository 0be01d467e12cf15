package accountant

import (
	"errors"
	"math"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// classicalSigma is √(2·ln(1.25/δ))/ε, the textbook noise of the Gaussian mechanism at sensitivity
// 1 (Dwork & Roth 2014, theorem A.1), valid for ε < 1 only.
func classicalSigma(epsilon, delta float64) float64 {
	return math.Sqrt(2*math.Log(1.25/delta)) / epsilon
}

// The textbook formula is not valid above ε = 1: it must fail the exact test.
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
	stattest.Wraps(t, stattest.Err(huge.Epsilon(0, AddRemove)), ErrEvent, "huge noise")
	for _, e := range []Event{Gaussian{NoiseMultiplier: 1e150}, GDPFilter{Mu: 1e-170}} {
		stattest.Wraps(t, stattest.Err((Composition{{Event: e, Count: 1}}).Epsilon(0, AddRemove)),
			ErrUnbounded, "%v at delta 0", e)
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
	stattest.Wraps(t, stattest.Err(leaky.Epsilon(1.0104700000000001306e-09, AddRemove)), ErrUnbounded,
		"one ulp too much delta")
}

// TestLeaksAreNotFree: Approx events whose δ add up to more than the budget's have no price, also
// where they add up to more than 1, and no δ is so small that a logarithm of it is wrong.
func TestLeaksAreNotFree(t *testing.T) {
	tell := Charge{Event: Gaussian{NoiseMultiplier: 1e-3}, Count: 5}
	for _, leak := range []Charge{
		{Event: Approx{Delta: .9}, Count: 2}, {Event: Approx{Delta: .6}, Count: 2},
		{Event: Approx{Delta: .5}, Count: 2}, {Event: Approx{Delta: .499}, Count: 3},
		{Event: Approx{Delta: 1e-3}, Count: 1 << 40}, {Event: Approx{Delta: 1.1e-9}, Count: 1},
	} {
		for _, delta := range []float64{0, 1e-9} {
			for _, plan := range []Composition{{leak, tell}, {leak}} {
				if b, err := plan.Epsilon(delta, AddRemove); !errors.Is(err, ErrUnbounded) {
					t.Errorf("%v at delta %v: %v, %v", plan, delta, b, err)
				}
			}
		}
	}
	plain := Composition{{Event: Gaussian{NoiseMultiplier: 1}, Count: 1}}
	stattest.Wraps(t, stattest.Err(plain.Epsilon(MinDelta/2, AddRemove)), ErrUnbounded,
		"delta below MinDelta")
	if b, err := plain.Epsilon(MinDelta, AddRemove); err != nil || GDPDelta(1, b.Epsilon) > MinDelta {
		t.Errorf("delta MinDelta: %v, %v", b, err)
	}
}
