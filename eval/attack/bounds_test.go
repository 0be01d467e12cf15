package attack

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// TestCeiling: what N perfect runs show. Values of math: ln((1−p−δ)/p), p = 1−(α/4)^{1/N}; and
// (arXiv 2305.08846) 3.49 for 100 right guesses, 5.81 for 1000.
func TestCeiling(t *testing.T) {
	if got := ceiling(400, .1/4, 0); math.Abs(got-4.6815) > 5e-5 {
		t.Errorf("400 runs a side at 90 %%: %v, want 4.6815", got)
	}
	for _, tt := range []struct {
		n     int
		alpha float64
		delta float64
	}{{400, .05, 1e-9}, {1000, .1, 1e-3}, {20, .01, .01}} {
		p := 1 - math.Pow(tt.alpha/4, 1/float64(tt.n))
		if got, want := ceiling(tt.n, tt.alpha/4, tt.delta),
			math.Log((1-p-tt.delta)/p); math.Abs(got-want) > 1e-9 {
			t.Errorf("%+v: %v, want %v", tt, got, want)
		}
	}
	for n, want := range map[int]float64{100: 3.49, 1000: 5.81} {
		if got := (guesses{Canaries: n, Made: n, Right: n}).Epsilon(0,
			.05); math.Abs(got-want) > .005 {
			t.Errorf("%d right of %d: %v, want %v", n, n, got, want)
		}
	}
}

// TestRates: each number against its definition.
func TestRates(t *testing.T) {
	up := mathext.NormalQuantile
	for _, tt := range []struct {
		name        string
		r           rates
		delta       float64
		epsilon, mu float64
	}{
		{"equal", rates{.3, .3}, 0, 0, 0},
		{"the wrong way round", rates{.5, .2}, 0, 0, 0},
		{"ratio", rates{.1, .4}, 0, math.Log(4), up(.4) - up(.1)},
		{"ratio less δ", rates{.1, .4}, .1, math.Log(3), up(.4) - up(.1)},
		{"complement", rates{.6, .9}, 0, math.Log(4), up(.9) - up(.6)},
		{"δ eats all", rates{.1, .4}, .95, 0, up(.4) - up(.1)},
		{"never and sometimes", rates{0, .1}, 0, math.Inf(1), math.Inf(1)},
		{"nothing shown", rates{1, 0}, 0, 0, 0},
	} {
		if got := tt.r.Epsilon(tt.delta); math.Abs(got-tt.epsilon) > 1e-12 {
			t.Errorf("%s: epsilon %v, want %v", tt.name, got, tt.epsilon)
		}
		if got := tt.r.Mu(); math.Abs(got-tt.mu) > 1e-9 {
			t.Errorf("%s: mu %v, want %v", tt.name, got, tt.mu)
		}
	}
	r := rates{.1, .4}
	// The smallest δ at the refuted ε is the δ it was refuted at.
	for _, delta := range []float64{0, 1e-9, .05} {
		if got := r.Delta(r.Epsilon(delta)); math.Abs(got-delta) > 1e-12 {
			t.Errorf("delta %v, want %v", got, delta)
		}
	}
}

// TestRatesOfAGaussian: exact rates of a Gaussian mechanism refute no ε, δ or μ that its account
// allows, and all that is a little less.
func TestRatesOfAGaussian(t *testing.T) {
	for _, mu := range []float64{.1, 1, 3} {
		for _, x := range []float64{-1, 0, .5, 2} {
			r := rates{Out: 1 - cdf(x), In: 1 - cdf(x-mu)}
			if got := r.Mu(); math.Abs(got-mu) > 1e-9 {
				t.Errorf("μ = %v: %v", mu, got)
			}
			for _, eps := range []float64{0, .3, 2} {
				if got, most := r.Delta(eps), accountant.GDPDelta(mu, eps); got > most+1e-9 {
					t.Errorf("μ = %v, ε = %v: δ %v exceeds %v", mu, eps, got, most)
				}
			}
		}
		// The event that is best for ε = 0 reaches the account's δ.
		r := rates{Out: 1 - cdf(mu/2), In: cdf(mu / 2)}
		if got, want := r.Delta(0), accountant.GDPDelta(mu, 0); math.Abs(got-want) > 1e-9 {
			t.Errorf("μ = %v: δ(0) = %v, want %v", mu, got, want)
		}
	}
}

