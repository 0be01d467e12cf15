package synth

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/internal/matrix"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
	"github.com/decoy-dp/decoy/privacy/mech/gradient"

	"github.com/decoy-dp/decoy/synth/synthtest"
)

// TestFullBatchesAreGaussian: at rate 1 the whole plan is one Gaussian mechanism, composed in
// closed form, and uses the whole budget.
func TestFullBatchesAreGaussian(t *testing.T) {
	f := checked(&WGAN{})
	s, b := synthtest.Schema(6), accountant.Budget{Epsilon: 1, Delta: 1e-5}
	p := stattest.Must(NewPlan(f, schema.One(s), privacy.NeighboursOf(s, 0), b))
	cost, err := pld.Epsilon(p.Reserve, b.Delta, accountant.AddRemove)
	if err != nil || cost.Method != "gdp" || cost.Epsilon > 1 || cost.Epsilon < 1-1e-6 {
		t.Errorf("%+v, %v", cost, err)
	}
	// σ = 3.730632 for one release of sensitivity 1: 10 % of μ² over the releases.
	plan := p.Plan.(*wganPlan)
	want := 3.730632 * math.Sqrt(float64(plan.cfg.Steps)/.1)
	if got := plan.z; math.Abs(got/want-1) > 1e-5 {
		t.Errorf("noise multiplier %v, want %v", got, want)
	}
}

// TestInterpolatesArePaid: the penalty at interpolates is paid from each gradient sum's event,
// whose number and cost stay the same, and its noise is announced.
func TestInterpolatesArePaid(t *testing.T) {
	s, b := synthtest.Schema(6), accountant.Budget{Epsilon: 1, Delta: 1e-5}
	plans := map[string]*wganPlan{}
	for _, lipschitz := range []string{"penalty", interpolates} {
		f := checked(&WGAN{Steps: 8, Lipschitz: lipschitz})
		p := stattest.Must(NewPlan(f, schema.One(s), privacy.NeighboursOf(s, 0), b))
		plans[lipschitz] = p.Plan.(*wganPlan)
	}
	free, paid := plans["penalty"], plans[interpolates]
	if gradient.Event(free.sum()) != gradient.Event(paid.sum()) || free.penalty().Share != 0 ||
		paid.penalty().Share != .2 {
		t.Errorf("%+v\n%+v", gradient.Event(free.sum()), gradient.Event(paid.sum()))
	}
	got := paid.penalty().GradientMultiplier(paid.z) / free.z
	if math.Abs(got-1/math.Sqrt(.8)) > 1e-9 {
		t.Errorf("the gradient's noise grows by %v, want 1/√(1 − .2)", got)
	}
	if free, paid := free.Forecast(0).Noise, paid.Forecast(0).Noise; len(paid) != len(free)+1 {
		t.Errorf("announced noise: %+v, and with the penalty %+v", free, paid)
	}
}

// TestInterpolatesHoldTheCritic: with little noise a critic that is trained with the penalty at
// interpolates has gradients of norm about 1 between the rows, and one without any Lipschitz
// condition has larger ones.
func TestInterpolatesHoldTheCritic(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, and slow under the race detector")
	}
	tab := numbersTable(t, numbers(), 600)
	norm := func(lipschitz string) float64 {
		f := checked(&WGAN{Lipschitz: lipschitz, Steps: 60, DistilSteps: 1,
			GeneratorSteps: 1, PostSteps: 1, Hidden: []int{16}, MarginalShare: .01})
		b := accountant.Budget{Epsilon: 1e4, Delta: 1e-6}
		p := stattest.Must(NewPlan(f, schema.One(tab.Schema()), privacy.NeighboursOf(tab.Schema(), 0), b))
		session := stattest.Must(privacy.Open(context.Background(), privacy.FromTable(tab),
			privacy.Options{Budget: b, Plan: p.Reserve, Price: p.Price}))
		watched := *p.Plan.(*wganPlan)
		watched.criticRate, watched.penaltyWeight = .05, 10
		if lipschitz != interpolates {
			watched.penaltyWeight = 0
		}
		var c *critic.Critic
		watched.observe = func(now *critic.Critic) { c = now.Clone() }
		stattest.Must(watched.Fit(context.Background(), session, nil))
		const rows = 256
		u := rand.New(rand.NewPCG(1, 1))
		x := matrix.New(rows, c.Encoder().Cells())
		for i := range x.Data {
			x.Data[i] = float32(u.Float64()) / 3
		}
		down := matrix.New(rows, c.Encoder().Cells())
		gan.NewTutor(c, rows).InputTo(down, x)
		sum := 0.
		for i := range rows {
			square := 0.
			for _, v := range down.Row(i) {
				square += float64(v) * float64(v)
			}
			sum += math.Sqrt(square) // of the mean of D: a row's own is rows times that
		}
		return sum
	}
	held, free := norm(interpolates), norm(freePenalty)
	t.Logf("mean gradient norms: %.2f with the penalty, %.2f without", held, free)
	if held > 1.5 || free < 2*held {
		t.Errorf("mean gradient norms: %.2f with the penalty, %.2f without", held, free)
	}
}

