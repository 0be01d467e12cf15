package synth

import (
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

// TestPlanIsWithinTheBudget: the composition meets the budget and nothing is left on the table;
// composing in zCDP, as the paper does, would need more noise.
func TestPlanIsWithinTheBudget(t *testing.T) {
	f := checked(&MST{})
	s := synthtest.Schema(15)
	for _, b := range []accountant.Budget{{Epsilon: .1, Delta: 1e-9}, {Epsilon: 1, Delta: 1e-9},
		{Epsilon: 10, Delta: 1e-9}} {
		p := stattest.Must(NewPlan(f, schema.One(s), privacy.NeighboursOf(s, 0), b))
		cost := stattest.Must(p.Reserve.Epsilon(b.Delta, accountant.AddRemove))
		if cost.Epsilon > b.Epsilon || cost.Epsilon < .98*b.Epsilon {
			t.Errorf("epsilon %v: the plan costs %v", b.Epsilon, cost.Epsilon)
		}
		if rho := accountant.RhoEpsilon(accountant.Rho(p.Reserve), b.Delta); rho <= b.Epsilon {
			t.Errorf("epsilon %v: zCDP says %v: exact composition gained nothing", b.Epsilon, rho)
		}
	}
}
