package gradient

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/bounds/modes"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/mechtest"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

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
		critic = newScaledToy(critic.Sizes, scaled, 6)
	}
	for _, mode := range []bounds.Mode{bounds.Residual, modes.Box, modes.Thesis} {
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
		for _, mode := range []bounds.Mode{bounds.Residual, modes.Box, modes.Thesis} {
			cert, err := bounds.Certify(
				critic.Network(), in,
				bounds.Config{Mode: mode, Adjacency: nb.Adjacency, UnitRows: nb.MaxRowsPerUnit},
			)
			if err != nil {
				t.Fatal(err)
			}
			worst := mechtest.Farthest(cert, 500, func() (a, b []int64) {
				ra, rb := pairOf(u, nb)
				return encoded(cert, critic, testTable(t, sch, ra, nil)),
					encoded(cert, critic, testTable(t, sch, rb, nil))
			})
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
			_, err := CertifiedSum(s, CertifiedPlan{Mode: modes.Ball(1), Rate: 1, NoiseMultiplier: 2},
				critic)
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
		if err := call(); err == nil || critic.Calls > 0 {
			t.Errorf("%s: error %v, the critic saw rows %d times", name, err, critic.Calls)
		}
	}
	if _, err := CertifiedSum(s, good, critic); err != nil || critic.Calls != 1 {
		t.Errorf("the budget is gone: %v", err)
	}
	if _, err := CertifiedSum(s, good, critic); err == nil || critic.Calls != 1 {
		t.Errorf("a second release was granted: %v", err)
	}
}

// turncoat writes another mode to the caller's when it is asked for its network.
type turncoat struct {
	*mechtest.Toy
	mode, to bounds.Mode
}

func (c turncoat) Network() bounds.Network {
	*c.mode = *c.to
	return c.Toy.Network()
}

// TestModeIsThatWhichWasChecked: a critic that makes the mode one of clipped rows, which nobody
// clips here, gets the scales of the mode that it came with.
func TestModeIsThatWhichWasChecked(t *testing.T) {
	tab := testTable(t, testSchema("", 0), someRows(20), nil)
	critic := newToyCritic(tab.Schema().Sizes(), 4)
	total := func(c Critic, mode bounds.Mode) float64 {
		p, composition := certifiedPlan(mode, 1, 2, 1)
		got, err := CertifiedSum(open(t, tab, composition), p, c)
		if err != nil {
			t.Fatal(err)
		}
		return got.Certificate.TotalStd()
	}
	box := *modes.Box
	if want, got := total(critic, modes.Box), total(turncoat{critic, &box, modes.Ball(1e-8)},
		&box); got != want {
		t.Errorf("noise of %v, want %v", got, want)
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
