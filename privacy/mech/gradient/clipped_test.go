package gradient

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
	"github.com/decoy-dp/decoy/privacy/internal/mechtest"
)

// clippedOf is the encoded sum of clipped rows of a table, without noise.
func clippedOf(c *bounds.Certificate, critic *critic.Critic, tab *table.Table) []int64 {
	sum := bounds.Sum{Gradient: make([]int64, c.Parameters())}
	sum.Rows = critic.AddClippedSumTo(sum.Gradient, c.Factor(), bounds.NewClipper(c).Weight,
		mechtest.ColumnsOf(tab), nil)
	out := make([]int64, c.Coordinates())
	c.EncodeTo(out, sum)
	return out
}

// generated is two rows of so many cells.
func generated(cells int) (out []float32) {
	u := rand.New(rand.NewPCG(3, 4))
	for range 2 * cells {
		out = append(out, float32(u.Float64()))
	}
	return out
}

// penaltyOf is the penalty's sum of a table without noise, with the words of a source that begins
// anew.
func penaltyOf(
	cert *bounds.PenaltyCertificate, c *critic.Critic, tab *table.Table, seed uint64,
) []int64 {
	out := make([]int64, cert.Coordinates())
	c.AddPenaltySumTo(out, cert.Factor(), generated(c.Encoder().Cells()),
		rand.New(rand.NewPCG(seed, 1)).Uint64, cert.Weight, mechtest.ColumnsOf(tab), nil)
	return out
}

// TestClippedSumNoise. Null: (released − encoded sum)/(z·c_k/grid) is standard normal, up to the
// rounding of the grid; 60 releases of every coordinate, false-alarm rate 1e-6 a radius. A noise
// multiplier 30 % off must be rejected.
func TestClippedSumNoise(t *testing.T) {
	const n, z = 60, 1.5
	tab, c := someTable(t, 300), newCritic(6, 2, 3, 4)
	for _, radius := range []float64{.5, 20} {
		p := Plan{Mode: bounds.Ball(radius), Rate: 1, NoiseMultiplier: z}
		s := mechtest.On(t, tab, 0, calls(p, n))
		var draws []float64
		for range n {
			got := stattest.Must(ClippedSum(s, p, PenaltyPlan{}, c.Network()))
			truth := clippedOf(got.Certificate, c, tab)
			for k, c := range got.Certificate.Scales() {
				draws = append(draws, float64(got.Released[k]-truth[k])*got.Certificate.Grid()/(z*c))
			}
		}
		standard(t, fmt.Sprint(radius), draws)
	}
}

// TestClippedSumSensitivity: encoded sums of clipped rows of neighbouring tables are at most 1
// apart in the norm of the scales, under every relation. Rows do stick out: the same pairs are more
// than half as far apart, so that neither halved scales nor a weight too large would go unnoticed.
func TestClippedSumSensitivity(t *testing.T) {
	u := rand.New(rand.NewPCG(9, 8))
	sch, c := gatetest.Schema("", 0), newCritic(6, 2, 3, 4)
	for _, nb := range mechtest.Relations {
		cert := stattest.Must(bounds.Certify(c.Network(), mechtest.Blocks(c), bounds.Config{
			Mode: bounds.Ball(.3), Adjacency: nb.Adjacency, UnitRows: nb.MaxRowsPerUnit}))
		worst := mechtest.Farthest(cert, 800, func() (a, b []int64) {
			ra, rb := mechtest.PairOf(u, nb)
			return clippedOf(cert, c, gatetest.Table(t, sch, ra, nil)),
				clippedOf(cert, c, gatetest.Table(t, sch, rb, nil))
		})
		if worst > 1 || worst <= .5 {
			t.Errorf("%v: neighbours are %v apart, certified 1", nb, worst)
		}
	}
}

