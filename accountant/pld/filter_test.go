package pld

import (
	"math"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
)

// TestExponentialsFitTheirFilter: the numerical composition of k selections, which knows more,
// costs no more than the filter that pays for them, and not much less.
func TestExponentialsFitTheirFilter(t *testing.T) {
	for _, row := range []struct {
		epsilon float64
		k       int
	}{{.05, 60}, {.2, 30}, {.5, 5}} {
		cost, _ := accountant.FilterCost(exponential(row.epsilon))
		one := mustEpsilon(t, events(times(exponential(row.epsilon), row.k)), 1e-6, accountant.AddRemove)
		filter := mustEpsilon(t, events(times(filter(math.Sqrt(float64(row.k)*cost)), 1)), 1e-6,
			accountant.AddRemove)
		if one.Epsilon-one.Slack > filter.Epsilon {
			t.Errorf("%+v: the selections cost at least %v, the filter %v", row, one.Epsilon-one.Slack,
				filter.Epsilon)
		}
		if row.k >= 30 && filter.Epsilon > 1.4*one.Epsilon {
			t.Errorf("%+v: the filter costs %v, the selections %v", row, filter.Epsilon, one.Epsilon)
		}
	}
}

// TestFilterComposesAsOneGaussian: alone, several, and beside other events, in every currency.
func TestFilterComposesAsOneGaussian(t *testing.T) {
	beside := events(times(exponential(.1), 3), times(laplace(.05), 1), times(gaussian(9), 2))
	for name, pair := range map[string][2]accountant.Composition{
		"alone": {events(times(filter(.25), 1)), events(times(gaussian(4), 1))},
		"four":  {events(times(filter(.25), 4)), events(times(gaussian(2), 1))},
		"beside the other": {append(events(times(filter(.25), 1)), beside...),
			append(events(times(gaussian(4), 1)), beside...)},
	} {
		for _, adj := range []accountant.Adjacency{accountant.AddRemove, accountant.ReplaceOne} {
			for _, delta := range []float64{1e-9, 1e-5} {
				got := mustEpsilon(t, pair[0], delta, adj)
				want := mustEpsilon(t, pair[1], delta, adj)
				if got.Method != want.Method || !near(got.Epsilon, want.Epsilon, 1e-12) {
					t.Errorf("%s: ε = %+v, want %+v", name, got, want)
				}
			}
			got, want := mustDelta(t, pair[0], 1, adj), mustDelta(t, pair[1], 1, adj)
			if !near(got.Delta, want.Delta, 1e-9) {
				t.Errorf("%s: δ = %v, want %v", name, got.Delta, want.Delta)
			}
			if a, b := rdp(pair[0], 7, adj), rdp(pair[1], 7, adj); !near(a, b, 1e-12) {
				t.Errorf("%s: RDP %v, want %v", name, a, b)
			}
		}
	}
}

// TestClosedFormulasAreUpperBounds: what the closed formulas say is never below what is proven to
// be needed, and for the plan of a marginal mechanism a few per cent above.
func TestClosedFormulasAreUpperBounds(t *testing.T) {
	for name, c := range map[string]accountant.Composition{
		"marginals":   marginals(.05, 1),
		"selections":  events(times(exponential(.2), 40)),
		"laplace":     events(times(laplace(.1), 20), times(gaussian(9), 3)),
		"with a leak": events(times(gaussian(4), 2), times(approx(0, 3e-7), 3)),
		"approximate": events(times(gaussian(4), 2), times(approx(.3, 1e-8), 3)),
		"all together": events(times(gaussian(9), 2), times(filter(.1), 1), times(laplace(.1), 1),
			times(exponential(.3), 4), times(approx(.1, 1e-8), 1)),
	} {
		closed, err := c.Epsilon(1e-5, accountant.AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		d, err := DeltaAt(c, closed.Epsilon, accountant.AddRemove)
		if err != nil || d.Delta > 1e-5*(1+1e-3) {
			t.Errorf("%s: δ = %v at the ε of the closed formula, %v", name, d.Delta, err)
		}
		exact := mustEpsilon(t, c, 1e-5, accountant.AddRemove)
		if exact.Epsilon > closed.Epsilon || closed.Epsilon-closed.Slack > exact.Epsilon {
			t.Errorf("%s: %+v by PLD, %+v by the closed formula", name, exact, closed)
		}
		if name == "marginals" && closed.Epsilon > 1.1*exact.Epsilon {
			t.Errorf("%s: %v by the closed formula, %v by PLD", name, closed.Epsilon, exact.Epsilon)
		}
		if name == "with a leak" && !near(exact.Epsilon, closed.Epsilon, 1e-3) {
			t.Errorf("%s: %v by the closed formula, %v by PLD", name, closed.Epsilon, exact.Epsilon)
		}
	}
}
