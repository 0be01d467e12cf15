package gradient

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// toyCritic has one hidden layer of LeakyReLU units and follows the model of arithmetic of package
// bounds to the letter.
type toyCritic struct {
	sizes  []int  // codes of each column
	scaled []bool // columns that enter as code/(codes−1), on the factor grid
	hidden int
	net    bounds.Network
	calls  int
}

// scaledThird scales the last of the test schema's columns.
var scaledThird = []bool{false, false, true}

func newToyCritic(sizes []int, hidden int) *toyCritic {
	return newScaledToy(sizes, make([]bool, len(sizes)), hidden)
}

func newScaledToy(sizes []int, scaled []bool, hidden int) *toyCritic {
	u := rand.New(rand.NewPCG(5, 6))
	draw := func(n int) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = float32(u.NormFloat64())
		}
		return out
	}
	cells := 0
	for k, n := range sizes {
		if scaled[k] {
			n = 1
		}
		cells += n
	}
	return &toyCritic{
		sizes:  sizes,
		scaled: scaled,
		hidden: hidden,
		net: bounds.Network{Slope: .2, Layers: []bounds.Layer{
			{Weights: draw(cells * hidden), Bias: draw(hidden)}, {Weights: draw(hidden), Bias: draw(1)},
		}},
	}
}

func (c *toyCritic) Network() bounds.Network { return c.net }

func (c *toyCritic) AddSumTo(
	gradient, cells []int64, factor float64, columns []table.Codes, rows []int,
) {
	c.calls++
	if rows == nil {
		for i := range columns[0].Len() {
			c.add(gradient, cells, factor, columns, i)
		}
	}
	for _, i := range rows {
		c.add(gradient, cells, factor, columns, i)
	}
}

func (c *toyCritic) add(gradient, cells []int64, factor float64, columns []table.Codes, row int) {
	h, w1, w2 := c.hidden, c.net.Layers[0], c.net.Layers[1]
	inputs := len(w1.Weights) / h
	steps := func(x float32) int64 { return int64(math.RoundToEven(float64(x) / factor)) }
	one := int64(1 / factor)
	// at is the input that column k of the row moves, how far in steps of factor, and the column's
	// number of inputs.
	at := func(k, offset int) (input int, x int64, width int) {
		code := int(columns[k].At(row))
		if c.scaled[k] {
			return offset, int64(math.Round(float64(one) * float64(code) / float64(c.sizes[k]-1))), 1
		}
		return offset + code, one, c.sizes[k]
	}
	for j := range h {
		s := w1.Bias[j]
		offset := 0
		for k := range c.sizes {
			input, x, width := at(k, offset)
			s += float32(float64(x)*factor) * w1.Weights[input*h+j]
			offset += width
		}
		x, d := s, w2.Weights[j]
		if s <= 0 {
			x, d = s*c.net.Slope, d*c.net.Slope
		}
		offset = 0
		for k := range c.sizes {
			input, x, width := at(k, offset)
			gradient[input*h+j] += x * steps(d)
			if cells != nil && j == 0 && c.scaled[k] {
				cells[input] += x
			} else if cells != nil && j == 0 {
				cells[input]++
			}
			offset += width
		}
		gradient[inputs*h+j] += one * steps(d)
		gradient[inputs*h+h+j] += steps(x) * one
	}
	gradient[inputs*h+2*h] += one * one
}

func certifiedPlan(
	mode bounds.Mode, rate, z float64, n int,
) (CertifiedPlan, accountant.Composition) {
	p := CertifiedPlan{Mode: mode, Rate: rate, NoiseMultiplier: z}
	return p, accountant.Composition{{Event: CertifiedEvent(p), Count: n}}
}

// TestCertifiedSumNoise. Null: (released − encoded sum)/(z·c_k/grid) is standard normal, up to the
// rounding of the grid; 60 releases of every coordinate, false-alarm rate 1e-6 a mode. A noise
// multiplier 30 % off must be rejected.
func TestCertifiedSumNoise(t *testing.T) {
	const n, z = 60, 1.5
	tab := testTable(t, testSchema("", 0), someRows(500), nil)
	for _, scaled := range [][]bool{nil, scaledThird} {
		certifiedNoise(t, tab, scaled, n, z)
	}
}

