package pld

import (
	"errors"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
)

// TestLeaksAreNotFree: as the test of package accountant, for the bounds of this one.
func TestLeaksAreNotFree(t *testing.T) {
	for _, event := range []accountant.Event{
		accountant.Gaussian{NoiseMultiplier: 1e-3}, accountant.Laplace{Epsilon: 50},
		accountant.SubsampledGaussian{Rate: .1, NoiseMultiplier: 1e-2},
	} {
		for _, leak := range []accountant.Charge{
			{Event: accountant.Approx{Delta: .9}, Count: 2},
			{Event: accountant.Approx{Delta: .499}, Count: 3},
			{Event: accountant.Approx{Delta: .9}, Count: 1 << 40}, // tells all, to float64's last digit
		} {
			c := accountant.Composition{leak, {Event: event, Count: 2}}
			if b, err := Epsilon(c, 1e-9, accountant.AddRemove); !errors.Is(err, accountant.ErrUnbounded) {
				t.Errorf("%v: %v, %v", c, b, err)
			}
		}
	}
}

// TestRenyiReachesThePeak: with a rate near 1, replace-one, the integrand is largest beyond αμ; the
// divergence is then nearly that without subsampling, α(2μ)²/2.
func TestRenyiReachesThePeak(t *testing.T) {
	e := accountant.SubsampledGaussian{Rate: .9999, NoiseMultiplier: 20}
	for _, alpha := range []float64{50, 400, 1000} {
		all := alpha * .1 * .1 / 2
		if got := eventRDP(e, alpha, accountant.ReplaceOne); got < .99*all || got > all {
			t.Errorf("order %v: %v, without subsampling %v", alpha, got, all)
		}
	}
}
