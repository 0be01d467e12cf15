package synth

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

// TestEnginesAgree: in one and the same training both engines give the same gradients of the
// generator and of the critic, up to rounding.
func TestEnginesAgree(t *testing.T) {
	for name, c := range map[string]WGAN{
		"default": {}, "two layers": {Hidden: []int{12, 6}}, "no penalty": {Lipschitz: "clip"},
		"heavy penalty": {},
	} {
		c.Engine, c.Steps = gorgonia, 2
		f := checked(&c)
		s, b := synthtest.Schema(4), accountant.Budget{Epsilon: 2, Delta: 1e-6}
		p := stattest.Must(NewPlan(f, s, privacy.NeighboursOf(s, 0), b))
		session, err := privacy.Open(context.Background(), privacy.FromTable(synthtest.Table(t, s,
			500)), privacy.Options{Budget: b, Plan: p.Reserve, Price: p.Price})
		if err != nil {
			t.Fatal(err)
		}
		open := p.Plan.(*wganPlan)
		if name == "heavy penalty" {
			open.penaltyWeight = 100
		}
		train := stattest.Must(open.start(open.source(context.Background(), session, nil)))
		both := func(gradient func() ([]float32, error)) (graph, hand []float32) {
			train.u = rand.New(rand.NewPCG(5, 5))
			g := stattest.Must(gradient())
			graph = slices.Clone(g)
			generator, critic := train.generatorGraph, train.criticGraph
			train.generatorGraph, train.criticGraph = nil, nil
			train.u = rand.New(rand.NewPCG(5, 5))
			hand, _ = gradient()
			train.generatorGraph, train.criticGraph = generator, critic
			return graph, hand
		}
		for range 3 {
			down := make([]float32, len(train.down.Data))
			for i := range down {
				down[i] = float32(rand.NormFloat64())
			}
			graph, hand := both(func() ([]float32, error) {
				train.pass.Forward(train.u)
				copy(train.down.Data, down)
				return train.generatorGradient()
			})
			if d := apart(graph, hand); d > 1e-5 {
				t.Errorf("%s: gradients of the generator are %v apart", name, d)
			}
			graph, hand = both(func() ([]float32,
				error) {
				return train.criticGradient(train.fake.Forward(train.u))
			})
			if d := apart(graph, hand); d > 1e-4 {
				t.Errorf("%s: gradients of the critic are %v apart", name, d)
			}
			for k, g := range graph {
				train.critic.Parameters()[k] += .1 * g
			}
		}
		train.close()
	}
}

// apart is ‖a − b‖/‖b‖.
func apart(a, b []float32) float64 {
	d, n := 0., 0.
	for k := range b {
		d += float64(a[k]-b[k]) * float64(a[k]-b[k])
		n += float64(b[k]) * float64(b[k])
	}
	return math.Sqrt(d / n)
}
