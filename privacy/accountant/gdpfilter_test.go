package accountant

import (
	"math"
	"math/rand/v2"
	"testing"
)

// normalQuantile is Φ⁻¹, by bisection of logPhi on the side where it is exact.
func normalQuantile(logP float64) float64 {
	lo, hi := -60.0, 60.0
	for range 200 {
		if mid := (lo + hi) / 2; logPhi(mid) < logP {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

// rangePair is p_t and q_t = p_t·e^{−t} of docs/claims/gdpfilter.md.
func rangePair(epsilon, t float64) (p, q float64) {
	p = math.Expm1(t-epsilon) / math.Expm1(-epsilon)
	return p, p * math.Exp(-t)
}

// TestRangeMuIsTheSupremum: for every t the kink of the trade-off function, rejecting with
// probability p under one table and q under the other, is on or above G_μ, and at t = ε/2 it is on
// it.
func TestRangeMuIsTheSupremum(t *testing.T) {
	for _, epsilon := range []float64{1e-6, 1e-3, .01, .1, .5, 1, 2, 5, 10, 25, 60} {
		cost, ok := FilterCost(Exponential{epsilon})
		if !ok {
			t.Fatalf("ε = %v cannot be pooled", epsilon)
		}
		mu, best := math.Sqrt(cost), 0.0
		for k := 1; k < 2000; k++ {
			at := epsilon * float64(k) / 2000
			p, q := rangePair(epsilon, at)
			if 1-p < 1e-12 || q < 1e-300 {
				continue // 1 − p has lost its digits
			}
			need := -normalQuantile(math.Log1p(-p)) - normalQuantile(math.Log(q))
			best = math.Max(best, need)
		}
		if best > mu*(1+1e-9)+1e-12 {
			t.Errorf("ε = %v: some t needs μ = %v, the filter takes %v", epsilon, best, mu)
		}
		half := -2 * normalQuantile(-epsilon/2-math.Log1p(math.Exp(-epsilon/2)))
		if !near(mu, half, 1e-8+1e-13/epsilon) {
			t.Errorf("ε = %v: μ = %v, at t = ε/2 it is %v", epsilon, mu, half)
		}
		if mu < half*(1-1e-11) {
			t.Errorf("ε = %v: μ = %v is rounded below %v", epsilon, mu, half)
		}
	}
	// A small range: s′(0) = √(2π)/4.
	if cost, _ := FilterCost(Exponential{1e-3}); !near(math.Sqrt(cost), 1e-3*math.Sqrt(2*math.Pi)/4,
		1e-6) {
		t.Errorf("μ of a small ε: %v", math.Sqrt(cost))
	}
}

// TestSlopeDecreases: the steps of the proof that t = ε/2 is the worst. g = 4φ(2Φ−1) − z(1 −
// (2Φ−1)²) is not negative for z ≥ 0.
func TestSlopeDecreases(t *testing.T) {
	last := math.Inf(1)
	for z := 0.0; z < 8; z += .01 {
		phi := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
		upper := math.Erfc(z/math.Sqrt2) / 2
		a := 1 - 2*upper
		if g := 4*phi*a - z*4*upper*(1-upper); g < -1e-15 {
			t.Fatalf("g(%v) = %v", z, g)
		}
		slope := (1 - upper) * upper / phi // s′ at the x with s(x) = z
		if slope > last*(1+1e-12) {
			t.Fatalf("s′ rises at z = %v", z)
		}
		last = slope
	}
}

// TestBoundedRangeIsGDP compares the whole privacy profile, in both orders, of the pair at every t
// with that of N(μ, 1) against N(0, 1). At .97μ some profile must be larger.
func TestBoundedRangeIsGDP(t *testing.T) {
	for _, epsilon := range []float64{.05, .3, 1, 3, 8} {
		cost, _ := FilterCost(Exponential{epsilon})
		mu, caught := math.Sqrt(cost), false
		for k := 1; k < 100; k++ {
			p, q := rangePair(epsilon, epsilon*float64(k)/100)
			for j := -40; j <= 40; j++ {
				at := epsilon * float64(j) / 41
				e := math.Exp(at)
				for _, delta := range []float64{
					math.Max(0, p-e*q) + math.Max(0, (1-p)-e*(1-q)),
					math.Max(0, q-e*p) + math.Max(0, (1-q)-e*(1-p)),
				} {
					if gdp := GDPDelta(mu, at); delta > gdp*(1+1e-9)+1e-14 {
						t.Fatalf("ε = %v, t = %v%%: δ(%v) = %v, of μ %v", epsilon, k, at, delta, gdp)
					}
					caught = caught || delta > GDPDelta(.97*mu, at)*(1+1e-9)
				}
			}
		}
		if !caught {
			t.Errorf("ε = %v: a μ 3 %% smaller passes too: the test shows nothing", epsilon)
		}
	}
}

func TestFilterCost(t *testing.T) {
	for _, z := range []float64{.01, .7, 1, 3, 1e6} {
		cost, ok := FilterCost(Gaussian{z})
		if !ok || cost < 1/(z*z) || !near(cost, 1/(z*z), 1e-14) {
			t.Errorf("Gaussian{%v}: %v, %v", z, cost, ok)
		}
	}
	for _, e := range []Event{
		SubsampledGaussian{.1, 1}, SubsampledGaussian{1, 1}, Laplace{.1},
		Approx{.1, 0}, Approx{.1, 1e-9}, GDPFilter{1}, nil, &Gaussian{1},
		Gaussian{0}, Gaussian{math.NaN()}, Exponential{-1}, Gaussian{1e-200}, Gaussian{1e200},
		Exponential{1e-200}, Exponential{math.Inf(1)},
	} {
		if cost, ok := FilterCost(e); ok {
			t.Errorf("%+v may be pooled at %v", e, cost)
		}
	}
}

// TestSelectionsAreTheirFilter: many selections cost what the filter does that pays for them, and
// few of them the sum of their ε.
func TestSelectionsAreTheirFilter(t *testing.T) {
	for _, n := range []int{1, 40, 4000} {
		c := Composition{{Event: Exponential{Epsilon: .2}, Count: n}}
		cost, _ := FilterCost(c[0].Event)
		want := math.Min(.2*float64(n), GDPEpsilon(math.Sqrt(float64(n)*cost), 1e-9))
		if got, err := c.Epsilon(1e-9, AddRemove); err != nil || math.Abs(got.Epsilon/want-1) > 1e-9 {
			t.Errorf("%d selections cost %+v, want %v (%v)", n, got, want, err)
		}
	}
}

// TestFilterComposesAsOneGaussian: alone, several, and beside other events, in every currency.
func TestFilterComposesAsOneGaussian(t *testing.T) {
	beside := Composition{{Exponential{.1}, 3}, {Laplace{.05}, 1}, {Gaussian{9}, 2}}
	for name, pair := range map[string][2]Composition{
		"alone": {{{GDPFilter{.25}, 1}}, {{Gaussian{4}, 1}}},
		"four":  {{{GDPFilter{.25}, 4}}, {{Gaussian{2}, 1}}},
		"beside the other": {append(Composition{{GDPFilter{.25}, 1}}, beside...),
			append(Composition{{Gaussian{4}, 1}}, beside...)},
	} {
		for _, adj := range []Adjacency{AddRemove, ReplaceOne} {
			for _, delta := range []float64{1e-9, 1e-5} {
				got, want := mustEpsilon(t, pair[0], delta, adj), mustEpsilon(t, pair[1], delta, adj)
				if got.Method != want.Method || !near(got.Epsilon, want.Epsilon, 1e-12) {
					t.Errorf("%s: ε = %+v, want %+v", name, got, want)
				}
			}
		}
	}
	if _, err := (Composition{{GDPFilter{.25}, 1}}).Epsilon(0, AddRemove); err == nil {
		t.Error("a filter has a finite ε at δ = 0")
	}
}

// TestAdaptivePrograms plays the game that the claim is about: a program sees the privacy loss so
// far and chooses from it whether to select or to measure, with which μ and which t, until the
// filter is empty. For each of several programs and thresholds the power of the likelihood-ratio
// test is compared with that of N(μ, 1) against N(0, 1). Null: power ≤ Φ(Φ⁻¹(level) + μ). 20 000
// plays; the tolerance is 5.2 standard deviations of the power, false-alarm rate 1e-7 each. A
// filter that takes half of what a selection costs must be caught.
func TestAdaptivePrograms(t *testing.T) {
	t.Parallel()
	const plays, mu = 20_000, 1.5
	programs := map[string]func(u *rand.Rand, loss, left float64) (e Event, share float64){
		"measure when behind, select when ahead": func(u *rand.Rand, loss, left float64) (Event,
			float64) {
			if loss < 0 {
				return Gaussian{1 / math.Min(.6, math.Sqrt(left)*.999)}, 0
			}
			return Exponential{math.Min(.9, 1.59*math.Sqrt(left))}, .5
		},
		"large steps when behind, small when ahead": func(u *rand.Rand, loss, left float64) (Event,
			float64) {
			step := .3
			if loss < -.5 {
				step = .9
			}
			return Gaussian{1 / math.Min(step, math.Sqrt(left)*.999)}, 0
		},
		"selections with a t that follows the loss": func(u *rand.Rand, loss, left float64) (Event,
			float64) {
			share := .3
			if loss < 0 {
				share = .7
			}
			return Exponential{math.Min(2, 1.59*math.Sqrt(left))}, share
		},
	}
	play := func(u *rand.Rand, program func(*rand.Rand, float64, float64) (Event, float64),
		factor float64, first bool) float64 {
		r, loss := NewReservation(Composition{{GDPFilter{mu}, 1}}), 0.0
		for r.Left().Mu2 > .01 {
			e, share := program(u, loss, r.Left().Mu2)
			cost, _ := FilterCost(e)
			if cost*factor > r.Left().Mu2 {
				break
			}
			r.spent += cost * factor
			switch e := e.(type) {
			case Gaussian:
				m := 1 / e.NoiseMultiplier
				x := u.NormFloat64()
				if first {
					x += m
				}
				loss += m*x - m*m/2
			case Exponential:
				p, q := rangePair(e.Epsilon, share*e.Epsilon)
				if !first {
					p = q
				}
				if u.Float64() < p {
					loss += share * e.Epsilon
				} else {
					loss -= (1 - share) * e.Epsilon
				}
			}
		}
		return loss
	}
	exceeds := func(program func(*rand.Rand, float64, float64) (Event, float64), factor float64) bool {
		u := rand.New(rand.NewPCG(1, 2))
		var p, q [3]float64
		for range plays {
			a, b := play(u, program, factor, true), play(u, program, factor, false)
			for k, threshold := range []float64{-.5, .5, 1.2} {
				if a > threshold {
					p[k]++
				}
				if b > threshold {
					q[k]++
				}
			}
		}
		for k := range p {
			power, level := p[k]/plays, q[k]/plays
			most := math.Exp(logPhi(normalQuantile(math.Log(level)) + mu))
			// The level is uncertain too: its error counts by the slope of the power curve, at most
			// φ(0)/φ(Φ⁻¹(level)).
			slope := math.Exp(-math.Pow(normalQuantile(math.Log(level))+mu, 2)/2 +
				math.Pow(normalQuantile(math.Log(level)), 2)/2)
			sd := math.Sqrt((power*(1-power) + slope*slope*level*(1-level)) / plays)
			if power > most+5.2*sd {
				return true
			}
		}
		return false
	}
	for name, program := range programs {
		if exceeds(program, 1) {
			t.Errorf("%s: a test has more power than μ = %v allows", name, mu)
		}
	}
	if !exceeds(programs["selections with a t that follows the loss"], .5) {
		t.Error("half the cost of a selection is not noticed")
	}
}
