package accountant

import (
	"math"
	"testing"
)

// The worked example of the lectures: σ = 4, q = .01, T = 10 000 steps, 1e-5 for one step. The slides keep leading terms and round freely; the theorems
// as stated give what is here.
func TestWorkedExample(t *testing.T) {
	const sigma, q, steps, delta = 4., .01, 10000, 1e-5
	epsilon := ClassicalSigma(1, delta) / sigma // one step, not subsampled: the slides say 1.2
	if math.Abs(epsilon-1.2) > .02 {
		t.Fatalf("one step costs %v, want 1.2", epsilon)
	}
	epsilon = 1.2

	naive := Basic(epsilon, delta, steps)
	if !near(naive.Epsilon, 12000, 1e-12) || !near(naive.Delta, .1, 1e-12) {
		t.Errorf("naive composition = %v, want (12 000, .1)", naive)
	}
	// "Strong composition (360, .1)" is ε√T·√(ln(1/δ)) with a factor near 3; the theorem has the √2 and the linear term too.
	strong := Advanced(epsilon, delta, steps, delta)
	leading := epsilon * math.Sqrt(2*steps*math.Log(1/delta))
	if !near(strong.Epsilon, leading+12000*math.Tanh(.6), 1e-12) || !near(strong.Delta, .10001, 1e-9) {
		t.Errorf("strong composition = %v", strong)
	}
	if short := leading / math.Sqrt2; short < 300 || short > 420 {
		t.Errorf("leading term of strong composition = %v, want about 360", short)
	}
	amplified := Amplify(epsilon, delta, q)
	if !near(amplified.Epsilon, math.Log(1-q+q*math.Exp(epsilon)), 1e-12) || !near(amplified.Delta, 1e-7, 1e-12) {
		t.Errorf("amplified step = %v", amplified)
	}
	// "Amplified strong composition (10, .001)": again the leading term, without the δ' that the theorem adds.
	both := Advanced(amplified.Epsilon, amplified.Delta, steps, delta)
	if both.Epsilon < 10 || both.Epsilon > 14 || !near(both.Delta, .00101, 1e-9) {
		t.Errorf("amplified strong composition = %v, want about (10, .001)", both)
	}

	// "Moments (≈1.25, 1e-5)": integer orders up to 32 and the first conversion, rdp + ln(1/δ)/(α − 1).
	step := Composition{{SubsampledGaussian{q, sigma}, steps}}
	moments := math.Inf(1)
	for alpha := 2.0; alpha <= 33; alpha++ {
		moments = math.Min(moments, step.rdp(alpha, AddRemove)+math.Log(1/delta)/(alpha-1))
	}
	if moments < 1.23 || moments > 1.28 {
		t.Errorf("moments accountant = %v, want 1.25", moments)
	}
	rdp, _ := step.rdpEpsilon(delta, AddRemove)
	pld := mustEpsilon(t, step, delta, AddRemove).Epsilon
	order := []float64{pld, rdp, moments, both.Epsilon, strong.Epsilon, naive.Epsilon}
	for i := 1; i < len(order); i++ {
		if order[i-1] >= order[i] {
			t.Errorf("the accountants should improve on each other: %v", order)
		}
	}
}

// Each theorem against the exact answer for the mechanism that it is about.
func TestTheoremsAreUpperBounds(t *testing.T) {
	c := Composition{{Laplace{.1}, 60}}
	for _, slack := range []float64{1e-3, 1e-6, 1e-9} {
		adv := Advanced(.1, 0, 60, slack)
		got := mustEpsilon(t, c, adv.Delta, AddRemove).Epsilon
		if got > adv.Epsilon || got < adv.Epsilon/2 {
			t.Errorf("δ' %v: advanced %v, exact %v", slack, adv.Epsilon, got)
		}
	}
	if LaplaceScale(.5, 3) != 6 {
		t.Error("the Laplace scale is sensitivity/ε")
	}
	// Randomised response on a sample: (1−q)·RR + q·RR′ against RR, a mixture with the amplified ε exactly.
	const epsilon, q = 1.3, .2
	p := 1 / (1 + math.Exp(-epsilon))
	if got, want := Amplify(epsilon, 0, q).Epsilon, math.Log((1-q)+q*p/(1-p)); !near(got, want, 1e-12) {
		t.Errorf("amplified ε = %v, want %v", got, want)
	}
	if got := Amplify(1e-9, 0, 1e-3).Epsilon; !near(got, 1e-12, 1e-8) {
		t.Errorf("small ε: %v", got)
	}
}
