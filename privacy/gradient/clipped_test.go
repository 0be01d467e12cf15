package gradient

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/bounds/clip"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/table"
)

// AddClippedSumTo makes toyCritic a ClippingCritic.
func (c *toyCritic) AddClippedSumTo(
	gradient []int64, factor float64, weight func(x, delta [][]float64) int64, columns []table.Codes,
	rows []int,
) int64 {
	c.calls++
	if rows == nil {
		for i := range columns[0].Len() {
			rows = append(rows, i)
		}
	}
	h, sum := c.hidden, int64(0)
	inputs := len(c.net.Layers[0].Weights) / h
	for _, i := range rows {
		g := make([]int64, len(gradient))
		c.add(g, nil, factor, columns, i)
		x, delta := make([]float64, h), make([]float64, h)
		for j := range h {
			delta[j] = float64(g[inputs*h+j]) * factor * factor
			x[j] = float64(g[inputs*h+h+j]) * factor * factor
		}
		w := weight([][]float64{nil, x}, [][]float64{delta, {1}})
		for k, v := range g {
			gradient[k] += w * v
		}
		sum += w
	}
	return sum
}

// clippedSum is the encoded sum of clipped rows of a table, without noise.
func clippedSum(c *bounds.Certificate, critic *toyCritic, tab *table.Table) []int64 {
	cols := columnsOf(tab)
	sum := bounds.Sum{Gradient: make([]int64, c.Parameters())}
	sum.Rows = critic.AddClippedSumTo(sum.Gradient, c.Factor(), clip.New(c).Weight, cols, nil)
	out := make([]int64, c.Coordinates())
	c.EncodeTo(out, sum)
	return out
}

func clippedPlan(radius, rate, z float64, n int) (ClippedPlan, accountant.Composition) {
	p := ClippedPlan{Radius: radius, Rate: rate, NoiseMultiplier: z}
	return p, accountant.Composition{{Event: ClippedEvent(p), Count: n}}
}

// TestClippedSumNoise. Null: (released − encoded sum)/(z·c_k/grid) is standard normal, up to the
// rounding of the grid; 60 releases of every coordinate, false-alarm rate 1e-6 a radius. A noise
// multiplier 30 % off must be rejected.
func TestClippedSumNoise(t *testing.T) {
	const n, z = 60, 1.5
	tab := testTable(t, testSchema("", 0), someRows(300), nil)
	critic := newToyCritic(tab.Schema().Sizes(), 6)
	for _, radius := range []float64{.5, 20} {
		p, composition := clippedPlan(radius, 1, z, n)
		s := open(t, tab, composition)
		var draws []float64
		for range n {
			got, err := ClippedSum(s, p, critic)
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
	critic := newToyCritic(sch.Sizes(), 6)
	in, err := bounds.OneHot(sch.Sizes())
	if err != nil {
		t.Fatal(err)
	}
	for _, nb := range relations {
		cert, err := bounds.Certify(
			critic.Network(),
			in,
			bounds.Config{
				Mode:      bounds.Ball,
				Radius:    .3,
				Adjacency: nb.Adjacency,
				UnitRows:  nb.MaxRowsPerUnit,
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		scales, worst := cert.Scales(), 0.
		for range 800 {
			ra, rb := pairOf(u, nb)
			a, b := clippedSum(cert, critic, testTable(t, sch, ra, nil)),
				clippedSum(cert, critic, testTable(t, sch, rb, nil))
			norm := 0.
			for k := range a {
				d := float64(a[k]-b[k]) * cert.Grid() / scales[k]
				norm += d * d
			}
			worst = max(worst, math.Sqrt(norm))
		}
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
	critic := newToyCritic(tab.Schema().Sizes(), 4)
	good := ClippedPlan{Radius: 1, Rate: 1, NoiseMultiplier: 2}
	for _, adj := range []accountant.Adjacency{accountant.AddRemove, accountant.ReplaceOne} {
		s, err := privacy.Open(
			context.Background(),
			privacy.FromTable(tab),
			privacy.Options{
				Budget:    wide,
				Plan:      accountant.Composition{{Event: ClippedEvent(good), Count: 1}},
				Adjacency: adj,
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		before := critic.calls
		for name, change := range map[string]func(*ClippedPlan){
			"rate 0":      func(p *ClippedPlan) { p.Rate = 0 },
			"rate NaN":    func(p *ClippedPlan) { p.Rate = math.NaN() },
			"rate over 1": func(p *ClippedPlan) { p.Rate = 1.1 },
			"other rate":  func(p *ClippedPlan) { p.Rate = .5 },
			"no radius":   func(p *ClippedPlan) { p.Radius = 0 },
			"radius NaN":  func(p *ClippedPlan) { p.Radius = math.NaN() },
			"no noise":    func(p *ClippedPlan) { p.NoiseMultiplier = 0 },
			"less noise":  func(p *ClippedPlan) { p.NoiseMultiplier = 1 },
		} {
			p := good
			change(&p)
			if _, err := ClippedSum(s, p, critic); err == nil || critic.calls > before {
				t.Errorf("%s: error %v, the critic saw rows", name, err)
			}
		}
		if _, err := ClippedSum(s, good, newToyCritic([]int{2, 2}, 4)); err == nil {
			t.Error("a critic of other columns")
		}
		got, err := ClippedSum(s, good, critic)
		if err != nil || critic.calls != before+1 {
			t.Fatal(err)
		}
		if c := got.Certificate; c.UnitRows() != 3 || c.Adjacency() != adj {
			t.Errorf("%v: certified for %v and %d rows a unit", adj, c.Adjacency(), c.UnitRows())
		}
		if _, err := ClippedSum(s, good, critic); err == nil || critic.calls != before+1 {
			t.Errorf("a second release was granted: %v", err)
		}
	}
}
