package clipped

import (
	"testing"

	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
	"github.com/decoy-dp/decoy/privacy/internal/mechtest"
)

func TestSmallTables(t *testing.T) {
	mechtest.RunSmall(t, []mechtest.SmallRow{
		{Mechanism: "Sum", Of: func(s *mechtest.Small) mechtest.Value {
			critic := newCritic([]int{2, 2}, 2)
			p, composition := clippedPlan(.1, 1, 1, 1)
			got, err := Sum(openAs(s.T, s.Table, s.NB.Adjacency, composition), p, critic)
			if err != nil {
				s.T.Fatal(err)
			}
			return mechtest.InUnits(clippedSum(got.Certificate, critic, s.Table), got.Certificate)
		}, Claim: func(privacy.Neighbours) float64 { return 1 }, Norm: gatetest.L2,
			Most: func(privacy.Neighbours) float64 { return .3 }},
		{Mechanism: "Sum", With: "with a penalty", Of: func(s *mechtest.Small) mechtest.Value {
			critic := newCritic([]int{2, 2}, 2)
			critic.atRest = true
			p, composition := clippedPlan(.1, 1, 1, 1)
			p.Penalty = Penalty{Share: .5, Reach: .1}
			got, err := Sum(openAs(s.T, s.Table, s.NB.Adjacency, composition), p, critic)
			if err != nil {
				s.T.Fatal(err)
			}
			cert := got.Penalty
			return mechtest.InUnits(penaltySumOf(cert, critic, s.Table, 1), cert)
		}, Claim: func(privacy.Neighbours) float64 { return 1 }, Norm: gatetest.L2,
			Most: func(privacy.Neighbours) float64 { return .3 }},
	}, "Sum")
}
