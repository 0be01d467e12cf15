package logistic

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
	"github.com/decoy-dp/decoy/privacy/internal/opened"
)

// TestMinimiserIsAMinimum: the gradient at it, by its formula, is as small as is promised, with and
// without a linear term.
func TestMinimiserIsAMinimum(t *testing.T) {
	u := rand.New(rand.NewPCG(7, 8))
	for _, rows := range []int{0, 1, 3, 2000} {
		tab := gatetest.Table(t, gatetest.Schema("", 0), gatetest.SomeRows(rows), nil)
		for _, p := range []Problem{binary, merged} {
			for _, lambda := range []float64{1e-2, 1, 1000} {
				d := p.Cells(tab.Schema().Sizes())
				b := make([]float64, d)
				for i := range b {
					b[i] = 5 * u.NormFloat64() * lambda
				}
				for _, tilt := range [][]float64{nil, b} {
					at, ok := p.minimise(tab, lambda, tilt)
					if !ok {
						t.Fatalf("%d rows, λ = %v: no minimum", rows, lambda)
					}
					w := make([]float64, d)
					for i := range w {
						w[i] = float64(at[i]) * gridStep
					}
					norm := 0.
					for i, g := range naive(p, tab, w) {
						g += lambda * w[i]
						if tilt != nil {
							g += tilt[i]
						}
						norm += g * g
					}
					if norm = math.Sqrt(norm); norm > p.gap() {
						t.Errorf("%d rows, λ = %v: ‖∇J‖ = %v, want %v", rows, lambda, norm, p.gap())
					}
				}
			}
		}
	}
}

// TestMinimisers: on every table of up to four rows, and every neighbour, the minimiser moves by no
// more than the event says. A residual is about a half where the penalty holds weights near 0.
func TestMinimisers(t *testing.T) {
	p := Problem{Columns: []int{0}, Target: 1, Classes: []int{0, 1}}
	const lambda = 20.
	claim := func(nb privacy.Neighbours) float64 {
		return 1 / OutputEvent(nb, p, lambda, 1).(accountant.Gaussian).NoiseMultiplier
	}
	opened.RunSmall(t, []opened.SmallRow{{
		Mechanism: "Output",
		Of: func(s *opened.Small) gatetest.Value {
			at, ok := p.minimise(s.Table, lambda, nil)
			if !ok {
				s.T.Fatal("no minimum")
			}
			return gatetest.Value{{float64(at[0]) * gridStep, float64(at[1]) * gridStep}}
		},
		Claim: claim, Norm: gatetest.L2,
		Most: func(nb privacy.Neighbours) float64 { return .45 },
	}}, "Output")
	u := rand.New(rand.NewPCG(9, 10)) // with separable rows and a small penalty residuals are near 1
	for _, nb := range opened.Relations {
		for range 300 {
			a, b := gatetest.PairOf(u, nb.Adjacency, nb.MaxRowsPerUnit)
			sch := gatetest.Schema("", 0)
			v, _ := binary.minimise(gatetest.Table(t, sch, a, nil), .5, nil)
			w, _ := binary.minimise(gatetest.Table(t, sch, b, nil), .5, nil)
			far := 0.
			for i := range v {
				d := float64(v[i]-w[i]) * gridStep
				far += d * d
			}
			if most := 1 / OutputEvent(nb, binary, .5,
				1).(accountant.Gaussian).NoiseMultiplier; math.Sqrt(far) > most {
				t.Errorf("%v: minimisers are %v apart, the event says %v", nb, math.Sqrt(far), most)
			}
		}
	}
}