// TestAblations: the plain forms plan and fit too, and say what they leave out.
func TestAblations(t *testing.T) {
	tab := synthtest.Table(t, synthtest.Schema(4), 500)
	for name, c := range map[string]WGAN{
		"box": {Mode: "box"}, "thesis": {Mode: "thesis"}, "ball": {Mode: "ball"},
		"spectral": {Lipschitz: "spectral"}, "clip": {Lipschitz: "clip"},
		"target":                            {Target: "column 2"},
		"two layers":                        {Hidden: []int{8, 6}},
		"three layers, box":                 {Hidden: []int{8, 6, 4}, Mode: "box"},
		"two layers, ball":                  {Hidden: []int{8, 6}, Mode: "ball"},
		"two layers, spectral":              {Hidden: []int{8, 6}, Lipschitz: "spectral"},
		"interpolates":                      {Lipschitz: interpolates},
		"two layers, Poisson, interpolates": {Hidden: []int{8, 6}, Rate: .5, Lipschitz: interpolates},
		"ball, interpolates":                {Mode: "ball", Lipschitz: interpolates},
		"gorgonia":                          {Engine: gorgonia},
		"gorgonia, two layers, interpolates": {Engine: gorgonia, Hidden: []int{8, 6},
			Lipschitz: interpolates},
	} {
		c.Steps, c.DistilSteps, c.GeneratorSteps, c.PostSteps = 3, 2, 1, 3
		if c.Hidden == nil {
			c.Hidden = []int{8}
		}
		f := checked(&c)
		m := Fit(t, f, tab, accountant.Budget{Epsilon: 1, Delta: 1e-6})
		if _, err := m.Verify(pld.Epsilon); err != nil || gradients(m) != 3 {
			t.Errorf("%s: %d gradient sums, want 3, %v", name, gradients(m), err)
		}
	}
}

// gradients is how many gradient sums a model was bought with.
func gradients(m *release.Model) (n int) {
	for _, e := range m.Ledger {
		if e.Label == "gradient sum" {
			n++
		}
	}
	return n
}

// TestTinyBudgets: a budget that buys nothing but noise is spent without an error in each form of
// the critic.
func TestTinyBudgets(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, and slow under the race detector")
	}
	tab := synthtest.Table(t, synthtest.Schema(4), 300)
	for name, c := range map[string]WGAN{"residual": {},
		"box, two layers": {Mode: "box", Hidden: []int{8, 6}}, "ball": {Mode: "ball"},
		"interpolates": {Lipschitz: interpolates}} {
		c.Steps, c.DistilSteps, c.GeneratorSteps, c.PostSteps = 3, 5, 1, 4
		if c.Hidden == nil {
			c.Hidden = []int{8}
		}
		m := Fit(t, checked(&c), tab, accountant.Budget{Epsilon: 1e-5, Delta: 1e-9})
		stattest.Passes(t, stattest.Err(m.Verify(pld.Epsilon)), "%s", name)
	}
}

func TestPoissonBatches(t *testing.T) {
	f, err := Checked(&WGAN{Rate: .2, Steps: 6, DistilSteps: 50, GeneratorSteps: 5, PostSteps: 50,
		Hidden: []int{16}})
	stattest.Check(t, err)
	tab := synthtest.Table(t, synthtest.Schema(4), 2000)
	m := Fit(t, f, tab, accountant.Budget{Epsilon: 2, Delta: 1e-6})
	if v, err := m.Verify(pld.Epsilon); err != nil || v.Reserved.Method != "pld" {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestParallelFits: fits in parallel, of one fitter on one table, each give a model. Run with -race
// it shows that they share nothing that is written.
func TestParallelFits(t *testing.T) {
	f := stattest.Must(Checked(&WGAN{Steps: 3, DistilSteps: 5, GeneratorSteps: 4, PostSteps: 10,
		Hidden: []int{8}}))
	tab := synthtest.Table(t, synthtest.Schema(4), 500)
	for i := range 2 {
		t.Run(fmt.Sprint("fit ", i), func(t *testing.T) {
			t.Parallel()
			m := Fit(t, f, tab, accountant.Budget{Epsilon: 1, Delta: 1e-6})
			if got := Sample(t, m, 100, uint64(i)).Rows(); got != 100 {
				t.Errorf("%d rows", got)
			}
		})
	}
}