func TestClippedSumRefuses(t *testing.T) {
	good := Plan{Mode: bounds.Ball(1), Rate: 1, NoiseMultiplier: 2}
	s := mechtest.On(t, someTable(t, 20), 0, calls(good, 1))
	refuses(t, func(p Plan, c *critic.Critic) error {
		_, err := ClippedSum(s, p, PenaltyPlan{}, c.Network())
		return err
	}, good, map[string]Plan{
		"rate 0":      {Mode: good.Mode, NoiseMultiplier: 2},
		"rate NaN":    {Mode: good.Mode, Rate: math.NaN(), NoiseMultiplier: 2},
		"rate over 1": {Mode: good.Mode, Rate: 1.1, NoiseMultiplier: 2},
		"other rate":  {Mode: good.Mode, Rate: .5, NoiseMultiplier: 2},
		"no radius":   {Mode: bounds.Ball(0), Rate: 1, NoiseMultiplier: 2},
		"radius NaN":  {Mode: bounds.Ball(math.NaN()), Rate: 1, NoiseMultiplier: 2},
		"no noise":    {Mode: good.Mode, Rate: 1},
		"less noise":  {Mode: good.Mode, Rate: 1, NoiseMultiplier: 1},
	})
}

// TestPenaltyMultipliers: noise of the two multipliers on two vectors costs what one of the event's
// multiplier does, no less and hardly more.
func TestPenaltyMultipliers(t *testing.T) {
	for _, share := range []float64{1e-3, .2, .5, .9} {
		for _, z := range []float64{.3, 1, 47.123, 1e4} {
			p := PenaltyPlan{Share: share, Reach: 1}
			a, b := p.GradientMultiplier(z), p.Multiplier(z)
			if cost := (1/(a*a) + 1/(b*b)) * z * z; cost > 1 || cost < 1-1e-13 {
				t.Errorf("share %v of %v: 1/z² times %v", share, z, cost)
			}
			if got := (1 / (b * b)) * z * z; math.Abs(got/share-1) > 1e-12 {
				t.Errorf("share %v of %v: the penalty takes %v", share, z, got)
			}
		}
	}
	if z := (PenaltyPlan{}).GradientMultiplier(1.5); z != 1.5 {
		t.Errorf("without a penalty the multiplier is %v", z)
	}
}

// steady is a critic of which no row decides a branch: its penalty is the same at all points.
func steady() *critic.Critic {
	c := newCritic(6, 2, 3, 4)
	bias := c.Network().Layers[0].Bias
	for j := range bias {
		bias[j] = 20 - 40*float32(j%2)
	}
	return c
}

// TestPenaltySumNoise, beside a certified and beside a clipped sum. Null: both releases less their
// sums, over their own multiplier times c_k/grid, are standard normal; 60 releases of every
// coordinate, false-alarm rate 1e-6 each. A multiplier 30 % off must be rejected.
func TestPenaltySumNoise(t *testing.T) {
	const n, z = 60, 1.5
	tab, c := someTable(t, 300), steady()
	beside := PenaltyPlan{Share: .3, Reach: .2, Generated: generated(9)}
	for _, mode := range []bounds.Mode{bounds.Residual, bounds.Ball(2)} {
		p := Plan{Mode: mode, Rate: 1, NoiseMultiplier: z}
		s := mechtest.On(t, tab, 0, calls(p, n))
		var gradients, penalties []float64
		for range n {
			got := stattest.Must(ClippedSum(s, p, beside, c.Network()))
			truth := mechtest.Encoded
			if mode.Clipped() {
				truth = clippedOf
			}
			cert, scales := got.Certificate, got.Certificate.Scales()
			for k, v := range truth(cert, c, tab) {
				gradients = append(gradients, float64(got.Released[k]-v)*cert.Grid()/
					(beside.GradientMultiplier(z)*scales[k]))
			}
			scales = make([]float64, got.Penalty.Coordinates())
			got.Penalty.ScalesTo(scales, beside.Multiplier(z))
			for k, v := range penaltyOf(got.Penalty, c, tab, 1) {
				penalties = append(penalties, float64(got.ReleasedPenalty[k]-v)*got.Penalty.Grid()/scales[k])
			}
		}
		standard(t, fmt.Sprint(mode, " gradient"), gradients)
		standard(t, fmt.Sprint(mode, " penalty"), penalties)
	}
}