// TestOutputEvent: the noise is that of minimisers 2/(nλ) apart for rows of norm 1 that are
// replaced, as in Chaudhuri, Monteleoni & Sarwate 2011 (corollary 8), half of it for rows that are
// added, and covers that minimisers are not exact.
func TestOutputEvent(t *testing.T) {
	p := Problem{Columns: []int{0}, Target: 1, Classes: []int{0, 1}}
	const n, lambda = 1000, .01
	for adj, want := range map[accountant.Adjacency]float64{
		accountant.AddRemove: 1 / (n * lambda), accountant.ReplaceOne: 2 / (n * lambda),
	} {
		nb := privacy.Neighbours{Adjacency: adj, MaxRowsPerUnit: 1}
		z := OutputEvent(nb, p, n*lambda, 1).(accountant.Gaussian).NoiseMultiplier
		exactly := want + 2*p.gap()/(n*lambda)
		if math.Abs(1/z-exactly) > 1e-12 || 1/z < exactly*(1-1e-15) {
			t.Errorf("%v: distance %v, want %v", adj, 1/z, exactly)
		}
	}
}

// TestOutputNoise. Null: (released − minimiser)/σ is standard normal; false-alarm rate 1e-6. A
// scale 30 % off must be rejected. A call beyond the plan is refused.
func TestOutputNoise(t *testing.T) {
	const n, lambda, sigma = 500, 4., .25
	tab := gatetest.Table(t, gatetest.Schema("", 0), gatetest.SomeRows(60), nil)
	event := OutputEvent(opened.Relations[0], binary, lambda, sigma)
	s := opened.On(t, tab, 0, accountant.Charge{Event: event, Count: n})
	truth, _ := binary.minimise(tab, lambda, nil)
	var draws []float64
	for range n {
		got, err := Output(s, binary, lambda, sigma)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			draws = append(draws, (got[i]-float64(truth[i])*gridStep)/sigma)
		}
	}
	follows(t, draws)
	if _, err := Output(s, binary, lambda, sigma); !errors.Is(err, privacy.ErrPlan) {
		t.Errorf("a call beyond the plan: %v", err)
	}
}

// follows fails unless draws are standard normal, and rejects scales 30 % off.
func follows(t *testing.T, draws []float64) {
	t.Helper()
	normal := func(sd float64) func(float64) float64 {
		return func(x float64) float64 { return math.Erfc(-x/(sd*math.Sqrt2)) / 2 }
	}
	if stat, limit, ok := stattest.KolmogorovSmirnov(draws, normal(1)); !ok {
		t.Errorf("distance %v over %v", stat, limit)
	}
	for _, wrong := range []float64{.7, 1.3} {
		if _, _, ok := stattest.KolmogorovSmirnov(draws, normal(wrong)); ok {
			t.Errorf("%v times the noise is accepted", wrong)
		}
	}
}

// TestPerturbedNoise. Null: without rows the release is −b/λ + noise, normal with variance
// (Linear/λ)² + Weights²; false-alarm rate 1e-6.
func TestPerturbedNoise(t *testing.T) {
	const n, lambda = 500, 50.
	b := accountant.Budget{Epsilon: 2, Delta: 1e-12}
	tab := gatetest.Table(t, gatetest.Schema("", 0), nil, nil)
	o, err := NewObjective(opened.Relations[0], binary, tab.Schema().Sizes(), lambda, b)
	if err != nil {
		t.Fatal(err)
	}
	s := opened.On(t, tab, 0, accountant.Charge{Event: PerturbedEvent(b), Count: n})
	var draws []float64
	for range n {
		got, err := Perturbed(s, binary, lambda, b)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range got {
			draws = append(draws, x/math.Hypot(o.Linear/lambda, o.Weights))
		}
	}
	follows(t, draws)
	if _, err := Perturbed(s, binary, lambda, b); !errors.Is(err, privacy.ErrPlan) {
		t.Errorf("a call beyond the plan: %v", err)
	}
}

