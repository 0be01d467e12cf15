package pld

import (
	"math"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
)

func TestSubsampledRDP(t *testing.T) {
	for _, row := range readOracle(t).RDP {
		got := subsampledRDP(subsampled(row.Rate, row.NoiseMultiplier), row.Alpha, row.Adjacency)
		if got < row.RDP*(1-1e-13) || !near(got, row.RDP, 3e-9) {
			t.Errorf("%+v: %v, want it from above", row, got)
		}
	}
	// An order for which some libraries return a conservative bound: never below the true value, never
	// above theirs.
	got := rdp(events(times(subsampled(.01, 2.5), 50)), 1.5, accountant.AddRemove)
	if got < 6.50070e-4 || got > 6.70580e-4 {
		t.Errorf("fractional order: %v", got)
	}
}

// The binomial sum of Mironov, Talwar and Zhang for integer orders is a second derivation.
func TestSubsampledRDPAtIntegerOrders(t *testing.T) {
	for _, q := range []float64{1e-4, .01, .3, .99} {
		for _, z := range []float64{.4, 1, 6} {
			for _, alpha := range []int{2, 3, 8, 33} {
				terms, max := make([]float64, alpha+1), math.Inf(-1)
				for k := range terms {
					a, _ := math.Lgamma(float64(alpha + 1))
					b, _ := math.Lgamma(float64(k + 1))
					c, _ := math.Lgamma(float64(alpha - k + 1))
					terms[k] = a - b - c + float64(alpha-k)*math.Log(1-q) + float64(k)*math.Log(q) +
						float64(k*(k-1))/(2*z*z)
					max = math.Max(max, terms[k])
				}
				sum := 0.0
				for _, x := range terms {
					sum += math.Exp(x - max)
				}
				want := (max + math.Log(sum)) / float64(alpha-1)
				got := subsampledRDP(subsampled(q, z), float64(alpha), accountant.AddRemove)
				if got < want-1e-13 || got > want*(1+2e-9)+1e-12 {
					t.Errorf("q %v z %v α %d: %v, want %v", q, z, alpha, got, want)
				}
			}
		}
	}
}

func TestSubsampledRDPLimits(t *testing.T) {
	e := subsampled(1, 3)
	if got := subsampledRDP(e, 5, accountant.AddRemove); !near(got, 5./18, 1e-12) {
		t.Errorf("q = 1, add-remove: %v", got)
	}
	if got := subsampledRDP(e, 5, accountant.ReplaceOne); !near(got, 4*5./18, 1e-12) {
		t.Errorf("q = 1, replace-one: %v", got)
	}
	// Near q = 1 the quadrature must come close to that, and never exceed it.
	for _, adj := range []accountant.Adjacency{accountant.AddRemove, accountant.ReplaceOne} {
		limit, got := subsampledRDP(e, 5, adj), subsampledRDP(subsampled(1-1e-9, 3), 5, adj)
		if got > limit || !near(got, limit, 1e-6) {
			t.Errorf("%v: q → 1: %v, want %v", adj, got, limit)
		}
	}
	if got := subsampledRDP(subsampled(.1, 1e-3), 100, accountant.AddRemove); !math.IsInf(got, 1) &&
		got < 1e7 {
		t.Errorf("tiny noise: %v", got)
	}
}

// excess switches to a series for small αr.
func TestExcess(t *testing.T) {
	for _, alpha := range []float64{1.5, 2, 7, 100} {
		for _, a := range []float64{.0099999, .0100001, -.0099999, -.0100001, 3, -3} {
			r := a / alpha
			want := math.Expm1(a) - alpha*math.Expm1(r)
			if got := excess(alpha, r); !near(got, want, 1e-11) {
				t.Errorf("excess(%v, %v) = %v, want %v", alpha, r, got, want)
			}
		}
		if got, want := excess(alpha, 1e-9), alpha*(alpha-1)/2*1e-18; !near(got, want, 1e-6) {
			t.Errorf("excess(%v, 1e-9) = %v, want %v", alpha, got, want)
		}
	}
}

func TestEventRDP(t *testing.T) {
	// Randomised response: Σ P^α Q^{1−α} over its two outcomes.
	response := func(epsilon, alpha float64) float64 {
		p := math.Exp(epsilon) / (1 + math.Exp(epsilon))
		return math.Log(math.Pow(p, alpha)*math.Pow(1-p, 1-alpha)+math.Pow(1-p, alpha)*math.Pow(p,
			1-alpha)) / (alpha - 1)
	}
	for _, row := range []struct {
		name  string
		e     accountant.Event
		alpha float64
		want  float64
	}{
		{"gaussian", gaussian(2), 3, 3. / 8},
		{"laplace", laplace(1.5), 4, response(1.5, 4)}, {"laplace, fractional", laplace(.3), 1.25,
			response(.3, 1.25)}, {"approx", approx(1.5, 0), 4, response(1.5, 4)},
		{"tiny laplace", laplace(1e-5), 2, 1e-10}, {"tiny exponential", exponential(1e-4), 6,
			6 * 1e-8 / 8}, {"leak", approx(1, 1e-9), 2, math.Inf(1)},
	} {
		if got := eventRDP(row.e, row.alpha, accountant.AddRemove); got != row.want &&
			!near(got, row.want, 1e-9) {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
	// Of any bounded-range pair, brute force over t: attained, and never more than αε²/8 or ε.
	for _, epsilon := range []float64{1e-3, .1, 1, 5, 30} {
		for _, alpha := range []float64{1.1, 2, 20, 300} {
			got, best := eventRDP(exponential(epsilon), alpha, accountant.AddRemove), 0.0
			for i := 1; i < 4000; i++ {
				x := float64(i) / 4000 * epsilon
				p := math.Expm1(x-epsilon) / math.Expm1(-epsilon)
				// e^{(α−1)x} factored out, so that nothing overflows
				best = math.Max(best, x+math.Log(p+(1-p)*math.Exp(-(alpha-1)*epsilon))/(alpha-1))
			}
			if got < best*(1-1e-12)-1e-13 || got > best*(1+1e-3)+1e-12 ||
				got > math.Min(alpha*epsilon*epsilon/8, epsilon) {
				t.Errorf("ε %v α %v: %v, brute force %v", epsilon, alpha, got, best)
			}
		}
	}
}

// The Rényi column of the reference table. Libraries minimise over a list of orders, so their
// values are a little larger.
func TestReferenceRDP(t *testing.T) {
	for _, row := range reference {
		got, _ := rdpEpsilon(events(times(subsampled(row.q, row.z), row.steps)), row.delta,
			accountant.AddRemove)
		if got > row.rdp+5e-5 || got < row.rdp*(1-2e-3) {
			t.Errorf("q %v σ %v T %d δ %v: RDP ε = %v, want %v", row.q, row.z, row.steps, row.delta, got,
				row.rdp)
		}
	}
	// δ(ε) and ε(δ) are inverse, here of too many events for a grid.
	c := events(times(laplace(1e-7), 1<<40))
	epsilon, _ := rdpEpsilon(c, 1e-5, accountant.AddRemove)
	if d := mustDelta(t, c, epsilon, accountant.AddRemove); d.Method != methodRDP ||
		!near(d.Delta, 1e-5, 1e-5) {
		t.Errorf("δ(ε(1e-5)) = %+v", d)
	}
}
