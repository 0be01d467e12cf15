package clipped

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/bounds/modes"
	"github.com/decoy-dp/decoy/bounds/penalty"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/gradient"
	"github.com/decoy-dp/decoy/table"
)

// penalised is a toyCritic with a penalty at points between its rows and the uniform one, or at its
// rows if it is at rest.
type penalised struct {
	*toyCritic
	atRest bool
	words  []uint64 // that it was given
}

func newCritic(sizes []int, hidden int) *penalised {
	return &penalised{toyCritic: newToyCritic(sizes, hidden)}
}

// AddClippedSumTo and AddPenaltySumTo make it a Critic.
func (c *penalised) AddClippedSumTo(
	gradient []int64, factor float64, weight func(x, delta [][]float64) int64, columns []table.Codes,
	rows []int,
) int64 {
	c.Calls++
	if rows == nil {
		for i := range columns[0].Len() {
			rows = append(rows, i)
		}
	}
	h, sum := c.Hidden, int64(0)
	inputs := len(c.Net.Layers[0].Weights) / h
	for _, i := range rows {
		g := make([]int64, len(gradient))
		c.AddRow(g, nil, factor, columns, i)
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

func (c *penalised) AddPenaltySumTo(
	gradient []int64, factor float64, draw func() uint64, weight func(t, delta [][]float64) int64,
	columns []table.Codes, rows []int,
) {
	c.Calls++
	if rows == nil {
		for i := range columns[0].Len() {
			rows = append(rows, i)
		}
	}
	for _, i := range rows {
		word := draw()
		c.words = append(c.words, word)
		alpha := float64(word>>11) * 0x1p-53
		if c.atRest {
			alpha = 1
		}
		t, delta := c.penaltyFactors(factor, alpha, columns, i)
		w, k := weight(t, delta), 0
		for l := range t {
			for _, x := range t[l] {
				for _, d := range delta[l] {
					gradient[k] += w * int64(x/factor) * int64(d/factor)
					k++
				}
			}
		}
	}
}

// penaltyFactors are the factors of a row's contribution, on the grid.
func (c *penalised) penaltyFactors(
	factor, alpha float64, columns []table.Codes, row int,
) (t, delta [][]float64) {
	h, w1, w2 := c.Hidden, c.Net.Layers[0], c.Net.Layers[1]
	var x []float64
	for k, n := range c.Sizes {
		for code := range n {
			v := (1 - alpha) / float64(n)
			if code == int(columns[k].At(row)) {
				v += alpha
			}
			x = append(x, v)
		}
	}
	grid := func(x []float64) []float64 {
		out := make([]float64, len(x))
		for i, v := range x {
			out[i] = factor * math.RoundToEven(v/factor)
		}
		return out
	}
	slope, back := make([]float64, h), make([]float64, h)
	for j := range h {
		s := float64(w1.Bias[j])
		for i, v := range x {
			s += v * float64(w1.Weights[i*h+j])
		}
		if slope[j] = 1; s <= 0 {
			slope[j] = float64(c.Net.Slope)
		}
		back[j] = slope[j] * float64(w2.Weights[j])
	}
	y, square := make([]float64, len(x)), 0.
	for i := range y {
		for j := range h {
			y[i] += float64(w1.Weights[i*h+j]) * back[j]
		}
		square += y[i] * y[i]
	}
	up := make([]float64, h)
	for i := range y {
		y[i] *= 2 * (math.Sqrt(square) - 1) / math.Sqrt(square)
		for j := range h {
			up[j] += slope[j] * float64(w1.Weights[i*h+j]) * y[i]
		}
	}
	return [][]float64{grid(y), grid(up)}, [][]float64{grid(back), {1}}
}

// penaltySumOf is the sum of a table without noise, with the words of a source that begins anew.
func penaltySumOf(cert *penalty.Certificate, c *penalised, tab *table.Table, seed uint64) []int64 {
	u := rand.New(rand.NewPCG(seed, 1))
	out := make([]int64, cert.Coordinates())
	c.AddPenaltySumTo(out, cert.Factor(), u.Uint64, cert.Weight, columnsOf(tab), nil)
	return out
}

// TestPenaltyMultipliers: noise of the two multipliers on two vectors costs what one of the event's
// multiplier does, no less and hardly more.
func TestPenaltyMultipliers(t *testing.T) {
	for _, share := range []float64{1e-3, .2, .5, .9} {
		for _, z := range []float64{.3, 1, 47.123, 1e4} {
			p := Penalty{Share: share, Reach: 1}
			a, b := p.GradientMultiplier(z), p.Multiplier(z)
			if cost := (1/(a*a) + 1/(b*b)) * z * z; cost > 1 || cost < 1-1e-13 {
				t.Errorf("share %v of %v: 1/z² times %v", share, z, cost)
			}
			if got := (1 / (b * b)) * z * z; math.Abs(got/share-1) > 1e-12 {
				t.Errorf("share %v of %v: the penalty takes %v", share, z, got)
			}
		}
	}
	if z := (Penalty{}).GradientMultiplier(1.5); z != 1.5 {
		t.Errorf("without a penalty the multiplier is %v", z)
	}
}

// TestPenaltySumNoise, beside a certified and beside a clipped sum. Null: both releases less their
// sums, over their own multiplier times c_k/grid, are standard normal; 60 releases of every
// coordinate, false-alarm rate 1e-6 each. A multiplier 30 % off must be rejected.
func TestPenaltySumNoise(t *testing.T) {
	const n, z = 60, 1.5
	tab := testTable(t, testSchema("", 0), someRows(300), nil)
	critic := newCritic(tab.Schema().Sizes(), 6)
	critic.atRest = true
	beside := Penalty{Share: .3, Reach: .2}
	for _, mode := range []bounds.Mode{bounds.Residual, modes.Ball(2)} {
		p, composition := clippedPlan(2, 1, z, n)
		p.Mode, p.Penalty = mode, beside
		s := open(t, tab, composition)
		var gradients, penalties []float64
		for range n {
			got, err := Sum(s, p, critic)
			if err != nil {
				t.Fatal(err)
			}
			var truth []int64
			if mode.Clipped() {
				truth = clippedSum(got.Certificate, critic, tab)
			} else {
				truth = encoded(got.Certificate, critic.toyCritic, tab)
			}
			for k, c := range got.Certificate.Scales() {
				gradients = append(
					gradients,
					float64(got.Released[k]-truth[k])*got.Certificate.Grid()/(beside.GradientMultiplier(z)*c),
				)
			}
			cert := got.Penalty
			scales := make([]float64, cert.Coordinates())
			cert.ScalesTo(scales, beside.Multiplier(z))
			for k, v := range penaltySumOf(cert, critic, tab, 1) {
				penalties = append(penalties, float64(got.ReleasedPenalty[k]-v)*cert.Grid()/scales[k])
			}
		}
		for scale, want := range map[float64]bool{1: true, .7: false, 1.3: false} {
			normal := func(x float64) float64 { return math.Erfc(-x/(scale*math.Sqrt2)) / 2 }
			for name, draws := range map[string][]float64{"gradient": gradients, "penalty": penalties} {
				if stat, limit, ok := stattest.KolmogorovSmirnov(draws, normal); ok != want {
					t.Errorf(
						"%v, %s, %v times the noise: distance %v of %v, accepted = %v", mode, name, scale, stat,
						limit, ok,
					)
				}
			}
		}
	}
}

// TestPenaltySumSensitivity: with the words that a row was given staying its own, the sums of the
// gradient and of the penalty of neighbouring tables, each over its multiplier's scales, are
// together at most 1/z apart, under every relation; and the penalties alone are more than half of
// what they may be, so that halved scales would be noticed.
func TestPenaltySumSensitivity(t *testing.T) {
	u := rand.New(rand.NewPCG(9, 9))
	sch := testSchema("", 0)
	critic := newCritic(sch.Sizes(), 6)
	in, err := gradient.CertifiedPlan{}.Domain(sch)
	if err != nil {
		t.Fatal(err)
	}
	plan := Penalty{Share: .4, Reach: .01}
	apart := func(a, b []int64, scales []float64, grid float64) (sum float64) {
		for k := range a {
			d := float64(a[k]-b[k]) * grid / scales[k]
			sum += d * d
		}
		return sum
	}
	for _, nb := range relations {
		cert, err := bounds.Certify(
			critic.Network(), in, bounds.Config{Adjacency: nb.Adjacency, UnitRows: nb.MaxRowsPerUnit},
		)
		if err != nil {
			t.Fatal(err)
		}
		sum, penalty, err := penaltySum(nb, plan, 1, critic)
		if err != nil {
			t.Fatal(err)
		}
		scales := make([]float64, cert.Coordinates())
		cert.ScalesTo(scales, plan.GradientMultiplier(1))
		worst, alone := 0., 0.
		for i := range uint64(800) {
			ra, rb := pairOf(u, nb) // rows that both have come first, and so keep their words
			a, b := testTable(t, sch, ra, nil), testTable(t, sch, rb, nil)
			p := apart(
				penaltySumOf(penalty, critic, a, i), penaltySumOf(penalty, critic, b, i), sum.Scales,
				penalty.Grid(),
			)
			g := apart(
				encoded(cert, critic.toyCritic, a), encoded(cert, critic.toyCritic, b), scales, cert.Grid(),
			)
			worst, alone = max(worst, math.Sqrt(p+g)), max(alone, math.Sqrt(p/plan.Share))
		}
		if worst > 1 || alone > 1 {
			t.Errorf("%v: neighbours are %v apart, their penalties %v, certified 1", nb, worst, alone)
		}
		if alone <= .5 {
			t.Errorf(
				"%v: penalties of neighbours are at most %v apart: halved scales would go unnoticed", nb,
				alone,
			)
		}
	}
}

// TestPenaltyWordsAreFresh: each row gets a word of its own at each release; and a batch below rate
// 1 is the gradient sum's.
func TestPenaltyWordsAreFresh(t *testing.T) {
	tab := testTable(t, testSchema("", 0), someRows(200), nil)
	critic := newCritic(tab.Schema().Sizes(), 4)
	p, composition := clippedPlan(0, .5, 2, 3)
	p.Mode, p.Penalty = bounds.Residual, Penalty{Share: .2, Reach: 1}
	s := open(t, tab, composition)
	for range 3 {
		if _, err := Sum(s, p, critic); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[uint64]bool{}
	for _, w := range critic.words {
		seen[w] = true
	}
	if len(seen) != len(critic.words) || len(seen) < 150 || len(seen) > 450 {
		t.Errorf(
			"%d words, %d of them different, for three samples of half of 200 rows", len(critic.words),
			len(seen),
		)
	}
}

// TestPenaltyWordsAreNotTheNoise: the words that a critic is handed come from no source of the
// session, here one that has none, and differ from sum to sum.
func TestPenaltyWordsAreNotTheNoise(t *testing.T) {
	tab := testTable(t, testSchema("", 0), someRows(30), nil)
	critic := newCritic(tab.Schema().Sizes(), 4)
	sum, _, err := penaltySum(relations[0], Penalty{Share: .2, Reach: 1}, 2, critic)
	if err != nil {
		t.Fatal(err)
	}
	columns := []table.Codes{tab.Column(0), tab.Column(1), tab.Column(2)}
	sum.Of(columns, nil, 30)
	sum.Of(columns, nil, 30)
	seen := map[uint64]bool{}
	for _, w := range critic.words {
		seen[w] = true
	}
	if len(seen) != 60 {
		t.Errorf("%d different words for 60 rows", len(seen))
	}
}

func TestPenaltySumRefuses(t *testing.T) {
	tab := testTable(t, testSchema("u", 3), someRows(20), make([]uint32, 20))
	critic := newCritic(tab.Schema().Sizes(), 4)
	for _, adj := range []accountant.Adjacency{accountant.AddRemove, accountant.ReplaceOne} {
		good, composition := clippedPlan(0, 1, 2, 1)
		ball, _ := clippedPlan(1, 1, 2, 1)
		good.Mode, good.Penalty = bounds.Residual, Penalty{Share: .2, Reach: .5}
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
		for name, penalty := range map[string]Penalty{
			"all of it": {Share: 1, Reach: 1}, "negative share": {Share: -.1, Reach: 1},
			"share NaN": {Share: math.NaN(), Reach: 1}, "no reach": {Share: .2},
			"reach over 1": {Share: .2, Reach: 2}, "reach NaN": {Share: .2, Reach: math.NaN()},
			"reach without a share": {Reach: 1},
		} {
			for _, p := range []Plan{good, ball} {
				p.Penalty = penalty
				if _, err := Sum(s, p, critic); err == nil || critic.Calls > before {
					t.Errorf("%s, mode %v: error %v, the critic saw rows", name, p.Mode, err)
				}
			}
		}
		got, err := Sum(s, good, critic)
		if err != nil || critic.Calls != before+2 {
			t.Fatal(err)
		}
		want, err := penalty.Certify(
			critic.Network(), penalty.Config{Adjacency: adj, UnitRows: 3, Reach: .5},
		)
		if err != nil || got.Penalty.TotalStd() != want.TotalStd() {
			t.Errorf("%v: certified for another relation: %v", adj, err)
		}
		if _, err := Sum(s, good, critic); err == nil || critic.Calls != before+2 {
			t.Errorf("a second release was granted: %v", err)
		}
	}
}
