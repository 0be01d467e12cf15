package logistic

import (
	"math"
	"testing"

	"github.com/decoy-dp/decoy/privacy/accountant"
)

// TestSphericalNoise: of noise with density ∝ exp(−β‖b‖), by which a source perturbs objectives and
// minimisers, the density changes by e^{β·shift} at most, and does so along the shift. So a
// gradient that moves by 1, for a row that is added, may have β = ε (‖b‖ of law Γ(d, 1/ε)), and one
// that moves by 2, for a row that is replaced, needs β = ε/2 (Γ(d, 2/ε)): the two lines of the
// source do not go together. And d independent Laplaces of the same scale are no substitute: a
// shift of Euclidean length 1 along a diagonal changes their density by e^{√d·ε}.
func TestSphericalNoise(t *testing.T) {
	const d, epsilon = 9, .5
	norm := func(b []float64) (two, one float64) {
		for _, x := range b {
			two, one = two+x*x, one+math.Abs(x)
		}
		return math.Sqrt(two), one
	}
	loss := func(beta, shift float64) (spherical, laplace float64) {
		b, c := make([]float64, d), make([]float64, d)
		for i := range b {
			b[i] = 10
			c[i] = b[i] + shift/math.Sqrt(d)
		}
		b2, b1 := norm(b)
		c2, c1 := norm(c)
		return beta * (c2 - b2), beta * (c1 - b1)
	}
	for _, c := range []struct{ beta, shift, spherical, laplace float64 }{
		{epsilon, 1, epsilon, 3 * epsilon}, {epsilon / 2, 2, epsilon, 3 * epsilon},
		{epsilon, 2, 2 * epsilon, 6 * epsilon},
	} {
		spherical, laplace := loss(c.beta, c.shift)
		if math.Abs(spherical-c.spherical) > 1e-12 || math.Abs(laplace-c.laplace) > 1e-12 {
			t.Errorf("β = %v, shift %v: losses %v and %v", c.beta, c.shift, spherical, laplace)
		}
	}
}

// TestObjectivePerturbation: what objective perturbation needs by the older proofs, against values
// that were computed elsewhere; [Minimum] needs less (TestObjectiveDelta). The Hessian of a row has
// norm c = 1/4 at most, so that changing one costs ln(1 + 2c/(nλ) + c²/(n²λ²)) of ε, or half of it
// with a penalty larger by Δ (Chaudhuri, Monteleoni, Sarwate, JMLR 12, 2011, algorithm 2); of
// Gaussian form it has σ = √(8 ln(2/δ) + 4ε)/ε (Kifer, Smith, Thakurta 2012).
func TestObjectivePerturbation(t *testing.T) {
	const c = .25
	cost := func(n, lambda float64) float64 {
		return math.Log(1 + 2*c/(n*lambda) + c*c/(n*n*lambda*lambda))
	}
	for _, v := range []struct{ epsilon, n, lambda, left, more float64 }{
		{1, 1000, .01, .9506147748, 0}, {1, 100, .001, .5, .0078020292},
		{.1, 29305, .001, .0830104313, 0}, {.1, 300, .01, .05, .0229184028},
	} {
		left, more := v.epsilon-cost(v.n, v.lambda), 0.
		if left <= 0 {
			left, more = v.epsilon/2, c/(v.n*math.Expm1(v.epsilon/4))-v.lambda
			if spent := cost(v.n, v.lambda+more); math.Abs(spent-v.epsilon/2) > 1e-12 {
				t.Errorf("%+v: the penalty costs %v", v, spent)
			}
		}
		if math.Abs(left-v.left) > 1e-10 || math.Abs(more-v.more) > 1e-10 {
			t.Errorf("%+v: ε′ = %v, Δ = %v", v, left, more)
		}
	}
	for epsilon, want := range map[float64]float64{1: 10.08209210, .1: 99.01948352} {
		if got := math.Sqrt(8*math.Log(2/1e-5)+4*epsilon) / epsilon; math.Abs(got-want) > 1e-7 {
			t.Errorf("ε = %v: σ = %v, want %v", epsilon, got, want)
		}
	}
	// output perturbation: the minimiser moves by 2/(nλ), so β = nλε/2, and E‖b‖ = d/β
	if beta := 1000 * .01 * 1. / 2; beta != 5 || 10/beta != 2 {
		t.Errorf("β = %v", beta)
	}
}

// TestPosteriorRatio: a sample of a posterior is private by how far one row moves its logarithm,
// not by how large that is: of a coin with θ near 0 log p(X, θ) is never above 0, and one more head
// moves it by 13.8 at θ = 1e-6. On [a, 1−a] the ratio is ln((1−a)/a).
func TestPosteriorRatio(t *testing.T) {
	moved := func(theta float64) float64 { return math.Abs(math.Log(theta) - math.Log1p(-theta)) }
	if got := moved(1e-6); math.Abs(got-13.8155) > 1e-4 {
		t.Errorf("a head for a tail moves log p by %v", got)
	}
	const a = .1
	for theta := a; theta <= 1-a; theta += .01 {
		if moved(theta) > math.Log((1-a)/a)+1e-12 {
			t.Errorf("θ = %v: %v", theta, moved(theta))
		}
	}
}

// TestLossIsBoundedWithAtLeast: noise is (ε, δ)-DP if its loss is at most ε with a probability of
// at least 1 − δ. "At most 1 − δ", as a source prints it, holds of noise that is not.
func TestLossIsBoundedWithAtLeast(t *testing.T) {
	const epsilon, delta = 1., .05
	within := func(mu float64) float64 { // the loss is N(μ²/2, μ²)
		return math.Erfc(-(epsilon/mu-mu/2)/math.Sqrt2) / 2
	}
	for mu, private := range map[float64]bool{.1: true, .3: true, .5: true, 2: false, 5: false} {
		if atLeast := within(mu) >= 1-delta; atLeast != private {
			t.Errorf("μ = %v: the loss is within ε with probability %v", mu, within(mu))
		}
		if got := accountant.GDPDelta(mu, epsilon) <= delta; got != private {
			t.Errorf("μ = %v: δ = %v", mu, accountant.GDPDelta(mu, epsilon))
		}
	}
}
