package pld

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
)

// randomEvent draws an event whose PLD is quick.
func randomEvent(u *rand.Rand) accountant.Event {
	switch u.IntN(5) {
	case 0:
		return gaussian(2 + 10*u.Float64())
	case 1:
		return subsampled(.05+.9*u.Float64(), 3+3*u.Float64())
	case 2:
		return laplace(.02 + .3*u.Float64())
	case 3:
		return exponential(.02 + .5*u.Float64())
	}
	return approx(.1*u.Float64(), 1e-7*u.Float64())
}

func randomComposition(u *rand.Rand) accountant.Composition {
	var c accountant.Composition
	for range 1 + u.IntN(4) {
		c = append(c, times(randomEvent(u), 1+u.IntN(6)))
	}
	return c
}

// noisier returns the same plan with a fifth more noise in every event.
func noisier(c accountant.Composition) accountant.Composition {
	var out accountant.Composition
	for _, charge := range c {
		switch e := charge.Event.(type) {
		case accountant.Gaussian:
			charge.Event = gaussian(e.NoiseMultiplier * 1.2)
		case accountant.SubsampledGaussian:
			charge.Event = subsampled(e.Rate/1.2, e.NoiseMultiplier)
		case accountant.Laplace:
			charge.Event = laplace(e.Epsilon / 1.2)
		case accountant.Exponential:
			charge.Event = exponential(e.Epsilon / 1.2)
		case accountant.Approx:
			charge.Event = approx(e.Epsilon/1.2, e.Delta)
		}
		out = append(out, charge)
	}
	return out
}

// What must hold of any composition, whatever the true numbers are. A bound is compared with the
// proven lower end of another.
func TestCompositionProperties(t *testing.T) {
	t.Parallel()
	u := rand.New(rand.NewPCG(11, 12))
	for trial := range 24 {
		c := randomComposition(u)
		adj := []accountant.Adjacency{accountant.AddRemove, accountant.ReplaceOne}[trial%2]
		delta := math.Exp(-8 - 15*u.Float64())
		if leak(c) > delta/2 {
			delta = 2 * leak(c)
		}
		name := fmt.Sprintf("trial %d: %v at δ = %v, %v", trial, c, delta, adj)
		got := mustEpsilon(t, c, delta, adj)
		if !(got.Epsilon >= 0) || !(got.Slack >= 0) || got.Slack > got.Epsilon || got.Delta != delta {
			t.Errorf("%s: %+v", name, got)
		}
		low := got.Epsilon - got.Slack

		if got.Epsilon > 0 && got.Method == methodPLD && got.Slack > .05*got.Epsilon {
			t.Errorf("%s: slack %v of %v", name, got.Slack, got.Epsilon)
		}
		if rdp, _ := rdpEpsilon(pure(c), (delta-leak(c))/(1-leak(c)), adj); got.Epsilon > math.Max(0,
			rdp) {
			t.Errorf("%s: %v, RDP %v", name, got.Epsilon, rdp)
		}
		// The order of the charges and how they are grouped do not matter.
		var split accountant.Composition
		for _, charge := range c {
			for range charge.Count {
				split = append(split, times(charge.Event, 1))
			}
		}
		u.Shuffle(len(split), func(i, j int) { split[i], split[j] = split[j], split[i] })
		if other := mustEpsilon(t, split, delta, adj); !near(other.Epsilon, got.Epsilon, 1e-9) {
			t.Errorf("%s: shuffled %v, was %v", name, other.Epsilon, got.Epsilon)
		}
		// One event more costs more; more noise costs less; replace-one costs at least add-remove.
		more := append(append(accountant.Composition(nil), c...), times(laplace(.01), 1))
		if got := mustEpsilon(t, more, delta, adj); got.Epsilon < low {
			t.Errorf("%s: one event more costs %v, less than %v", name, got.Epsilon, low)
		}
		if got2 := mustEpsilon(t, noisier(c), delta, adj); got2.Epsilon-got2.Slack > got.Epsilon {
			t.Errorf("%s: more noise costs %v, not %v", name, got2.Epsilon, got.Epsilon)
		}
		if other := mustEpsilon(t, c, delta, accountant.AddRemove); adj == accountant.ReplaceOne &&
			other.Epsilon-other.Slack > got.Epsilon {
			t.Errorf("%s: add-remove costs %v, replace-one %v", name, other.Epsilon, got.Epsilon)
		}
		// δ(ε(δ)) is δ, up to the rounding of two tilts, and δ falls with ε.
		if got.Epsilon == 0 {
			continue
		}
		back := mustDelta(t, c, got.Epsilon, adj)
		if back.Delta > delta*(1+1e-3) {
			t.Errorf("%s: δ(ε(δ)) = %v", name, back.Delta)
		}
		if later := mustDelta(t, c, got.Epsilon*1.2, adj); later.Delta > back.Delta {
			t.Errorf("%s: δ grows with ε: %v, %v", name, back.Delta, later.Delta)
		}
		if back.Slack < 0 || back.Slack > back.Epsilon {
			t.Errorf("%s: %+v", name, back)
		}
	}
}
