package synth

import (
	"math"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"

	"github.com/decoy-dp/decoy/synth/synthtest"
)

// TestSized: units and releases grow with budget and rows, by small steps; what a setting says
// stays; and whatever the rows turn out to be, what is left of the filter pays for the releases,
// which use it up.
func TestSized(t *testing.T) {
	s := synthtest.Schema(6)
	budget := accountant.Budget{Epsilon: 2, Delta: 1e-6}
	for _, adjacency := range []accountant.Adjacency{accountant.AddRemove, accountant.ReplaceOne} {
		f := checked(&WGAN{})
		planned := stattest.Must(NewPlan(f, s,
			privacy.Neighbours{Adjacency: adjacency, MaxRowsPerUnit: 3}, budget))
		last := WGAN{Steps: 4, Hidden: []int{16}}
		for rows := 1.; rows < 1e8; rows *= 1.2 {
			p := planned.Plan.(*wganPlan).sized(rows)
			if c := p.cfg; c.Steps < last.Steps || c.Hidden[0] < last.Hidden[0] ||
				c.Steps > last.Steps+8 || c.Hidden[0] > last.Hidden[0]+32 {
				t.Errorf("%.0f rows: %d steps of %v, from %d of %v", rows, c.Steps, c.Hidden,
					last.Steps, last.Hidden)
			}
			last = p.cfg
			r := accountant.NewReservation(planned.Reserve)
			take := func(e accountant.Event) {
				if err := r.Take(accountant.Charge{Event: e, Count: 1}); err != nil {
					t.Fatalf("%v, %.0f rows: %v", adjacency, rows, err)
				}
			}
			take(accountant.Gaussian{NoiseMultiplier: 1 / (p.mu * math.Sqrt(p.cfg.MarginalShare)) *
				(1 + 1e-9)})
			before := r.Left().Mu2
			for range p.cfg.Steps {
				take(p.sumEvent())
			}
			if left := r.Left().Mu2 / before; left > 1e-6 {
				t.Errorf("%v, %.0f rows: %v of the filter is left", adjacency, rows, left)
			}
		}
		if last.Steps != 64 || last.Hidden[0] != 256 {
			t.Errorf("at most %d steps of %v", last.Steps, last.Hidden)
		}
	}
	f := checked(&WGAN{Steps: 5, Hidden: []int{9, 3}})
	p := synthtest.Must(NewPlan(f, s, privacy.NeighboursOf(s, 0), budget))
	if c := p.Plan.(*wganPlan).sized(1e6).cfg; c.Steps != 5 || len(c.Hidden) != 2 {
		t.Errorf("%d steps of %v, want 5 of [9 3]", c.Steps, c.Hidden)
	}
}

// TestTargetIsLearned: a small table at a moderate budget; what depends on the target still does.
func TestTargetIsLearned(t *testing.T) {
	tab := synthtest.Table(t, synthtest.Schema(4), 2000)
	f := checked(&WGAN{Target: "column 1", DistilSteps: 500, PostSteps: 50})
	m := Fit(t, f, tab, accountant.Budget{Epsilon: 3, Delta: 1e-6})
	syn := Sample(t, m, 4000, 1)
	distance := 0.
	a, b := make([]int64, 6), make([]int64, 6)
	tab.CountTo(a, []int{0, 1})
	syn.CountTo(b, []int{0, 1})
	for i := range a {
		distance += math.Abs(float64(a[i])/2000-float64(b[i])/4000) / 2
	}
	if distance > .08 {
		t.Errorf("the joint table of a column and the target is %.3f off", distance)
	}
}
