package synth

import (
	"math"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/mech/gradient"

	"github.com/decoy-dp/decoy/synth/synthtest"
)

// TestReleasesUseTheFilter: what is left of the filter pays for the releases, which use it up.
func TestReleasesUseTheFilter(t *testing.T) {
	s := synthtest.Schema(6)
	budget := accountant.Budget{Epsilon: 2, Delta: 1e-6}
	for _, adjacency := range []accountant.Adjacency{accountant.AddRemove, accountant.ReplaceOne} {
		planned := stattest.Must(NewPlan(checked(&WGAN{}), schema.One(s),
			privacy.Neighbours{Adjacency: adjacency, MaxRowsPerUnit: 3}, budget))
		p, r := planned.Plan.(*wganPlan), accountant.NewReservation(planned.Reserve)
		take := func(e accountant.Event) {
			if err := r.Take(accountant.Charge{Event: e, Count: 1}); err != nil {
				t.Fatalf("%v: %v", adjacency, err)
			}
		}
		take(accountant.Gaussian{NoiseMultiplier: 1 / (p.mu * math.Sqrt(p.cfg.MarginalShare)) *
			(1 + 1e-9)})
		before := r.Left().Mu2
		for range p.cfg.Steps {
			take(gradient.Event(p.sum()))
		}
		if left := r.Left().Mu2 / before; left > 1e-6 {
			t.Errorf("%v: %v of the filter is left", adjacency, left)
		}
	}
}

// TestTargetIsLearned: a small table at a moderate budget; what depends on the target still does.
func TestTargetIsLearned(t *testing.T) {
	tab := synthtest.Table(t, synthtest.Schema(4), 2000)
	f := checked(&WGAN{Target: "column 1", DistilSteps: 500, PostSteps: 50})
	m := Fit(t, f, tab, accountant.Budget{Epsilon: 3, Delta: 1e-6})
	syn := Sample(t, m, 4000, 1)
	distance, a, b := 0., tab.Counts(0, 1), syn.Counts(0, 1)
	for i := range a {
		distance += math.Abs(float64(a[i])/2000-float64(b[i])/4000) / 2
	}
	if distance > .08 {
		t.Errorf("the joint table of a column and the target is %.3f off", distance)
	}
}