func cdf(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// TestClaimOf: the curve of an account falls, ends within the budget, is that of the Gaussian, and
// breaks where it is exceeded.
func TestClaimOf(t *testing.T) {
	b := accountant.Budget{Epsilon: 4, Delta: 1e-6}
	mu := stattest.Must(accountant.MuFor(b))
	c := stattest.Must(ClaimOf(b, accountant.AddRemove,
		accountant.Composition{{Event: accountant.Gaussian{NoiseMultiplier: 1 / mu}, Count: 1}}))
	last := 1.0
	for _, p := range c.Curve {
		if want := accountant.GDPDelta(mu, p.Epsilon); p.Delta > last ||
			math.Abs(p.Delta/want-1) > 1e-6 {
			t.Errorf("%+v, want δ %v", p, want)
		}
		last = p.Delta
	}
	at := func(mu float64) rates { return rates{Out: 1 - cdf(mu/2), In: cdf(mu / 2)} }
	if got := c.broken(at(mu * .999)); got != nil {
		t.Errorf("a mechanism as claimed breaks it: %+v", got)
	}
	if got := c.broken(at(mu * 1.3)); got == nil || got.Epsilon != 0 || got.Shown <= got.Claimed {
		t.Errorf("a third more μ: %+v", got)
	}
	if got := c.broken(rates{Out: .001, In: .9}); got == nil || got.Epsilon != 4 ||
		got.Claimed != 1e-6 {
		t.Errorf("beyond the budget: %+v", got)
	}
	stattest.Fails(t, stattest.Err(ClaimOf(accountant.Budget{}, accountant.AddRemove, nil)),
		"a budget of nothing is claimed")
}

// TestOneRunpValue: against the theorem summed by hand, and at δ = 0 the binomial tail.
func TestOneRunpValue(t *testing.T) {
	g := guesses{Canaries: 8, Made: 3, Right: 2}
	q := math.E / (1 + math.E)
	beta := 3*q*q*(1-q) + q*q*q
	if got := g.pValue(1, 0); math.Abs(got-beta) > 1e-12 {
		t.Errorf("%v, want %v", got, beta)
	}
	one, none := 3*q*(1-q)*(1-q), (1-q)*(1-q)*(1-q)
	want := beta + 2*8*.01*max(one, (one+none)/2)
	if got := g.pValue(1, .01); math.Abs(got-want) > 1e-12 {
		t.Errorf("δ = .01: %v, want %v", got, want)
	}
	if got := (guesses{Canaries: 8}).pValue(1, 0); got != 1 {
		t.Errorf("no guess: %v", got)
	}
	if got := (guesses{Canaries: 100, Made: 100, Right: 55}).Epsilon(0, .05); got != 0 {
		t.Errorf("55 of 100 right shows %v", got)
	}
	// A δ takes something off.
	g = guesses{Canaries: 1000, Made: 600, Right: 600}
	if a, b := g.Epsilon(0, .05), g.Epsilon(1e-5, .05); !(b < a && b > 4.5) {
		t.Errorf("ε %v at δ = 0, %v at 1e-5", a, b)
	}
}

// TestOneRunCoverage: on randomised response, for which the theorem is tight, the bound exceeds the
// true ε no more often than stated. Null: probability at most tail; 20 000 audits, false alarms
// 1e-6; a bound computed at twice the tail is not noticed by chance.
func TestOneRunCoverage(t *testing.T) {
	const audits, tail, made = 20_000, .05, 200
	u := rand.New(rand.NewPCG(3, 4))
	bound := map[int]float64{}
	for right := range made + 1 {
		bound[right] = guesses{Canaries: made, Made: made, Right: right}.Epsilon(0, tail)
	}
	caught := false
	for _, eps := range []float64{.2, 1, 3} {
		q := 1 / (1 + math.Exp(-eps))
		wrong := int64(0)
		for range audits {
			right := 0
			for range made {
				if u.Float64() < q {
					right++
				}
			}
			if bound[right] > eps {
				wrong++
			}
		}
		if _, _, ok := stattest.Binomial(wrong, audits, tail); !ok && wrong > tail*audits {
			t.Errorf("ε = %v: %d of %d bounds exceed it", eps, wrong, audits)
		}
		if _, _, ok := stattest.Binomial(wrong, audits, tail/3); !ok &&
			float64(wrong) > tail/3*audits {
			caught = true
		}
	}
	if !caught {
		t.Error("the test would not notice bounds at a third of the tail")
	}
}

func TestExceeding(t *testing.T) {
	out, in := []float64{1, 2, 3, 4}, []float64{2.5, 3.5, 9, 3}
	for allowed, want := range [][2]int{{0, 1}, {1, 2}, {2, 4}, {3, 4}, {4, 4}} {
		if f, hits := exceeding(out, in, allowed); f != allowed || hits != want[1] {
			t.Errorf("%d allowed: %d and %d, want %v", allowed, f, hits, want)
		}
	}
	if got := curve(out, in); got[0] != [2]float64{.25, .5} || got[len(got)-1] != [2]float64{1, 1} {
		t.Errorf("a curve of %v", got)
	}
}

// TestClopperPearson: published intervals, and the definition: at the bound the tail is what was
// asked.
func TestClopperPearson(t *testing.T) {
	for _, tt := range []struct {
		name      string
		s, n      int
		tail      float64
		low, high float64
	}{
		{"none of 10, 95 %", 0, 10, .025, 0, .308497}, // 1 − .025^{1/10}
		{"all of 10, 95 %", 10, 10, .025, .691503, 1}, // .025^{1/10}
		// Clopper & Pearson's chart; R binom.test(1, 10)
		{"1 of 10, 95 %", 1, 10, .025, .002529, .445016},
		// R binom.test(5, 10)
		{"5 of 10, 95 %", 5, 10, .025, .187086, .812914},
		// Newcombe 1998, Statistics in Medicine 17, table I
		{"81 of 263, 95 %", 81, 263, .025, .252706, .367626},
		{"15 of 148, 95 %", 15, 148, .025, .0578, .1617}, // Newcombe 1998
		{"none of 20, 95 %", 0, 20, .025, 0, .1684},      // Newcombe 1998
		{"1 of 29, 95 %", 1, 29, .025, .0009, .1776},     // Newcombe 1998
		// rule of the ceiling
		{"none of 400, 90 %", 0, 400, .025, 0, 1 - math.Exp(math.Log(.025)/400)},
	} {
		low, high := clopperPearson(tt.s, tt.n, tt.tail)
		if math.Abs(low-tt.low) > 6e-5 || math.Abs(high-tt.high) > 6e-5 {
			t.Errorf("%s: [%.6f, %.6f], want [%.6f, %.6f]", tt.name, low, high, tt.low, tt.high)
		}
	}
	for _, n := range []int{1, 7, 400, 10_000} {
		for _, s := range []int{1, n / 2, n - 1} {
			if s < 1 || s >= n {
				continue
			}
			for _, tail := range []float64{1e-9, .025, .4} {
				low, high := clopperPearson(s, n, tail)
				if got := atLeast(s, n, low); math.Abs(got/tail-1) > 1e-6 {
					t.Errorf("%d of %d: P(X ≥ s) = %v at the lower bound, want %v", s, n, got, tail)
				}
				if got := atLeast(n-s, n, 1-high); math.Abs(got/tail-1) > 1e-3 {
					t.Errorf("%d of %d: P(X ≤ s) = %v at the upper bound, want %v", s, n, got, tail)
				}
			}
		}
	}
}

func TestClopperPearsonPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"no trials":     func() { clopperPearson(0, 0, .05) },
		"too many":      func() { clopperPearson(5, 4, .05) },
		"negative":      func() { clopperPearson(-1, 4, .05) },
		"tail 0":        func() { clopperPearson(1, 4, 0) },
		"tail NaN":      func() { clopperPearson(1, 4, math.NaN()) },
		"guesses":       func() { guesses{Canaries: 3, Made: 4}.pValue(1, 0) },
		"right of none": func() { guesses{Canaries: 3, Made: 2, Right: 3}.pValue(1, 0) },
	} {
		stattest.Panics(t, f, "%s", name)
	}
}

func TestExposure(t *testing.T) {
	others := []float64{-1, -2, -3, -4, -5, -6, math.Inf(-1)}
	for _, c := range []struct{ canary, want float64 }{
		{0, 3}, {-1.5, 2}, {-1, 2}, {-3.5, 1}, {math.Inf(-1), 0},
	} {
		if got := exposure(c.canary, others); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("canary %v: %v, want %v", c.canary, got, c.want)
		}
	}
	// of one that was not seen, each rank is as likely: the mean of log₂|R| − log₂ rank
	mean, n := 0., 4096
	for rank := 1; rank <= n; rank++ {
		mean += (math.Log2(float64(n)) - math.Log2(float64(rank))) / float64(n)
	}
	if mean > 1/math.Ln2 || mean < 1.43 {
		t.Errorf("mean exposure %v", mean)
	}
}
