package accountant

import (
	"errors"
	"math"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// Reference values of σ = 1/μ at sensitivity 1, computed for the project with a second program.
var sigmas = []struct{ epsilon, delta, sigma float64 }{
	{.1, 1e-5, 30.749566}, {.25, 1e-5, 13.285525}, {.5, 1e-5, 7.031827}, {1, 1e-5, 3.730632},
	{2, 1e-5, 1.993812}, {4, 1e-5, 1.081162}, {8, 1e-5, .600229}, {10, 1e-5, .499889},
	{1, 1e-6, 4.224679}, {1, 1e-9, 5.495266}, {2, 1e-9, 2.844547}, {8, 1e-9, .792237},
}

func TestMuFor(t *testing.T) {
	for _, row := range sigmas {
		b := Budget{Epsilon: row.epsilon, Delta: row.delta}
		mu, err := MuFor(b)
		if err != nil || math.Abs(1/mu-row.sigma) > 6e-7 {
			t.Errorf("σ at %v = %v, %v; want %v", b, 1/mu, err, row.sigma)
		}
		if d := GDPDelta(mu, row.epsilon); d > row.delta || d < row.delta*(1-1e-8) {
			t.Errorf("σ at %v spends δ = %v", b, d)
		}
	}
	// what noisy descent was computed with elsewhere, at δ = 1e-5
	for epsilon, want := range map[float64]float64{.1: .03252078, 1: .26805112, 10: 2.00044562} {
		mu, err := MuFor(Budget{Epsilon: epsilon, Delta: 1e-5})
		if err != nil || math.Abs(mu-want) > 1e-8 {
			t.Errorf("μ at ε = %v is %v, %v; want %v", epsilon, mu, err, want)
		}
	}
	for _, b := range []Budget{{Epsilon: 1e-6, Delta: 1e-12}, {Epsilon: .01, Delta: 1e-9},
		{Epsilon: 1, Delta: 1e-5}, {Epsilon: 50, Delta: 1e-3}, {Epsilon: 1e4, Delta: 1e-9},
		{Epsilon: 1e-310, Delta: 1e-320}} {
		mu := stattest.Must(MuFor(b))
		if GDPEpsilon(mu, b.Delta) > b.Epsilon ||
			GDPDelta(mu, b.Epsilon) > b.Delta {
			t.Errorf("MuFor(%v) = %v is too large", b, mu)
		}
		if mu > 0 && GDPDelta(mu*(1+1e-9), b.Epsilon) <= b.Delta {
			t.Errorf("MuFor(%v) = %v is not the largest", b, mu)
		}
	}
}

func TestRhoFor(t *testing.T) {
	for _, b := range []Budget{{Epsilon: 1e-4, Delta: 1e-12}, {Epsilon: .1, Delta: 1e-9},
		{Epsilon: 1, Delta: 1e-9}, {Epsilon: 10, Delta: 1e-5}, {Epsilon: 1e3, Delta: 1e-3}} {
		rho, err := RhoFor(b)
		if err != nil || RhoEpsilon(rho, b.Delta) > b.Epsilon ||
			RhoEpsilon(rho*(1+1e-9), b.Delta) <= b.Epsilon {
			t.Errorf("RhoFor(%v) = %v, %v", b, rho, err)
		}
	}
}

func TestBudgets(t *testing.T) {
	for _, row := range []struct {
		name string
		b    Budget
		want error
	}{
		{"pure", Budget{Epsilon: 1}, ErrUnbounded},
		{"ε = 0", Budget{Delta: 1e-9}, ErrBudgetRange},
		{"negative ε", Budget{Epsilon: -1, Delta: 1e-9}, ErrBudgetRange},
		{"NaN", Budget{Epsilon: math.NaN(), Delta: 1e-9}, ErrBudgetRange},
		{"δ too large", Budget{Epsilon: 1, Delta: .0011}, ErrBudgetRange},
	} {
		for _, f := range []func(Budget) (float64, error){MuFor, RhoFor} {
			stattest.Wraps(t, stattest.Err(f(row.b)), row.want, "%s", row.name)
		}
	}
}

func TestExponentialFor(t *testing.T) {
	for _, mu := range []float64{1e-20, 1e-9, 1e-4, .01, .3, 1, 4, 12, 30} {
		epsilon := ExponentialFor(mu)
		cost, ok := FilterCost(Exponential{Epsilon: epsilon})
		if !ok || cost > mu*mu || cost < mu*mu*(1-1e-5) {
			t.Errorf("μ = %v: ε = %v costs %v of %v", mu, epsilon, cost, mu*mu)
		}
	}
	if got := ExponentialFor(1e-200); got != 0 {
		t.Errorf("a μ whose square is 0 gives ε = %v", got)
	}
}

// solve finds the edge of any decreasing function, smooth or not.
func TestSolve(t *testing.T) {
	for _, row := range []struct {
		name string
		f    func(float64) float64
		edge float64
	}{
		{"power", func(x float64) float64 { return 1 / (x * x) }, 1},
		{"offset", func(x float64) float64 { return .5 + 1/x }, 2},
		{"step", func(x float64) float64 {
			if x < 700 {
				return 5
			}
			return .1
		}, 700},
		{"exponential", func(x float64) float64 { return math.Exp(10 - x) }, 10},
		{"unbounded below", func(x float64) float64 {
			if x < 1e-4 {
				return math.Inf(1)
			}
			return 1e-4 / x
		}, 1e-4},
	} {
		calls := 0
		got, err := solve(1, 1, 1e-9, func(x float64) (float64, error) {
			calls++
			return row.f(x), nil
		})
		if err != nil || got < row.edge || got > row.edge*(1+2e-9) || calls > 120 {
			t.Errorf("%s: %v, %v after %d calls; want %v", row.name, got, err, calls, row.edge)
		}
	}
	want := errors.New("stop")
	if _, err := solve(1, 1, 1e-9, func(float64) (float64, error) { return 0, want }); err != want {
		t.Error(err)
	}
}

// TestScaleFor: the noise of a budget, and what has none.
func TestScaleFor(t *testing.T) {
	one := func(s float64) Composition { return Composition{{Gaussian{s}, 1}} }
	for _, row := range []struct {
		name string
		b    Budget
		adj  Adjacency
		at   func(float64) Composition
		want float64
		err  error
	}{
		{"one gaussian", Budget{1, 1e-5}, AddRemove, one, 3.730632, nil},
		{"nine gaussians", Budget{1, 1e-9}, ReplaceOne,
			func(s float64) Composition { return Composition{{Gaussian{s}, 9}} }, 3 * 5.495266, nil},
		{"pure", Budget{.3, 0}, AddRemove, func(s float64) Composition {
			return Composition{{Laplace{.1 / s}, 4}, {Exponential{1 / s}, 2}}
		}, 8, nil},
		{"far from 1", Budget{1, 1e-5}, AddRemove,
			func(s float64) Composition { return Composition{{Gaussian{s * 1e-9}, 1}} }, 3.730632e9, nil},
		{"ε = 0", Budget{0, 1e-9}, AddRemove, one, 0, ErrBudgetRange},
		{"gaussian at δ = 0", Budget{1, 0}, AddRemove, one, 0, ErrUnbounded},
		{"no adjacency", Budget{1, 1e-9}, 0, one, 0, ErrEvent},
		{"invalid event", Budget{1, 1e-9}, AddRemove,
			func(s float64) Composition { return one(-s) }, 0, ErrEvent},
		{"a fixed part above the budget", Budget{1, 1e-9}, AddRemove,
			func(s float64) Composition { return append(one(s), Charge{Approx{0, 1e-8}, 1}) }, 0,
			ErrUnbounded},
		{"free at every scale", Budget{1, 1e-9}, AddRemove,
			func(float64) Composition { return nil }, 0, ErrEvent},
	} {
		got, err := ScaleFor(row.b, row.adj, row.at)
		if !errors.Is(err, row.err) || math.Abs(got-row.want) > 3e-7*row.want {
			t.Errorf("%s: %v, %v; want %v, %v", row.name, got, err, row.want, row.err)
		}
	}
}
