package clipped

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/bounds/clip"
	"github.com/decoy-dp/decoy/bounds/modes"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/gradient"
	"github.com/decoy-dp/decoy/privacy/internal/mechtest"
	"github.com/decoy-dp/decoy/table"
)

// clippedSum is the encoded sum of clipped rows of a table, without noise.
func clippedSum(c *bounds.Certificate, critic *penalised, tab *table.Table) []int64 {
	cols := columnsOf(tab)
	sum := bounds.Sum{Gradient: make([]int64, c.Parameters())}
	sum.Rows = critic.AddClippedSumTo(sum.Gradient, c.Factor(), clip.New(c).Weight, cols, nil)
	out := make([]int64, c.Coordinates())
	c.EncodeTo(out, sum)
	return out
}

func clippedPlan(radius, rate, z float64, n int) (Plan, accountant.Composition) {
	p := Plan{}
	p.Mode, p.Rate, p.NoiseMultiplier = modes.Ball(radius), rate, z
	return p, accountant.Composition{{Event: gradient.CertifiedEvent(p.CertifiedPlan), Count: n}}
}

// TestClippedSumNoise. Null: (released − encoded sum)/(z·c_k/grid) is standard normal, up to the
// rounding of the grid; 60 releases of every coordinate, false-alarm rate 1e-6 a radius. A noise
// multiplier 30 % off must be rejected.
func TestClippedSumNoise(t *testing.T) {
	const n, z = 60, 1.5
	tab := testTable(t, testSchema("", 0), someRows(300), nil)
	critic := newCritic(tab.Schema().Sizes(), 6)
	for _, radius := range []float64{.5, 20} {
		p, composition := clippedPlan(radius, 1, z, n)
		s := open(t, tab, composition)
		var draws []float64
		for range n {
			got, err := Sum(s, p, critic)
			if err != nil {
				t.Fatal(err)
			}
			truth := clippedSum(got.Certificate, critic, tab)
			for k, c := range got.Certificate.Scales() {
				draws = append(draws, float64(got.Released[k]-truth[k])*got.Certificate.Grid()/(z*c))
			}
		}
		for scale, want := range map[float64]bool{1: true, .7: false, 1.3: false} {
			normal := func(x float64) float64 { return math.Erfc(-x/(scale*math.Sqrt2)) / 2 }
			if stat, limit, ok := stattest.KolmogorovSmirnov(draws, normal); ok != want {
				t.Errorf(
					"radius %v, %v times the noise: distance %v of %v, accepted = %v", radius, scale, stat, limit,
					ok,
				)
			}
		}
	}
}

// TestClippedSumSensitivity: encoded sums of clipped rows of neighbouring tables are at most 1
// apart in the norm of the scales, under every relation. Rows do stick out: the same pairs are more
// than .9 apart, so that neither halved scales nor a weight too large would go unnoticed.
func TestClippedSumSensitivity(t *testing.T) {
	u := rand.New(rand.NewPCG(9, 8))
	sch := testSchema("", 0)
	critic := newCritic(sch.Sizes(), 6)
	in, err := gradient.CertifiedPlan{}.Domain(sch)
	if err != nil {
		t.Fatal(err)
	}
	for _, nb := range relations {
		cert, err := bounds.Certify(
			critic.Network(),
			in,
			bounds.Config{
				Mode:      modes.Ball(.3),
				Adjacency: nb.Adjacency,
				UnitRows:  nb.MaxRowsPerUnit,
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		worst := mechtest.Farthest(cert, 800, func() (a, b []int64) {
			ra, rb := pairOf(u, nb)
			return clippedSum(cert, critic, testTable(t, sch, ra, nil)),
				clippedSum(cert, critic, testTable(t, sch, rb, nil))
		})
		if worst > 1 {
			t.Errorf("%v: neighbours are %v apart, certified 1", nb, worst)
		}
		if worst <= .5 {
			t.Errorf("%v: neighbours are at most %v apart: halved scales would go unnoticed", nb, worst)
		}
	}
}

func TestClippedSumRefuses(t *testing.T) {
	tab := testTable(t, testSchema("u", 3), someRows(20), make([]uint32, 20))
	critic := newCritic(tab.Schema().Sizes(), 4)
	good, composition := clippedPlan(1, 1, 2, 1)
	for _, adj := range []accountant.Adjacency{accountant.AddRemove, accountant.ReplaceOne} {
		s, err := privacy.Open(
			context.Background(),
			privacy.FromTable(tab),
			privacy.Options{
				Budget:    wide,
				Plan:      composition,
				Adjacency: adj,
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		before := critic.Calls
		for name, change := range map[string]func(*Plan){
			"rate 0":      func(p *Plan) { p.Rate = 0 },
			"rate NaN":    func(p *Plan) { p.Rate = math.NaN() },
			"rate over 1": func(p *Plan) { p.Rate = 1.1 },
			"other rate":  func(p *Plan) { p.Rate = .5 },
			"no radius":   func(p *Plan) { p.Mode = modes.Ball(0) },
			"radius NaN":  func(p *Plan) { p.Mode = modes.Ball(math.NaN()) },
			"no noise":    func(p *Plan) { p.NoiseMultiplier = 0 },
			"less noise":  func(p *Plan) { p.NoiseMultiplier = 1 },
			"scaled":      func(p *Plan) { p.Scaled = []bool{false, false, true} },
		} {
			p := good
			change(&p)
			if _, err := Sum(s, p, critic); err == nil || critic.Calls > before {
				t.Errorf("%s: error %v, the critic saw rows", name, err)
			}
		}
		if _, err := Sum(s, good, newCritic([]int{2, 2}, 4)); err == nil {
			t.Error("a critic of other columns")
		}
		got, err := Sum(s, good, critic)
		if err != nil || critic.Calls != before+1 {
			t.Fatal(err)
		}
		if c := got.Certificate; c.UnitRows() != 3 || c.Adjacency() != adj {
			t.Errorf("%v: certified for %v and %d rows a unit", adj, c.Adjacency(), c.UnitRows())
		}
		if _, err := Sum(s, good, critic); err == nil || critic.Calls != before+1 {
			t.Errorf("a second release was granted: %v", err)
		}
	}
}
