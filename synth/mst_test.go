package synth

import (
	"errors"
	"math"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"

	"github.com/decoy-dp/decoy/synth/synthtest"
)

// TestPlanIsWithinTheBudget: the composition meets the budget and nothing is left on the table;
// composing in zCDP, as the paper does, would need more noise.
func TestPlanIsWithinTheBudget(t *testing.T) {
	f := checked(&MST{})
	s := synthtest.Schema(15)
	for _, b := range []accountant.Budget{{Epsilon: .1, Delta: 1e-9}, {Epsilon: 1, Delta: 1e-9},
		{Epsilon: 10, Delta: 1e-9}} {
		p := synthtest.Must(NewPlan(f, s, privacy.NeighboursOf(s, 0), b))
		cost := synthtest.Must(p.Reserve.Epsilon(b.Delta, accountant.AddRemove))
		if cost.Epsilon > b.Epsilon || cost.Epsilon < .98*b.Epsilon {
			t.Errorf("epsilon %v: the plan costs %v", b.Epsilon, cost.Epsilon)
		}
		if rho := accountant.RhoEpsilon(accountant.Rho(p.Reserve), b.Delta); rho <= b.Epsilon {
			t.Errorf("epsilon %v: zCDP says %v: exact composition gained nothing", b.Epsilon, rho)
		}
	}
}

func TestPureBudgetIsRefused(t *testing.T) {
	f := checked(&MST{})
	s := synthtest.Schema(3)
	if _, err := NewPlan(f, s, privacy.NeighboursOf(s, 0),
		accountant.Budget{Epsilon: 1}); !errors.Is(err, accountant.ErrBudgetRange) {
		t.Errorf("delta 0: %v", err)
	}
}

// TestUnitNoise: a unit of k rows needs k times the noise of a row.
func TestMSTUnitNoise(t *testing.T) {
	f := checked(&MST{})
	s, b := synthtest.Schema(5), accountant.Budget{Epsilon: 1, Delta: 1e-9}
	sigma := func(nb privacy.Neighbours) float64 {
		p := synthtest.Must(NewPlan(f, s, nb, b))
		return p.Forecast(0).Noise[0].Sigma
	}
	row := sigma(privacy.Neighbours{Adjacency: accountant.AddRemove, MaxRowsPerUnit: 1})
	if got := sigma(privacy.Neighbours{Adjacency: accountant.AddRemove,
		MaxRowsPerUnit: 5}) / row; math.Abs(got-5) > 1e-6 {
		t.Errorf("five rows a unit: %v times the noise", got)
	}
	if got := sigma(privacy.Neighbours{Adjacency: accountant.ReplaceOne,
		MaxRowsPerUnit: 1}) / row; math.Abs(got-math.Sqrt2) > 1e-6 {
		t.Errorf("replace-one: %v times the noise", got)
	}
}
