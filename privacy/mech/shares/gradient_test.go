package shares

import (
	"context"
	"crypto/ed25519"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
	"github.com/decoy-dp/decoy/privacy/internal/mechtest"
	"github.com/decoy-dp/decoy/privacy/mech/gradient"
	"github.com/decoy-dp/decoy/synth"
)

// toy is a question about the gradient of a small critic.
func toy(mode bounds.Mode, rho float64, sizes ...int) Question {
	return Question{Rho: rho, Gradient: &Gradient{gradient.Plan{Mode: mode, Rate: 1},
		mechtest.NewCritic(6, sizes...).Network()}}
}

// deviations are the σ of a share, from the certificate: an independent derivation.
func deviations(cert *bounds.Certificate, rho float64, honest int) []float64 {
	out := cert.Scales()
	for k, c := range out {
		out[k] = max(4, math.Ceil(c/math.Sqrt(2*rho*float64(honest))/cert.Grid()))
	}
	return out
}

// TestGradientNoise. Null: what a gradient sum of four parties is off by, over 2σ of a coordinate,
// is standard normal; 200 releases of every coordinate, whose σ differ, false-alarm rate 1e-6 a
// mode. Noise 30 % off is rejected, and so is that of three.
func TestGradientNoise(t *testing.T) {
	const steps, rho = 200, .5
	for _, mode := range []bounds.Mode{bounds.Residual, bounds.Box()} {
		p := parties(t, steps, someTable(t, 11), someTable(t, 5), someTable(t, 90), someTable(t, 1))
		p.agree(t)
		q := toy(mode, rho, 2, 3, 4)
		truth, off := []int64(nil), []float64(nil)
		for i, s := range p.sessions {
			xs := exact(t, s, q)
			if i == 0 {
				truth = make([]int64, len(xs))
			}
			for k, x := range xs {
				truth[k] += x
			}
		}
		for range steps {
			totals, _, errs := p.sum(q)
			stattest.Check(t, errors.Join(errs...))
			got := totals[3]
			sigmas := deviations(got.Gradient.Certificate, rho, 3)
			if slices.Min(sigmas) == slices.Max(sigmas) {
				t.Fatal("all σ are the same")
			}
			for k, x := range got.Gradient.Released {
				off = append(off, float64(x-truth[k])/(2*sigmas[k]))
			}
			z := 1 / math.Sqrt(2*rho*3)
			if got.Cost.Honest != 3 || got.Cost.Cells != len(sigmas) || got.Cost.Rho() > rho ||
				got.Cost.Rho() < rho*(1-1e-6) || got.Cost.Sigma != slices.Min(sigmas) ||
				math.Abs(got.Sigma/(2*z)-1) > 1e-8 {
				t.Fatalf("it is charged as %+v", got.Cost)
			}
		}
		normal := func(sd float64) func(float64) float64 {
			return func(x float64) float64 { return math.Erfc(-x/(sd*math.Sqrt2)) / 2 }
		}
		for sd, want := range map[float64]bool{1: true, 1.3: false, 1 / 1.3: false,
			math.Sqrt(.75): false} {
			if stat, limit, ok := stattest.KolmogorovSmirnov(off, normal(sd)); ok != want {
				t.Errorf("%v: %v times the noise is accepted: %v (%v, %v)", mode, sd, ok, stat, limit)
			}
		}
	}
}

// TestGradientSensitivity: with a unit's rows at two parties, all sums of neighbouring tables are
// at most 1/z apart in units of σ, under every relation; with half the noise that would be noticed.
func TestGradientSensitivity(t *testing.T) {
	u := rand.New(rand.NewPCG(7, 8))
	for _, nb := range mechtest.Relations {
		for _, mode := range []bounds.Mode{bounds.Residual, bounds.Box()} {
			q, double := toy(mode, .5, 2, 3, 4), nb
			double.MaxRowsPerUnit *= 2
			terms := Terms{Identities: make([]ed25519.PublicKey, 5), Colluding: 2, PerPerson: 2}
			asked, worst := compiled(t, mechtest.Under(t, nil, nb), q, terms), 0.0
			sigmas := deviations(asked.total(nil, 5).Gradient.Certificate, .5, 3)
			for range 200 {
				a, b := gatetest.PairOf(u, double.Adjacency, double.MaxRowsPerUnit)
				var of [2][]int64
				for side, rows := range [][][3]uint8{a, b} {
					s := mechtest.On(t, gatetest.Table(t, gatetest.Schema("", 0), rows, nil), nb.Adjacency)
					of[side] = counted(t, s, asked)
				}
				norm := 0.0
				for k, sigma := range sigmas {
					d := float64(of[0][k]-of[1][k]) / sigma
					norm += d * d
				}
				worst = max(worst, math.Sqrt(norm)*asked.cost.Sigma/asked.cost.Sensitivity)
			}
			if worst > 1 || mode == bounds.Residual && worst <= .5 {
				t.Errorf("%v, %v: neighbours are %v apart, of 1", nb, mode, worst)
			}
		}
	}
}

// TestGradientSmallTables: what noise is added to, in units of it, moves between neighbours by no
// more than is charged.
func TestGradientSmallTables(t *testing.T) {
	q := toy(bounds.Residual, .5, 2, 2)
	mechtest.RunSmall(t, []mechtest.SmallRow{{Mechanism: "Sum", With: "gradient",
		Of: func(s *mechtest.Small) gatetest.Value {
			session := mechtest.On(t, s.Table, s.NB.Adjacency)
			asked := compiled(t, session, q, Terms{Identities: make([]ed25519.PublicKey, 2), Colluding: 1,
				PerPerson: 1})
			return mechtest.InUnits(exact(t, session, q), asked.total(nil, 2).Gradient.Certificate)
		},
		Claim: func(privacy.Neighbours) float64 { return 1 }, Norm: gatetest.L2,
		Most: func(privacy.Neighbours) float64 { return .3 }}}, "Sum")
}

