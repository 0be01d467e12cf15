package gradient

import (
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
)

type (
	small    = gatetest.Small[privacy.Neighbours]
	smallRow gatetest.SmallRow[privacy.Neighbours]
	value    = gatetest.Value
)

// inUnits is an encoded sum in units of the ellipsoid: of radius 1, by the certificate.
func inUnits(sum []int64, cert interface {
	ScalesTo(dst []float64, multiplier float64)
	Grid() float64
}) value {
	out := make([]float64, len(sum))
	cert.ScalesTo(out, 1)
	for k, c := range out {
		out[k] = float64(sum[k]) * cert.Grid() / c
	}
	return value{out}
}

func smallRows() []smallRow {
	return []smallRow{
		{"CertifiedSum", "", func(s *small) value {
			critic, p := newToyCritic([]int{2, 2}, 2), CertifiedPlan{Mode: bounds.Box, Rate: 1,
				NoiseMultiplier: 1}
			got, err := CertifiedSum(
				openAs(s.T, s.Table, s.NB.Adjacency, access.Once(CertifiedEvent(p))), p, critic,
			)
			if err != nil {
				s.T.Fatal(err)
			}
			return inUnits(encoded(got.Certificate, critic, s.Table), got.Certificate)
		}, func(privacy.Neighbours) float64 { return 1 }, gatetest.L2,
			func(privacy.Neighbours) float64 { return .3 }},
		{"ClippedSum", "", func(s *small) value {
			critic, p := newToyCritic([]int{2, 2}, 2), ClippedPlan{Radius: .1, Rate: 1,
				NoiseMultiplier: 1}
			got, err := ClippedSum(
				openAs(s.T, s.Table, s.NB.Adjacency, access.Once(ClippedEvent(p))), p, critic,
			)
			if err != nil {
				s.T.Fatal(err)
			}
			return inUnits(clippedSum(got.Certificate, critic, s.Table), got.Certificate)
		}, func(privacy.Neighbours) float64 { return 1 }, gatetest.L2,
			func(privacy.Neighbours) float64 { return .3 }},
		{"ClippedSum", "with a penalty", func(s *small) value {
			critic := &penalised{toyCritic: newToyCritic([]int{2, 2}, 2), atRest: true}
			p := ClippedPlan{Radius: .1, Rate: 1, NoiseMultiplier: 1,
				Penalty: PenaltyPlan{Share: .5, Reach: .1}}
			got, err := ClippedSum(
				openAs(s.T, s.Table, s.NB.Adjacency, access.Once(ClippedEvent(p))), p, critic,
			)
			if err != nil {
				s.T.Fatal(err)
			}
			cert := got.Penalty.Certificate
			return inUnits(penaltySumOf(cert, critic, s.Table, 1), cert)
		}, func(privacy.Neighbours) float64 { return 1 }, gatetest.L2,
			func(privacy.Neighbours) float64 { return .3 }},
	}
}

func TestSmallTables(t *testing.T) {
	var rows []gatetest.SmallRow[privacy.Neighbours]
	for _, row := range smallRows() {
		rows = append(rows, gatetest.SmallRow[privacy.Neighbours](row))
	}
	gatetest.RunSmall(t, []string{"CertifiedSum", "ClippedSum"}, rows,
		func(adj accountant.Adjacency, k int) privacy.Neighbours {
			return privacy.Neighbours{Adjacency: adj, MaxRowsPerUnit: k}
		})
}