func certifiedNoise(t *testing.T, tab *table.Table, scaled []bool, n int, z float64) {
	critic := newToyCritic(tab.Schema().Sizes(), 6)
	if scaled != nil {
		critic = newScaledToy(critic.sizes, scaled, 6)
	}
	for _, mode := range []bounds.Mode{bounds.Residual, bounds.Box, bounds.Thesis} {
		p, composition := certifiedPlan(mode, 1, z, n)
		p.Scaled = scaled
		s := open(t, tab, composition)
		var draws []float64
		for range n {
			got, err := CertifiedSum(s, p, critic)
			if err != nil {
				t.Fatal(err)
			}
			truth := encoded(got.Certificate, critic, tab)
			for k, c := range got.Certificate.Scales() {
				draws = append(draws, float64(got.Released[k]-truth[k])*got.Certificate.Grid()/(z*c))
			}
		}
		normal := func(sd float64) func(float64) float64 {
			return func(x float64) float64 { return math.Erfc(-x/(sd*math.Sqrt2)) / 2 }
		}
		if stat, limit, ok := stattest.KolmogorovSmirnov(draws, normal(1)); !ok {
			t.Errorf("%v: distance %v over %v", mode, stat, limit)
		}
		for _, wrong := range []float64{.7, 1.3} {
			if _, _, ok := stattest.KolmogorovSmirnov(draws, normal(wrong)); ok {
				t.Errorf("%v: %v times the noise is accepted", mode, wrong)
			}
		}
	}
}

// encoded is the encoded gradient sum of a table, without noise.
func encoded(c *bounds.Certificate, critic *toyCritic, tab *table.Table) []int64 {
	cols := columnsOf(tab)
	sum := bounds.Sum{Rows: int64(tab.Rows()), Gradient: make([]int64, c.Parameters())}
	if c.Inputs() > 0 {
		sum.Inputs = make([]int64, c.Inputs())
	}
	critic.AddSumTo(sum.Gradient, sum.Inputs, c.Factor(), cols, nil)
	inputs := 0
	for k, n := range critic.sizes {
		if critic.scaled[k] { // is in steps of the factor already
			inputs++
			continue
		}
		for range n {
			if sum.Inputs != nil {
				sum.Inputs[inputs] *= int64(1 / c.Factor())
			}
			inputs++
		}
	}
	out := make([]int64, c.Coordinates())
	c.EncodeTo(out, sum)
	return out
}

// TestCertifiedSumSensitivity: encoded sums of neighbouring tables are at most 1 apart in the norm
// of the scales, under every relation; with halved scales the same pairs break the bound in mode
// blocks, so the test can fail.
func TestCertifiedSumSensitivity(t *testing.T) {
	u := rand.New(rand.NewPCG(7, 8))
	sch := testSchema("", 0)
	for _, scaled := range [][]bool{make([]bool, 3), scaledThird} {
		certifiedSensitivity(t, u, sch, scaled)
	}
}

func certifiedSensitivity(t *testing.T, u *rand.Rand, sch *schema.Schema, scaled []bool) {
	critic := newScaledToy(sch.Sizes(), scaled, 6)
	in, err := CertifiedPlan{Scaled: scaled}.Domain(sch)
	if err != nil {
		t.Fatal(err)
	}
	for _, nb := range relations {
		for _, mode := range []bounds.Mode{bounds.Residual, bounds.Box, bounds.Thesis} {
			cert, err := bounds.Certify(
				critic.Network(), in,
				bounds.Config{Mode: mode, Adjacency: nb.Adjacency, UnitRows: nb.MaxRowsPerUnit},
			)
			if err != nil {
				t.Fatal(err)
			}
			scales, worst := cert.Scales(), 0.0
			for range 500 {
				ra, rb := pairOf(u, nb)
				a, b := encoded(cert, critic, testTable(t, sch, ra, nil)),
					encoded(cert, critic, testTable(t, sch, rb, nil))
				norm := 0.0
				for k := range a {
					d := float64(a[k]-b[k]) * cert.Grid() / scales[k]
					norm += d * d
				}
				worst = max(worst, math.Sqrt(norm))
			}
			if worst > 1 {
				t.Errorf("%v, %v: neighbours are %v apart, certified 1", nb, mode, worst)
			}
			if mode == bounds.Residual && worst <= .5 {
				t.Errorf(
					"%v, %v: neighbours are at most %v apart: halved scales would go unnoticed", nb, mode, worst,
				)
			}
		}
	}
}