// TestGradientsThatAreNone: questions about gradients that do not add up, or for which there is no
// noise, are refused; a budget of any size has noise in every coordinate.
func TestGradientsThatAreNone(t *testing.T) {
	s := mechtest.On(t, someTable(t, 3), 0)
	terms := Terms{Identities: make([]ed25519.PublicKey, 3), Colluding: 1, PerPerson: 1}
	for name, change := range map[string]func(q *Question){
		"a sample":    func(q *Question) { q.Gradient.Rate = .5 },
		"clipped":     func(q *Question) { q.Gradient.Mode = bounds.Ball(1) },
		"other sizes": func(q *Question) { q.Gradient.Network = mechtest.NewCritic(6, 2, 2).Network() },
		"no ρ":        func(q *Question) { q.Rho = 0 },
		"too little":  func(q *Question) { q.Rho = 1e-300 },
	} {
		q := toy(bounds.Residual, .5, 2, 3, 4)
		change(&q)
		stattest.Wraps(t, stattest.Err(q.compile(s, terms)), errTerms, "%s", name)
	}
	q := toy(bounds.Residual, 1e25, 2, 3, 4)
	if got := compiled(t, s, q, terms).cost; got.Sigma != leastSteps || got.Rho() > q.Rho {
		t.Errorf("ρ = 1e25 is charged as %+v", got)
	}
	one, other := toy(bounds.Residual, .5, 2, 3, 4), toy(bounds.Residual, .5, 2, 3, 4)
	other.Gradient.Network.Layers[1].Bias[0] += .25 // which no scale depends on
	if compiled(t, s, one, terms).of.Sum() == compiled(t, s, other, terms).of.Sum() {
		t.Error("another critic is the same question")
	}
}

// TestFedSGDIsTheCentralOne: with noise from a known source in the place of each party's own, the
// model that five parties' masked gradients train is the one of a single table that holds all rows,
// with the sum of the noise, bit for bit.
func TestFedSGDIsTheCentralOne(t *testing.T) {
	var tables []*table.Table
	var rows [][3]uint8
	for _, n := range []int{40, 0, 17, 300, 1} {
		tables, rows = append(tables, someTable(t, n)), append(rows, gatetest.SomeRows(n)...)
	}
	p := parties(t, 1, tables...)
	p.agree(t)
	whole := mechtest.On(t, gatetest.Table(t, gatetest.Schema("", 0), rows, nil), 0)
	known := func(party, step int, asked counting) []int64 {
		u := rand.New(rand.NewPCG(uint64(party), uint64(step)))
		out := deviations(asked.total(nil, 5).Gradient.Certificate, .5, 4)
		xs := make([]int64, len(out))
		for k, sigma := range out {
			xs[k] = int64(sigma * u.NormFloat64())
		}
		return xs
	}
	terms := synth.Terms{Schema: whole.Schema(), Neighbours: whole.Neighbours()}
	train := func(sum func(q Question, step int, asked counting) []int64) []byte {
		f, err := synth.Checked(&synth.WGAN{Steps: 4, DistilSteps: 10, GeneratorSteps: 2, PostSteps: 5,
			Hidden: []int{8}})
		stattest.Check(t, err)
		step := 0
		m, err := f.Train(context.Background(), terms, .5, synth.Source{
			Tree: func(synth.MST, float64) (synth.Model, error) { return evenModel(t, whole), nil },
			Gradient: func(of gradient.Plan, n bounds.Network) (
				gradient.Certified, float64, error,
			) {
				step++
				q := Question{Rho: .5, Gradient: &Gradient{of, n}}
				total := compiled(t, whole, q, p.terms)
				out := total.total(sum(q, step, total), 5)
				return out.Gradient, out.Sigma, nil
			}}, nil)
		if err != nil || step != 4 {
			t.Fatal(step, err)
		}
		return stattest.Must(m.Params.MarshalBinary())
	}
	var last []int64
	central := train(func(q Question, step int, asked counting) []int64 {
		xs := exact(t, whole, q)
		for i := range tables {
			for k, x := range known(i, step, asked) {
				xs[k] += x
			}
		}
		last = xs
		return xs
	})
	federated := func(wrong int64) []byte {
		return train(func(q Question, step int, asked counting) []int64 {
			sum := make([]int64, asked.cost.Cells)
			for i, r := range p.runs {
				xs := exact(t, p.sessions[i], q)
				for k, x := range known(i, step, asked) {
					xs[k] += x
				}
				maskTo(xs, r.masks(), i, "step")
				for k, x := range xs {
					sum[k] += x
				}
			}
			sum[0] += wrong
			return sum
		})
	}
	if !slices.Equal(central, federated(0)) {
		t.Error("the model of five parties is not that of the whole table")
	}
	if slices.Equal(central, federated(last[0]/2+1)) {
		t.Error("the sums decide nothing")
	}
}

// evenModel is a marginal model of 358 rows, as if all codes were as frequent.
func evenModel(t *testing.T, s *privacy.Session) synth.Model {
	t.Helper()
	var ms []marginal.Measurement
	for c, n := range s.Schema().Sizes() {
		ms = append(ms, marginal.NewMeasurement([]int{c}, nil, slices.Repeat([]int64{int64(358 / n)}, n),
			1))
	}
	groups := stattest.Must(marginal.NewGrouping(s.Schema().Sizes(), ms, 2))
	m := stattest.Must(marginal.Fit(context.Background(), groups.Sizes(), ms, marginal.Options{}))
	return synth.Model{Params: &release.Marginal{Model: m, Grouping: groups}}
}
