package accountant

import (
	"math"
	"testing"
)

func TestZCDPEpsilon(t *testing.T) {
	for _, rho := range []float64{1e-8, 1e-4, .01, .5, 20} {
		for _, delta := range []float64{1e-3, 1e-5, 1e-9, 1e-12} {
			got := ZCDPEpsilon(rho, delta)
			// A fine scan over α of the conversion, written out again.
			best := math.Inf(1)
			for u := -8.0; u < 14; u += .0005 {
				a := 1 + math.Exp(u)
				best = math.Min(best, rho*a+(math.Log(1/delta)+(a-1)*math.Log(1-1/a)-math.Log(a))/(a-1))
			}
			best = math.Max(0, best)
			if got > best*(1+1e-9)+1e-15 || got < best*(1-1e-5) {
				t.Errorf("ZCDPEpsilon(%v, %v) = %v, want %v", rho, delta, got, best)
			}
			// Between the exact curve of the Gaussian mechanism, which is ρ-zCDP, and the bound of Bun &
			// Steinke 2016.
			if exact := GDPEpsilon(math.Sqrt(2*rho), delta); got < exact {
				t.Errorf("ZCDPEpsilon(%v, %v) = %v, below the Gaussian's %v", rho, delta, got, exact)
			}
			if classic := rho + 2*math.Sqrt(rho*math.Log(1/delta)); got >= classic {
				t.Errorf("ZCDPEpsilon(%v, %v) = %v, above the classical %v", rho, delta, got, classic)
			}
		}
	}
	inf := math.Inf(1)
	for _, row := range []struct{ rho, delta, want float64 }{{0, 0, 0}, {1, 0, inf}, {1, 1, 0},
		{inf, .1, inf}} {
		if got := ZCDPEpsilon(row.rho, row.delta); got != row.want {
			t.Errorf("ZCDPEpsilon(%v, %v) = %v, want %v", row.rho, row.delta, got, row.want)
		}
	}
	if !math.IsNaN(ZCDPEpsilon(-1, .1)) || !math.IsNaN(ZCDPEpsilon(1, math.NaN())) {
		t.Error("want NaN")
	}
}

func TestRho(t *testing.T) {
	for _, row := range []struct {
		name string
		e    Event
		want float64
	}{
		{"gaussian", Gaussian{5}, .02}, {"laplace", Laplace{.2}, .02},
		{"exponential", Exponential{.4}, .02}, {"pure approx", Approx{.2, 0}, .02},
		{"filter", GDPFilter{.2}, .02},
	} {
		got := Composition{{row.e, 3}, {row.e, 1}}.Rho()
		if !near(got, 4*row.want, 1e-12) {
			t.Errorf("%s: %v, want %v", row.name, got, 4*row.want)
		}
	}
	for _, e := range []Event{SubsampledGaussian{.1, 1}, SubsampledGaussian{1, 1}, Approx{1, 1e-9}} {
		if rho := (Composition{{Gaussian{1}, 1}, {e, 1}}).Rho(); !math.IsInf(rho, 1) {
			t.Errorf("%v: %v", e, rho)
		}
	}
}