// TestNewObjective adds up again what the noise of an objective hides, by the proof on the claim
// page, and compares with published noise.
func TestNewObjective(t *testing.T) {
	sizes := []int{2, 3, 4}
	for _, nb := range opened.Relations {
		for _, b := range []accountant.Budget{{Epsilon: .1, Delta: 1e-5}, {Epsilon: 1, Delta: 1e-9},
			{Epsilon: 10, Delta: 1e-6}} {
			k := float64(nb.MaxRowsPerUnit)
			if nb.Adjacency == accountant.ReplaceOne {
				k *= 2
			}
			m := 2.
			lambda := 1.1 * m / 4 / math.Expm1(b.Epsilon/k/2)
			o, err := NewObjective(nb, binary, sizes, lambda, b)
			if err != nil {
				t.Fatal(err)
			}
			each := b.Epsilon / k
			second := each / 20
			far := (math.Ldexp(math.Sqrt(m), -gapBits) + math.Sqrt(7)*math.Ldexp(1, -linearBits-1)) / lambda
			mu, mu2 := math.Sqrt(m)/o.Linear, far/o.Weights
			rest := each - 2*second - math.Log1p(m/4/lambda)
			one := 2 * accountant.GDPDelta(mu, rest)
			two := accountant.GDPDelta(mu2, second)
			row := math.Exp(second)*one + (1+math.Exp(each-second))*two
			all := row * math.Expm1(b.Epsilon) / math.Expm1(each)
			if rest < mu*mu/2 || all > b.Delta || all < .99*b.Delta {
				t.Errorf("%v, %+v: δ = %v, rest %v for μ = %v", nb, b, all, rest, mu)
			}
		}
	}
	one := Problem{Columns: []int{0}, Target: 1, Classes: []int{0, 1}}
	nb := opened.Relations[0]
	for epsilon, published := range map[float64]float64{1: 10.08209210, .1: 99.01948352} {
		b := accountant.Budget{Epsilon: epsilon, Delta: 1e-5}
		if got := math.Sqrt(8*math.Log(2/b.Delta)+4*epsilon) / epsilon; math.Abs(got-published) > 1e-7 {
			t.Errorf("published noise is %v, want %v", got, published)
		}
		o, err := NewObjective(nb, one, sizes, .5/epsilon, b) // Kifer, Smith, Thakurta: λ ≥ 2c/ε
		if err != nil || o.Linear > published || o.Linear < published/4 {
			t.Errorf("ε = %v: noise %v of the objective, published %v, %v", epsilon, o.Linear, published,
				err)
		}
	}
	for name, c := range map[string]struct {
		lambda float64
		b      accountant.Budget
	}{
		"a small penalty": {.1, accountant.Budget{Epsilon: 1, Delta: 1e-9}},
		"no penalty":      {0, accountant.Budget{Epsilon: 1, Delta: 1e-9}},
		"no delta":        {10, accountant.Budget{Epsilon: 1}},
	} {
		if _, err := NewObjective(nb, one, sizes, c.lambda, c.b); !errors.Is(err,
			accountant.ErrUnbounded) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPerturbationRefuses(t *testing.T) {
	tab := gatetest.Table(t, gatetest.Schema("", 0), gatetest.SomeRows(9), nil)
	b := accountant.Budget{Epsilon: 1, Delta: 1e-6}
	s := opened.On(t, tab, 0, accountant.Charge{Event: OutputEvent(opened.Relations[0], binary, 5, 1),
		Count: 1})
	for name, call := range map[string]func() error{
		"four classes": func() error { _, err := Output(s, multi, 5, 1); return err },
		"of them":      func() error { _, err := Perturbed(s, multi, 50, b); return err },
		"no penalty":   func() error { _, err := Output(s, binary, 0, 1); return err },
		"no noise":     func() error { _, err := Output(s, binary, 5, 0); return err },
		"much noise":   func() error { _, err := Output(s, binary, 5, 1e9); return err },
		"less noise":   func() error { _, err := Output(s, binary, 5, .9); return err },
		"a problem":    func() error { _, err := Perturbed(s, Problem{}, 50, b); return err },
	} {
		if call() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, ok := binary.minimise(tab, 5, nil); !ok || binary.RowLimit(tab.Schema().Sizes()) < 1e6 {
		t.Error("a small table has no minimum, or a large one no room")
	}
	if _, err := Output(s, binary, 5, 1); err != nil {
		t.Errorf("the planned call: %v", err)
	}
}
