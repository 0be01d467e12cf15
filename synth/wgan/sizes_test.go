package wgan

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

// TestVarianceOrder: on every step of a run, with critics that are trained and random ones, thesis
// ≥ box.
func TestVarianceOrder(t *testing.T) {
	s := synthtest.Schema(8)
	nb := privacy.NeighboursOf(s, 0)
	tab := synthtest.Table(t, s, 3000)
	for name, c := range map[string]Config{"trained": {}, "fresh": {FreshCritics: true},
		"trained, leaky": {Slope: .2, CriticRate: .05}, "two layers": {Hidden: []int{16, 16}}} {
		c.Steps, c.DistilSteps, c.GeneratorSteps, c.PostSteps, c.Batch = 12, 20, 10, 1, 128
		if c.Hidden == nil {
			c.Hidden = []int{16}
		}
		f := synthtest.Must(New(c))
		b := accountant.Budget{Epsilon: 2, Delta: 1e-6}
		p := synthtest.Must(f.Plan(s, nb, b))
		session, err := privacy.Open(context.Background(), privacy.FromTable(tab),
			privacy.Options{Budget: b, Plan: p.Composition(), Price: synth.PriceOf(p)})
		if err != nil {
			t.Fatal(err)
		}
		sizes, err := StepSizes(context.Background(), p, session)
		if err != nil || len(sizes) != c.Steps {
			t.Fatalf("%s: %d steps, %v", name, len(sizes), err)
		}
		for k, x := range sizes {
			if !x.Ordered() || x.Residual <= 0 {
				t.Errorf("%s, step %d: %+v", name, k+1, x)
			}
		}
	}
	if _, err := StepSizes(context.Background(), nil, nil); !errors.Is(err, synth.ErrConfig) {
		t.Errorf("a plan of another method: %v", err)
	}
	if (Sizes{Thesis: 1, Box: 2}).Ordered() {
		t.Error("a wrong order is accepted")
	}
}

// TestResidualIsTwentyTimesBelowThesis on the shape of the adult table: 15 blocks, 215 cells, 64
// hidden units.
func TestResidualIsTwentyTimesBelowThesis(t *testing.T) {
	shape := []int{16, 9, 16, 16, 16, 7, 15, 6, 5, 2, 16, 16, 16, 57, 2}
	e := synthtest.Must(critic.NewEncoderOf(shape))
	var fields []bounds.Field
	for _, m := range shape {
		fields = append(fields, bounds.Block(m))
	}
	in := synthtest.Must(bounds.NewInput(fields...))
	u := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		c := synthtest.Must(critic.New(e, critic.Options{Hidden: []int{64}, Slope: .2}, u))
		x := synthtest.Must(sizesOf(c, in, privacy.Neighbours{Adjacency: accountant.AddRemove}))
		if !x.Ordered() || x.Thesis < 20*x.Residual || x.Residual > x.Box {
			t.Errorf("%+v", x)
		}
		if x.Interpolates < x.Residual || x.Interpolates > 5*x.Residual {
			t.Errorf("a penalty at private rows does not cost one to five times the gradient: %+v",
				x)
		}
	}
}

// TestDepth prints what further hidden layers cost on the shape of the adult table, for random
// critics, and what it saves that the critic sees six columns of 16 bins as one number each; the
// modes stay in order.
func TestDepth(t *testing.T) {
	shape := []int{16, 9, 16, 16, 16, 7, 15, 6, 5, 2, 16, 16, 16, 57, 2}
	one, fields, some := make([]bool, len(shape)), []bounds.Field(nil), []bounds.Field(nil)
	for k, m := range shape {
		fields, some = append(fields, bounds.Block(m)), append(some, bounds.Block(m))
		if one[k] = m == 16 && k != 3; one[k] {
			some[k] = bounds.Scalar(0, 1)
		}
	}
	e := synthtest.Must(critic.NewEncoderOf(shape))
	folded := synthtest.Must(e.Scaled(one))
	for _, c := range []struct {
		name    string
		encoder *critic.Encoder
		fields  []bounds.Field
	}{{"one-hot", e, fields}, {"scaled", folded, some}} {
		in := synthtest.Must(bounds.NewInput(c.fields...))
		for _, hidden := range [][]int{{64}, {64, 64}, {64, 128}, {64, 64, 64}} {
			critic, err := critic.New(c.encoder, critic.Options{Hidden: hidden},
				rand.New(rand.NewPCG(1, 2)))
			if err != nil {
				t.Fatal(err)
			}
			x, err := sizesOf(critic, in, privacy.Neighbours{Adjacency: accountant.AddRemove})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s, %v: thesis %.3g, box %.3g, residual %.3g", c.name, hidden,
				x.Thesis, x.Box, x.Residual)
			if !x.Ordered() {
				t.Errorf("%s, %v: %+v", c.name, hidden, x)
			}
		}
	}
}
