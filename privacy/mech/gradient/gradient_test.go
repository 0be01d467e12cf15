package gradient

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
	"github.com/decoy-dp/decoy/privacy/internal/mechtest"
)

var unclipped = []bounds.Mode{bounds.Residual, bounds.Box(), bounds.Thesis()}

// TestCertifiedSumNoise. Null: (released − encoded sum)/(z·c_k/grid) is standard normal, up to the
// rounding of the grid; 60 releases of every coordinate, false-alarm rate 1e-6 a mode. A noise
// multiplier 30 % off must be rejected.
func TestCertifiedSumNoise(t *testing.T) {
	const n, z = 60, 1.5
	tab, c := someTable(t, 500), newCritic(6, 2, 3, 4)
	for _, mode := range unclipped {
		p := Plan{Mode: mode, Rate: 1, NoiseMultiplier: z}
		s := mechtest.On(t, tab, 0, calls(p, n))
		var draws []float64
		for range n {
			got := stattest.Must(CertifiedSum(s, p, c.Network()))
			truth := mechtest.Encoded(got.Certificate, c, tab)
			for k, c := range got.Certificate.Scales() {
				draws = append(draws, float64(got.Released[k]-truth[k])*got.Certificate.Grid()/(z*c))
			}
		}
		standard(t, fmt.Sprint(mode), draws)
	}
}

// TestCertifiedSumSensitivity: encoded sums of neighbouring tables are at most 1 apart in the norm
// of the scales, under every relation; with halved scales the same pairs break the bound in mode
// residual, so the test can fail.
func TestCertifiedSumSensitivity(t *testing.T) {
	u := rand.New(rand.NewPCG(7, 8))
	sch, c := gatetest.Schema("", 0), newCritic(6, 2, 3, 4)
	for _, nb := range mechtest.Relations {
		for _, mode := range unclipped {
			cert := stattest.Must(bounds.Certify(c.Network(), mechtest.Blocks(c),
				bounds.Config{Mode: mode, Adjacency: nb.Adjacency, UnitRows: nb.MaxRowsPerUnit}))
			worst := mechtest.Farthest(cert, 500, func() (a, b []int64) {
				ra, rb := mechtest.PairOf(u, nb)
				return mechtest.Encoded(cert, c, gatetest.Table(t, sch, ra, nil)),
					mechtest.Encoded(cert, c, gatetest.Table(t, sch, rb, nil))
			})
			if worst > 1 || mode == bounds.Residual && worst <= .5 {
				t.Errorf("%v, %v: neighbours are %v apart, certified 1", nb, mode, worst)
			}
		}
	}
}

func TestCertifiedSumRefuses(t *testing.T) {
	good := Plan{Rate: 1, NoiseMultiplier: 2}
	s := mechtest.On(t, someTable(t, 20), 0, calls(good, 1))
	refuses(t, func(p Plan, c *critic.Critic) error {
		_, err := CertifiedSum(s, p, c.Network())
		return err
	}, good, map[string]Plan{
		"rate 0":      {NoiseMultiplier: 2},
		"rate over 1": {Rate: 1.1, NoiseMultiplier: 2},
		"rate NaN":    {Rate: math.NaN(), NoiseMultiplier: 2},
		"no noise":    {Rate: 1},
		"ball":        {Mode: bounds.Ball(1), Rate: 1, NoiseMultiplier: 2},
		"less noise":  {Rate: 1, NoiseMultiplier: 1},
		"other rate":  {Rate: .5, NoiseMultiplier: 2},
	})
}

// TestCertifiedSumKnowsItsRelation: the certificate is for the session's own adjacency and rows a
// unit.
func TestCertifiedSumKnowsItsRelation(t *testing.T) {
	tab := gatetest.Table(t, gatetest.Schema("u", 3), gatetest.SomeRows(20), make([]uint32, 20))
	p := Plan{Rate: 1, NoiseMultiplier: 2}
	c := newCritic(4, 2, 3, 4)
	for _, adj := range []accountant.Adjacency{accountant.AddRemove, accountant.ReplaceOne} {
		s := mechtest.On(t, tab, adj, calls(p, 2))
		for _, mode := range []bounds.Mode{bounds.Residual, bounds.Ball(1)} {
			p.Mode = mode
			got := stattest.Must(ClippedSum(s, p, PenaltyPlan{}, c.Network()))
			want, err := bounds.Certify(c.Network(), mechtest.Blocks(c),
				bounds.Config{Mode: mode, Adjacency: adj, UnitRows: 3})
			if err != nil || got.Certificate.TotalStd() != want.TotalStd() {
				t.Errorf("%v, mode %v: certified for another relation, %v", adj, mode, err)
			}
		}
	}
}

func TestSmallTables(t *testing.T) {
	one := func(privacy.Neighbours) float64 { return 1 }
	row := func(mechanism, with string, of func(s *mechtest.Small) mechtest.Value) mechtest.SmallRow {
		return mechtest.SmallRow{Mechanism: mechanism, With: with, Of: of, Claim: one,
			Norm: gatetest.L2, Most: func(privacy.Neighbours) float64 { return .25 }}
	}
	clipped := func(s *mechtest.Small, beside PenaltyPlan) (Pair, *critic.Critic) {
		c, p := newCritic(2, 2, 2), Plan{Mode: bounds.Ball(.1), Rate: 1, NoiseMultiplier: 1}
		got := stattest.Must(ClippedSum(mechtest.On(s.T, s.Table, s.NB.Adjacency, calls(p, 1)), p, beside,
			c.Network()))
		return got, c
	}
	mechtest.RunSmall(t, []mechtest.SmallRow{
		row("CertifiedSum", "", func(s *mechtest.Small) mechtest.Value {
			c, p := newCritic(2, 2, 2), Plan{Mode: bounds.Box(), Rate: 1, NoiseMultiplier: 1}
			got := stattest.Must(
				CertifiedSum(mechtest.On(s.T, s.Table, s.NB.Adjacency, calls(p, 1)), p, c.Network()))
			return mechtest.InUnits(mechtest.Encoded(got.Certificate, c, s.Table), got.Certificate)
		}),
		row("ClippedSum", "", func(s *mechtest.Small) mechtest.Value {
			got, c := clipped(s, PenaltyPlan{})
			return mechtest.InUnits(clippedOf(got.Certificate, c, s.Table), got.Certificate)
		}),
		row("ClippedSum", "with a penalty", func(s *mechtest.Small) mechtest.Value {
			got, c := clipped(s, PenaltyPlan{Share: .5, Reach: .1, Generated: generated(4)})
			return mechtest.InUnits(penaltyOf(got.Penalty, c, s.Table, 1), got.Penalty)
		}),
	}, "CertifiedSum", "ClippedSum")
}
