package gradient

import (
	"testing"

	"github.com/decoy-dp/decoy/bounds/modes"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
	"github.com/decoy-dp/decoy/privacy/internal/mechtest"
)

func TestSmallTables(t *testing.T) {
	mechtest.RunSmall(t, []mechtest.SmallRow{
		{Mechanism: "CertifiedSum", Of: func(s *mechtest.Small) mechtest.Value {
			critic, p := newToyCritic([]int{2, 2}, 2), CertifiedPlan{Mode: modes.Box, Rate: 1,
				NoiseMultiplier: 1}
			got, err := CertifiedSum(
				openAs(s.T, s.Table, s.NB.Adjacency, access.Once(CertifiedEvent(p))), p, critic,
			)
			if err != nil {
				s.T.Fatal(err)
			}
			return mechtest.InUnits(encoded(got.Certificate, critic, s.Table), got.Certificate)
		}, Claim: func(privacy.Neighbours) float64 { return 1 }, Norm: gatetest.L2,
			Most: func(privacy.Neighbours) float64 { return .3 }},
	}, "CertifiedSum")
}