// TestPenaltySumSensitivity: with the words that a row was given staying its own, the sums of the
// gradient and of the penalty of neighbouring tables, each over its multiplier's scales, are
// together at most 1/z apart, under every relation; and the penalties alone are more than half of
// what they may be, so that halved scales would be noticed.
func TestPenaltySumSensitivity(t *testing.T) {
	u := rand.New(rand.NewPCG(9, 9))
	sch, c := gatetest.Schema("", 0), newCritic(6, 2, 3, 4)
	plan := PenaltyPlan{Share: .4, Reach: .01, Generated: generated(9)}
	apart := func(a, b []int64, scales []float64, grid float64) (sum float64) {
		for k := range a {
			d := float64(a[k]-b[k]) * grid / scales[k]
			sum += d * d
		}
		return sum
	}
	for _, nb := range mechtest.Relations {
		cert := stattest.Must(bounds.Certify(c.Network(), mechtest.Blocks(c),
			bounds.Config{Adjacency: nb.Adjacency, UnitRows: nb.MaxRowsPerUnit}))
		sum, paid, err := plan.sum(nb, 1, c)
		stattest.Check(t, err)
		scales := make([]float64, cert.Coordinates())
		cert.ScalesTo(scales, plan.GradientMultiplier(1))
		worst, alone := 0., 0.
		for i := range uint64(800) {
			ra, rb := mechtest.PairOf(u, nb) // rows that both have come first, and so keep their words
			a, b := gatetest.Table(t, sch, ra, nil), gatetest.Table(t, sch, rb, nil)
			p := apart(penaltyOf(paid, c, a, i), penaltyOf(paid, c, b, i), sum.Scales, paid.Grid())
			g := apart(mechtest.Encoded(cert, c, a), mechtest.Encoded(cert, c, b), scales, cert.Grid())
			worst, alone = max(worst, math.Sqrt(p+g)), max(alone, math.Sqrt(p/plan.Share))
		}
		if worst > 1 || alone > 1 || alone <= .5 {
			t.Errorf("%v: neighbours are %v apart, their penalties %v, certified 1", nb, worst, alone)
		}
	}
}

// TestPenaltyWordsAreFresh: the words that choose the points come from no source of the session,
// here one that has none, and differ from sum to sum.
func TestPenaltyWordsAreFresh(t *testing.T) {
	tab, c := someTable(t, 30), newCritic(4, 2, 3, 4)
	p := PenaltyPlan{Share: .2, Reach: 1, Generated: generated(9)}
	sum, _, err := p.sum(mechtest.Relations[0], 2, c)
	stattest.Check(t, err)
	columns := mechtest.ColumnsOf(tab)
	first := sum.Of(columns, nil, 30)
	for range 20 {
		if !slices.Equal(sum.Of(columns, nil, 30), first) {
			return
		}
	}
	t.Error("all sums are at the same points")
}

func TestPenaltySumRefuses(t *testing.T) {
	tab := gatetest.Table(t, gatetest.Schema("u", 3), gatetest.SomeRows(20), make([]uint32, 20))
	c, linear := newCritic(4, 2, 3, 4), bounds.Network{Layers: []bounds.Layer{
		{Weights: make([]float32, 9), Bias: make([]float32, 1)}}}
	for _, adj := range []accountant.Adjacency{accountant.AddRemove, accountant.ReplaceOne} {
		p := Plan{Rate: 1, NoiseMultiplier: 2}
		s := mechtest.On(t, tab, adj, calls(p, 1))
		good := PenaltyPlan{Share: .2, Reach: .5, Generated: generated(9)}
		for name, change := range map[string]func(p *PenaltyPlan){
			"all of it":             func(p *PenaltyPlan) { p.Share = 1 },
			"negative share":        func(p *PenaltyPlan) { p.Share = -.1 },
			"share NaN":             func(p *PenaltyPlan) { p.Share = math.NaN() },
			"no reach":              func(p *PenaltyPlan) { p.Reach = 0 },
			"reach over 1":          func(p *PenaltyPlan) { p.Reach = 2 },
			"reach NaN":             func(p *PenaltyPlan) { p.Reach = math.NaN() },
			"reach without a share": func(p *PenaltyPlan) { p.Share = 0 },
			"no generated row":      func(p *PenaltyPlan) { p.Generated = nil },
			"half a generated row":  func(p *PenaltyPlan) { p.Generated = p.Generated[1:] },
		} {
			beside := good
			change(&beside)
			for _, mode := range []bounds.Mode{bounds.Residual, bounds.Ball(1)} {
				p.Mode = mode
				stattest.Fails(t, stattest.Err(ClippedSum(s, p, beside, c.Network())),
					"%s, mode %v: no error", name, mode)
			}
		}
		p.Mode = bounds.Residual
		stattest.Fails(t, stattest.Err(ClippedSum(s, p, good, linear)), "a penalty of a linear network")
		got := stattest.Must(ClippedSum(s, p, good, c.Network()))
		want, err := bounds.CertifyPenalty(
			c.Network(), bounds.PenaltyConfig{Adjacency: adj, UnitRows: 3, Reach: .5},
		)
		if err != nil || got.Penalty.TotalStd() != want.TotalStd() {
			t.Errorf("%v: certified for another relation: %v", adj, err)
		}
		stattest.Fails(t, stattest.Err(ClippedSum(s, p, good, c.Network())),
			"a second release was granted")
	}
}