// TestPoissonSample. Null: each unit is in the sample with probability q, all its rows or none; 400
// samples of 500 units.
func TestPoissonSample(t *testing.T) {
	units := make([]uint32, 1000)
	for i := range units {
		units[i] = uint32(i * 7 % 500)
	}
	withUnits := testTable(t, testSchema("u", 2), someRows(1000), units)
	single := testTable(t, testSchema("", 0), someRows(500), nil)
	for name, tab := range map[string]*table.Table{"rows": single, "units of two rows": withUnits} {
		src := noise.NewSource()
		for _, q := range []float64{.01, .3, .9} {
			var included int64
			for range 400 {
				rows, n := sample(tab, src, q)
				if n != len(rows) {
					t.Fatalf("%s: %d rows, said %d", name, len(rows), n)
				}
				if tab.Units() == nil {
					included += int64(n)
					continue
				}
				in := map[uint32]int{}
				for _, r := range rows {
					in[tab.Units()[r]]++
				}
				for u, k := range in {
					if k != 2 {
						t.Fatalf("%s: unit %d has %d of its 2 rows in the sample", name, u, k)
					}
				}
				included += int64(len(in))
			}
			if _, _, ok := stattest.Binomial(included, 400*500, q); !ok {
				t.Errorf("%s: %d of %d units at rate %v", name, included, 400*500, q)
			}
			if _, _, ok := stattest.Binomial(included, 400*500, 1.3*q/(1+.3*q)); ok {
				t.Errorf("%s: another rate is accepted at %v", name, q)
			}
		}
		if rows, n := sample(tab, src, 1); rows != nil || n != tab.Rows() {
			t.Errorf("%s: at rate 1 %d rows of %d, list %v", name, n, tab.Rows(), rows != nil)
		}
	}
}

func TestCertifiedSumRefuses(t *testing.T) {
	tab := testTable(t, testSchema("", 0), someRows(20), nil)
	critic := newToyCritic(tab.Schema().Sizes(), 4)
	other := newToyCritic([]int{2, 2}, 4)
	good, composition := certifiedPlan(bounds.Residual, 1, 2, 1)
	s := open(t, tab, composition)
	for name, call := range map[string]func() error{
		"rate 0": func() error {
			_, err := CertifiedSum(s, CertifiedPlan{Rate: 0, NoiseMultiplier: 2}, critic)
			return err
		},
		"rate over 1": func() error {
			_, err := CertifiedSum(s, CertifiedPlan{Rate: 1.1, NoiseMultiplier: 2}, critic)
			return err
		},
		"rate NaN": func() error {
			_, err := CertifiedSum(s, CertifiedPlan{Rate: math.NaN(), NoiseMultiplier: 2}, critic)
			return err
		},
		"scaled or not, of other columns": func() error {
			_, err := CertifiedSum(s, CertifiedPlan{Rate: 1, NoiseMultiplier: 2, Scaled: []bool{true}},
				critic)
			return err
		},
		"scaled, but the critic is not": func() error {
			_, err := CertifiedSum(s, CertifiedPlan{Rate: 1, NoiseMultiplier: 2, Scaled: scaledThird},
				critic)
			return err
		},
		"no noise": func() error {
			_, err := CertifiedSum(s, CertifiedPlan{Rate: 1}, critic)
			return err
		},
		"ball": func() error {
			_, err := CertifiedSum(s, CertifiedPlan{Mode: bounds.Ball, Rate: 1, NoiseMultiplier: 2}, critic)
			return err
		},
		"other columns": func() error { _, err := CertifiedSum(s, good, other); return err },
		"less noise": func() error {
			_, err := CertifiedSum(s, CertifiedPlan{Rate: 1, NoiseMultiplier: 1}, critic)
			return err
		},
		"other rate": func() error {
			_, err := CertifiedSum(s, CertifiedPlan{Rate: .5, NoiseMultiplier: 2}, critic)
			return err
		},
	} {
		if err := call(); err == nil || critic.calls > 0 {
			t.Errorf("%s: error %v, the critic saw rows %d times", name, err, critic.calls)
		}
	}
	if _, err := CertifiedSum(s, good, critic); err != nil || critic.calls != 1 {
		t.Errorf("the budget is gone: %v", err)
	}
	if _, err := CertifiedSum(s, good, critic); err == nil || critic.calls != 1 {
		t.Errorf("a second release was granted: %v", err)
	}
}

// TestCertifiedSumKnowsItsRelation: the certificate is for the session's own adjacency and rows a
// unit.
func TestCertifiedSumKnowsItsRelation(t *testing.T) {
	tab := testTable(t, testSchema("u", 3), someRows(20), make([]uint32, 20))
	for _, adj := range []accountant.Adjacency{accountant.AddRemove, accountant.ReplaceOne} {
		p, composition := certifiedPlan(bounds.Residual, 1, 2, 1)
		s, err := privacy.Open(
			context.Background(), privacy.FromTable(tab),
			privacy.Options{Budget: wide, Plan: composition, Adjacency: adj},
		)
		if err != nil {
			t.Fatal(err)
		}
		got, err := CertifiedSum(s, p, newToyCritic(tab.Schema().Sizes(), 4))
		if err != nil {
			t.Fatal(err)
		}
		if c := got.Certificate; c.UnitRows() != 3 || c.Adjacency() != adj {
			t.Errorf("%v: certified for %v and %d rows a unit", adj, c.Adjacency(), c.UnitRows())
		}
	}
}
