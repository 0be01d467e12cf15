package accountant

import (
	"math"
	"testing"
)

func TestRhoEpsilon(t *testing.T) {
	for _, rho := range []float64{1e-8, 1e-4, .01, .5, 20} {
		for _, delta := range []float64{1e-3, 1e-5, 1e-9, 1e-12} {
			got := RhoEpsilon(rho, delta)
			// A fine scan over α of the conversion, written out again.
			best := math.Inf(1)
			for u := -8.0; u < 14; u += .0005 {
				a := 1 + math.Exp(u)
				best = math.Min(best, rho*a+(math.Log(1/delta)+(a-1)*math.Log(1-1/a)-math.Log(a))/(a-1))
			}
			best = math.Max(0, best)
			if got > best*(1+1e-9)+1e-15 || got < best*(1-1e-5) {
				t.Errorf("RhoEpsilon(%v, %v) = %v, want %v", rho, delta, got, best)
			}
			// Between the exact curve of the Gaussian mechanism, which is ρ-zCDP, and the bound of Bun &
			// Steinke 2016.
			if exact := GDPEpsilon(math.Sqrt(2*rho), delta); got < exact {
				t.Errorf("RhoEpsilon(%v, %v) = %v, below the Gaussian's %v", rho, delta, got, exact)
			}
			if classic := rho + 2*math.Sqrt(rho*math.Log(1/delta)); got >= classic {
				t.Errorf("RhoEpsilon(%v, %v) = %v, above the classical %v", rho, delta, got, classic)
			}
		}
	}
	inf := math.Inf(1)
	for _, row := range []struct{ rho, delta, want float64 }{{0, 0, 0}, {1, 0, inf}, {1, 1, 0},
		{inf, .1, inf}} {
		if got := RhoEpsilon(row.rho, row.delta); got != row.want {
			t.Errorf("RhoEpsilon(%v, %v) = %v, want %v", row.rho, row.delta, got, row.want)
		}
	}
	if !math.IsNaN(RhoEpsilon(-1, .1)) || !math.IsNaN(RhoEpsilon(1, math.NaN())) {
		t.Error("want NaN")
	}
}

// charges is calls of two kinds of event.
func charges(a Event, n int, b Event, m int) Composition {
	return Composition{{Event: a, Count: n}, {Event: b, Count: m}}
}

func TestRho(t *testing.T) {
	filter := GDPFilter{Mu: .2}
	for _, e := range []Event{Gaussian{NoiseMultiplier: 5},
		Laplace{Epsilon: .2}, Exponential{Epsilon: .4},
		Approx{Epsilon: .2}, filter} {
		got := Rho(charges(e, 3, e, 1))
		if want := 4 * .02; math.Abs(got-want) > 1e-12*want {
			t.Errorf("%+v: %v, want %v", e, got, want)
		}
		// A filter counts as one Gaussian beside others too.
		beside, one := Rho(charges(filter, 1, e, 3)),
			Rho(charges(Gaussian{NoiseMultiplier: 5}, 1, e, 3))
		if math.Abs(beside-one) > 1e-12*one {
			t.Errorf("a filter beside %+v: %v, want %v", e, beside, one)
		}
	}
	one := Gaussian{NoiseMultiplier: 1}
	for _, e := range []Event{
		SubsampledGaussian{Rate: .1, NoiseMultiplier: 1},
		SubsampledGaussian{Rate: 1, NoiseMultiplier: 1},
		Approx{Epsilon: 1, Delta: 1e-9},
	} {
		if rho := Rho(charges(one, 1, e, 1)); !math.IsInf(rho, 1) {
			t.Errorf("%v: %v", e, rho)
		}
	}
}