// TestOverflowingNetworksAreRefused: a ReLU network with weights of −3·10³⁸ has activations in [0,
// 0] in exact arithmetic and ones that are infinite or no numbers in float32, where a row's
// gradient may be anything. All three certificates refuse it, and weights that are not finite,
// before anything is charged; and just below the limit that bounds states they do not (though noise
// of that size may be beyond what can be drawn).
func TestOverflowingNetworksAreRefused(t *testing.T) {
	network := func(weight float32) bounds.Network {
		n := newCritic(4, 2, 3, 4).Network()
		n.Slope = 0
		for i := range n.Layers[0].Weights {
			n.Layers[0].Weights[i] = weight
		}
		return n
	}
	tab, nan := someTable(t, 20), float32(math.NaN())
	plan := Plan{Rate: 1, NoiseMultiplier: 2}
	for name, release := range map[string]func(s *privacy.Session, n bounds.Network) error{
		"certified": func(s *privacy.Session, n bounds.Network) error {
			_, err := CertifiedSum(s, plan, n)
			return err
		},
		"clipped": func(s *privacy.Session, n bounds.Network) error {
			ball := plan
			ball.Mode = bounds.Ball(1)
			_, err := ClippedSum(s, ball, PenaltyPlan{}, n)
			return err
		},
	} {
		for _, weight := range []float32{-3e38, 3e38, -0x1p100, nan, float32(math.Inf(-1))} {
			s := mechtest.On(t, tab, 0, calls(plan, 1))
			err := release(s, network(weight))
			if !errors.Is(err, bounds.ErrNetwork) || len(s.Ledger().Runs()[0].Charged) > 0 {
				t.Errorf("%s, weights of %v: error %v, or it was charged", name, weight, err)
			}
		}
		err := release(mechtest.On(t, tab, 0, calls(plan, 1)), network(-0x1p98))
		if errors.Is(err, bounds.ErrNetwork) {
			t.Errorf("%s below the limit: %v", name, err)
		}
	}
	// The penalty's own certificate: with a first layer of 0 all its factors are small, and its
	// first sums are the bias.
	plan.Mode = bounds.Box()
	beside := PenaltyPlan{Share: .2, Reach: .5, Generated: generated(9)}
	for bias, refused := range map[float32]bool{-3e38: true, -0x1p101: true, nan: true,
		-0x1p99: false} {
		n := network(0)
		n.Layers[0].Bias[2] = bias
		s := mechtest.On(t, tab, 0, calls(plan, 1))
		c, err := critic.Of(newCritic(4, 2, 3, 4).Encoder(), n)
		if err == nil {
			_, _, err = beside.sum(s.Neighbours(), 2, c)
		}
		if errors.Is(err, bounds.ErrNetwork) != refused || err != nil != refused {
			t.Errorf("the penalty with a bias of %v: %v", bias, err)
		}
		_, err = ClippedSum(s, plan, beside, n)
		if errors.Is(err, bounds.ErrNetwork) != refused || err != nil != refused ||
			refused && len(s.Ledger().Runs()[0].Charged) > 0 {
			t.Errorf("a sum with a penalty with a bias of %v: %v, or it was charged", bias, err)
		}
	}
}
