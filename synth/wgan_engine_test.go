package synth

import (
	"context"
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/internal/matrix"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

var engineSeed = flag.Uint64("seed", 0, "of the networks of TestEnginesAgree; 0: one at random")

// rounding is how far two sums of the same n numbers in float32 may be apart, relative to the sum
// of their sizes: λ√(2n)·u, λ = 8, u = 2⁻²⁴. An operation's error is at most u and, in this model,
// as often up as down: a sum of n is off by more than λ√n·u with probability at most 2n·exp(−λ²/2)
// (Higham, Mary 2019, SIAM J. Sci. Comput. 41, theorem 3.1), 1e-10 for n = 4,096.
func rounding(n int) float64 { return 8 * math.Sqrt(2*float64(n)) * 0x1p-24 }

// TestEnginesAgree: in one and the same training both engines give the same gradients of the
// generator and of the critic, up to rounding; without one of the critic's 4,096 rows they do not.
// Near a kink of ReLU rounding decides on which side of it a unit is: the generator's units are on
// or off by their biases, and the critic is looked at where signs are sure.
func TestEnginesAgree(t *testing.T) {
	seed := *engineSeed
	for seed == 0 {
		seed = rand.Uint64()
	}
	for name, c := range map[string]struct {
		WGAN
		steep float32 // factor of the last layer: at 1 no slope exceeds 1, and no row has a penalty
	}{
		"default": {WGAN{}, 1}, "two layers": {WGAN{Hidden: []int{12, 6}}, 8},
		"no penalty": {WGAN{Lipschitz: "clip"}, 1}, "penalty": {WGAN{}, 8},
	} {
		c.Engine, c.Steps = gorgonia, 2
		f, s := checked(&c.WGAN), synthtest.Schema(4)
		p := stattest.Must(NewPlan(f, schema.One(s), privacy.NeighboursOf(s, 0),
			accountant.Budget{Epsilon: 2, Delta: 1e-6})).Plan.(*wganPlan)
		train := stattest.Must(p.start(Source{Seed: [2]uint64{seed, 1},
			marginals: evenMarginals(s)}))
		layers := train.critic.Network().Layers
		for i, w := range layers[len(layers)-1].Weights {
			layers[len(layers)-1].Weights[i] = c.steep * w
		}
		switchUnits(train.generator)
		u := rand.New(rand.NewPCG(seed, 2))
		var draws uint64 // the seed of a batch
		both := func(gradient func() ([]float32, error)) (graph, hand []float32) {
			train.u = rand.New(rand.NewPCG(draws, 5))
			graph = slices.Clone(stattest.Must(gradient()))
			generator, critic := train.generatorGraph, train.criticGraph
			train.generatorGraph, train.criticGraph = nil, nil
			train.u = rand.New(rand.NewPCG(draws, 5))
			hand = stattest.Must(gradient())
			train.generatorGraph, train.criticGraph = generator, critic
			return graph, hand
		}
		for range 3 {
			down := make([]float32, len(train.down.Data))
			for i := range down {
				down[i] = float32(u.NormFloat64())
			}
			draws = u.Uint64()
			graph, hand := both(func() ([]float32, error) {
				train.pass.Forward(train.u)
				copy(train.down.Data, down)
				return train.generatorGradient()
			})
			// rows' gradients have random signs: their sum grows with their number as its error does
			most := rounding(batch+2*(16+2*128+train.encoder.Cells())) * norm(hand)
			if d := apart(graph, hand); !(d <= most) {
				t.Errorf("%s, -seed %d: gradients of the generator are %v apart, want at most %v",
					name, seed, d, most)
			}
			var x matrix.Matrix
			draws, x = train.sureBatch(u)
			graph, hand = both(func() ([]float32, error) {
				return train.criticGradient(train.fake.Forward(train.u))
			})
			most, row := train.roundingOfCritic(x)
			if d := apart(graph, hand); !(d <= most) {
				t.Errorf("%s, -seed %d: gradients of the critic are %v apart, want at most %v",
					name, seed, d, most)
			}
			if d := apart(graph, less(hand, row)); d <= most {
				t.Errorf("%s, -seed %d: gradients of the critic are %v apart without a row, not "+
					"above %v", name, seed, d, most)
			}
			for k, g := range graph {
				train.critic.Parameters()[k] -= .1 * g
			}
		}
		train.close()
	}
}

// switchUnits has each hidden unit of a generator be active at all rows, or at none: biases are 1
// or −1, and weights, 1/64 of what they were, move inputs by some tenths.
func switchUnits(g *gan.Generator) {
	const latent, hidden = 16, 128
	p := g.Parameters()
	for _, in := range []int{latent, hidden} {
		for i := range in * hidden {
			p[i] /= 64
		}
		for j := range hidden {
			p[in*hidden+j] = float32(1 - 2*(j%2))
		}
		p = p[(in+1)*hidden:]
	}
}

// sureBatch draws a batch, from the seed that it returns, at which the signs of the critic's units
// are sure. As hard rows are few, and all are in every batch, biases move until it is there.
func (t *wganTraining) sureBatch(u *rand.Rand) (seed uint64, x matrix.Matrix) {
	layers := t.critic.Network().Layers
	layers = layers[:len(layers)-1]
	for {
		seed = u.Uint64()
		draws := rand.New(rand.NewPCG(seed, 5))
		x = t.fake.Forward(draws)
		gan.MixTo(t.mixed, x, draws)
		if signsSure(layers, x) && signsSure(layers, t.mixed) {
			return seed, x
		}
		for _, layer := range layers {
			for j := range layer.Bias {
				layer.Bias[j] += float32(.01 * u.NormFloat64())
			}
		}
	}
}

// roundingOfCritic is for numbers that go through the layers, their first and second derivatives
// and the sum over rows; their size is that of the rows' gradients, of which it takes every eighth.
// It returns the largest of them too, as its part of the mean.
func (t *wganTraining) roundingOfCritic(rows matrix.Matrix) (most float64, largest []float32) {
	n, tutor := fakes, gan.NewTutor(t.critic, 1)
	for _, size := range t.critic.Sizes() {
		n += 3 * size
	}
	for i := 0; i < fakes; i += 8 {
		gradient, _ := tutor.Gradient(matrix.Dense(1, rows.Cols, rows.Row(i)))
		score := slices.Clone(gradient)
		if w := t.freeWeight(); w > 0 {
			tutor.AddPenalty(matrix.Dense(1, rows.Cols, t.mixed.Row(i)), w, true)
		}
		most += rounding(n) * (norm(score) + norm(less(gradient, score))) * 8 / fakes
		if norm(gradient) > norm(largest) {
			largest = slices.Clone(gradient)
		}
	}
	for k := range largest {
		largest[k] /= fakes
	}
	return most, largest
}

// evenMarginals sells a marginal model of 500 rows, as if all codes were as frequent.
func evenMarginals(s *schema.Schema) func() (Model, error) {
	var ms []marginal.Measurement
	for c, n := range s.Sizes() {
		counts := slices.Repeat([]int64{int64(500 / n)}, n)
		ms = append(ms, marginal.NewMeasurement([]int{c}, nil, counts, 1))
	}
	groups := stattest.Must(marginal.NewGrouping(s.Sizes(), ms, 2))
	m, err := marginal.Fit(context.Background(), groups.Sizes(), ms, marginal.Options{})
	return func() (Model, error) {
		return Model{Params: &release.Marginal{Model: m, Grouping: groups}}, err
	}
}

// signsSure is whether float32 leaves no doubt, in layers of ReLU, about the sign of any unit's
// input at any of the rows. A sum of products, n operations, is off by at most γ_n = nu/(1 − nu)
// times the sum of their absolute values, in any order, with fused operations or without (Higham
// 2002, Accuracy and Stability of Numerical Algorithms, section 3.1); errors of the layer before
// come through its weights. An input all of whose terms are 0 is 0 in any order.
func signsSure(layers []bounds.Layer, rows matrix.Matrix) bool {
	for i := range rows.Rows {
		x, off := make([]float64, rows.Cols), make([]float64, rows.Cols) // inputs, and their errors
		for k, v := range rows.Row(i) {
			x[k] = float64(v)
		}
		for _, layer := range layers {
			units, nu := len(layer.Bias), float64(len(x)+2)*0x1p-24
			next, nextOff := make([]float64, units), make([]float64, units)
			for j, b := range layer.Bias {
				s, size, before := float64(b), math.Abs(float64(b)), 0.
				for k, v := range x {
					w := float64(layer.Weights[k*units+j])
					s += v * w
					size += (v + off[k]) * math.Abs(w)
					before += off[k] * math.Abs(w)
				}
				doubt := before + nu/(1-nu)*size
				if size > 0 && math.Abs(s) <= doubt {
					return false
				}
				if s > 0 {
					next[j], nextOff[j] = s, doubt
				}
			}
			x, off = next, nextOff
		}
	}
	return true
}

// apart is ‖a − b‖.
func apart(a, b []float32) float64 { return norm(less(a, b)) }

// less is a − b.
func less(a, b []float32) []float32 {
	d := slices.Clone(a)
	for k, v := range b {
		d[k] -= v
	}
	return d
}

func norm(x []float32) float64 {
	sum := 0.
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum)
}
