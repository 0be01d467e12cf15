package pld

import (
	"math"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
)

// The classical theorems, in the form in which lectures state them. They are here to compare with;
// they assume arguments in range and return what the formula gives.

// basicComposition returns the k-fold basic composition of (ε, δ)-DP: (kε, kδ) (Dwork & Roth 2014,
// theorem 3.16).
func basicComposition(epsilon, delta float64, k int) accountant.Budget {
	return accountant.Budget{Epsilon: float64(k) * epsilon, Delta: float64(k) * delta}
}

// advancedComposition returns the k-fold advanced composition of (ε, δ)-DP with slack δ' > 0:
//
//	ε√(2k·ln(1/δ')) + kε(e^ε − 1)/(e^ε + 1),  kδ + δ'
//
// (Dwork, Rothblum, Vadhan 2010, with the mean of Kairouz, Oh, Viswanath 2017, theorem 3.4; it
// needs adaptivity over neighbours only.)
func advancedComposition(epsilon, delta float64, k int, deltaPrime float64) accountant.Budget {
	n := float64(k)
	return accountant.Budget{
		Epsilon: epsilon*math.Sqrt(2*n*math.Log(1/deltaPrime)) + n*epsilon*math.Tanh(epsilon/2),
		Delta:   n*delta + deltaPrime,
	}
}

// amplify returns the guarantee of an (ε, δ)-DP mechanism run on a Poisson sample of rate q, under
// add-remove: (ln(1 − q + qe^ε), qδ) (Balle, Barthe, Gaboardi 2018, theorem 8).
func amplify(epsilon, delta, q float64) accountant.Budget {
	return accountant.Budget{Epsilon: math.Log1p(q * math.Expm1(epsilon)), Delta: q * delta}
}

// The worked example of the lectures: σ = 4, q = .01, T = 10 000 steps, 1e-5 for one step. The
// slides keep leading terms and round freely; the theorems as stated give what is here.
func TestWorkedExample(t *testing.T) {
	const sigma, q, steps, delta = 4., .01, 10000, 1e-5
	// one step, not subsampled: the slides say 1.2
	epsilon := math.Sqrt(2*math.Log(1.25/delta)) / sigma
	if math.Abs(epsilon-1.2) > .02 {
		t.Fatalf("one step costs %v, want 1.2", epsilon)
	}
	epsilon = 1.2

	naive := basicComposition(epsilon, delta, steps)
	if !near(naive.Epsilon, 12000, 1e-12) || !near(naive.Delta, .1, 1e-12) {
		t.Errorf("naive composition = %v, want (12 000, .1)", naive)
	}
	// "Strong composition (360, .1)" is ε√T·√(ln(1/δ)) with a factor near 3; the theorem has the √2
	// and the linear term too.
	strong := advancedComposition(epsilon, delta, steps, delta)
	leading := epsilon * math.Sqrt(2*steps*math.Log(1/delta))
	if !near(strong.Epsilon, leading+12000*math.Tanh(.6), 1e-12) || !near(strong.Delta, .10001, 1e-9) {
		t.Errorf("strong composition = %v", strong)
	}
	if short := leading / math.Sqrt2; short < 300 || short > 420 {
		t.Errorf("leading term of strong composition = %v, want about 360", short)
	}
	amplified := amplify(epsilon, delta, q)
	if !near(amplified.Epsilon, math.Log(1-q+q*math.Exp(epsilon)), 1e-12) || !near(amplified.Delta,
		1e-7, 1e-12) {
		t.Errorf("amplified step = %v", amplified)
	}
	// "Amplified strong composition (10, .001)": again the leading term, without the δ' that the
	// theorem adds.
	both := advancedComposition(amplified.Epsilon, amplified.Delta, steps, delta)
	if both.Epsilon < 10 || both.Epsilon > 14 || !near(both.Delta, .00101, 1e-9) {
		t.Errorf("amplified strong composition = %v, want about (10, .001)", both)
	}

	// "Moments (≈1.25, 1e-5)": integer orders up to 32 and the first conversion, rdp + ln(1/δ)/(α −
	// 1).
	step := events(times(subsampled(q, sigma), steps))
	moments := math.Inf(1)
	for alpha := 2.0; alpha <= 33; alpha++ {
		moments = math.Min(moments, rdp(step, alpha, accountant.AddRemove)+math.Log(1/delta)/(alpha-1))
	}
	if moments < 1.23 || moments > 1.28 {
		t.Errorf("moments accountant = %v, want 1.25", moments)
	}
	renyi, _ := rdpEpsilon(step, delta, accountant.AddRemove)
	exact := mustEpsilon(t, step, delta, accountant.AddRemove).Epsilon
	order := []float64{exact, renyi, moments, both.Epsilon, strong.Epsilon, naive.Epsilon}
	for i := 1; i < len(order); i++ {
		if order[i-1] >= order[i] {
			t.Errorf("the accountants should improve on each other: %v", order)
		}
	}
}

// Each theorem against the exact answer for the mechanism that it is about.
func TestTheoremsAreUpperBounds(t *testing.T) {
	c := events(times(laplace(.1), 60))
	for _, slack := range []float64{1e-3, 1e-6, 1e-9} {
		adv := advancedComposition(.1, 0, 60, slack)
		got := mustEpsilon(t, c, adv.Delta, accountant.AddRemove).Epsilon
		if got > adv.Epsilon || got < adv.Epsilon/2 {
			t.Errorf("δ' %v: advanced %v, exact %v", slack, adv.Epsilon, got)
		}
	}
	// Randomised response on a sample: (1−q)·RR + q·RR′ against RR, a mixture with the amplified ε
	// exactly.
	const epsilon, q = 1.3, .2
	p := 1 / (1 + math.Exp(-epsilon))
	if got, want := amplify(epsilon, 0, q).Epsilon, math.Log((1-q)+q*p/(1-p)); !near(got, want,
		1e-12) {
		t.Errorf("amplified ε = %v, want %v", got, want)
	}
	if got := amplify(1e-9, 0, 1e-3).Epsilon; !near(got, 1e-12, 1e-8) {
		t.Errorf("small ε: %v", got)
	}
}
