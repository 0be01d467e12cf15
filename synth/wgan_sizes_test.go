package synth

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

// sizes are √(total variance) of the gradient sum's noise at noise multiplier 1, for one critic in
// each mode that clips nothing; and beside them, Interpolates, of the noise that a gradient penalty
// at points between private and generated rows needs, by its norm bound ([bounds.CertifyPenalty]
// with a reach of 1): the reason why the penalty is taken between generated rows by default.
type sizes struct{ Thesis, Box, Residual, Interpolates float64 }

// stepSizes fits a plan of this package and returns the sizes for each critic that it measured:
// what each mode would have cost at every step. The critics are public: they were computed from
// releases.
func stepSizes(ctx context.Context, p *wganPlan, s *privacy.Session) ([]sizes, error) {
	watched := *p
	var out []sizes
	var failed error
	watched.observe = func(c *critic.Critic) {
		x, err := sizesOf(c, s.Neighbours())
		out, failed = append(out, x), errors.Join(failed, err)
	}
	_, err := watched.Fit(ctx, s, nil)
	return out, errors.Join(err, failed)
}

func sizesOf(c *critic.Critic, nb privacy.Neighbours) (sizes, error) {
	var fields []bounds.Field
	for _, m := range c.Encoder().Sizes() {
		fields = append(fields, bounds.Block(m))
	}
	in, err := bounds.NewInput(fields...)
	if err != nil {
		return sizes{}, err
	}
	var size [3]float64
	for i, mode := range []bounds.Mode{bounds.Thesis(), bounds.Box(), bounds.Residual} {
		cert, err := bounds.Certify(c.Network(), in,
			bounds.Config{Mode: mode, Adjacency: nb.Adjacency, UnitRows: max(1, nb.MaxRowsPerUnit)})
		if err != nil {
			return sizes{}, err
		}
		size[i] = cert.TotalStd()
	}
	paid, err := bounds.CertifyPenalty(c.Network(),
		bounds.PenaltyConfig{Adjacency: nb.Adjacency, UnitRows: max(1, nb.MaxRowsPerUnit),
			Reach: 1})
	if err != nil {
		return sizes{}, err
	}
	return sizes{size[0], size[1], size[2], paid.TotalStd()}, nil
}

// ordered reports whether thesis needs at least the noise of box, as it must. Residual has less
// where the sum of the inputs predicts much of the gradient, as on tables of many columns; nothing
// promises it.
func (s sizes) ordered() bool { return s.Thesis >= s.Box }

// TestVarianceOrder: on every step of a run thesis ≥ box.
func TestVarianceOrder(t *testing.T) {
	s := synthtest.Schema(8)
	nb := privacy.NeighboursOf(s, 0)
	tab := synthtest.Table(t, s, 3000)
	for name, c := range map[string]WGAN{"one layer": {}, "two layers": {Hidden: []int{16, 16}}} {
		c.Steps, c.DistilSteps, c.GeneratorSteps, c.PostSteps = 12, 20, 10, 1
		if c.Hidden == nil {
			c.Hidden = []int{16}
		}
		f := checked(&c)
		b := accountant.Budget{Epsilon: 2, Delta: 1e-6}
		p := stattest.Must(NewPlan(f, schema.One(s), nb, b))
		session := stattest.Must(privacy.Open(context.Background(), privacy.FromTable(tab),
			privacy.Options{Budget: b, Plan: p.Reserve, Price: p.Price}))
		sizes, err := stepSizes(context.Background(), p.Plan.(*wganPlan), session)
		if err != nil || len(sizes) != c.Steps {
			t.Fatalf("%s: %d steps, %v", name, len(sizes), err)
		}
		for k, x := range sizes {
			if !x.ordered() || x.Residual <= 0 {
				t.Errorf("%s, step %d: %+v", name, k+1, x)
			}
		}
	}
}

// TestResidualIsTwentyTimesBelowThesis on the shape of the adult table: 15 blocks, 215 cells, 64
// hidden units.
func TestResidualIsTwentyTimesBelowThesis(t *testing.T) {
	shape := []int{16, 9, 16, 16, 16, 7, 15, 6, 5, 2, 16, 16, 16, 57, 2}
	e := stattest.Must(critic.NewEncoderOf(shape))
	u := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		c := stattest.Must(critic.New(e, critic.Options{Hidden: []int{64}, Slope: .2}, u))
		x := stattest.Must(sizesOf(c, privacy.Neighbours{Adjacency: accountant.AddRemove}))
		if !x.ordered() || x.Thesis < 20*x.Residual || x.Residual > x.Box {
			t.Errorf("%+v", x)
		}
		if x.Interpolates < x.Residual || x.Interpolates > 5*x.Residual {
			t.Errorf("a penalty at private rows does not cost one to five times the gradient: %+v",
				x)
		}
	}
}

// TestDepth prints what further hidden layers cost on the shape of the adult table, for random
// critics; the modes stay in order.
func TestDepth(t *testing.T) {
	shape := []int{16, 9, 16, 16, 16, 7, 15, 6, 5, 2, 16, 16, 16, 57, 2}
	e := stattest.Must(critic.NewEncoderOf(shape))
	for _, hidden := range [][]int{{64}, {64, 64}, {64, 128}, {64, 64, 64}} {
		c := stattest.Must(critic.New(e, critic.Options{Hidden: hidden}, rand.New(rand.NewPCG(1, 2))))
		x := stattest.Must(sizesOf(c, privacy.Neighbours{Adjacency: accountant.AddRemove}))
		t.Logf("%v: thesis %.3g, box %.3g, residual %.3g", hidden, x.Thesis, x.Box, x.Residual)
		if !x.ordered() {
			t.Errorf("%v: %+v", hidden, x)
		}
	}
}
