package synth

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/internal/matrix"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/mech/gradient"
)

// training is the state of a fit. Nothing in it has seen a private row: it holds releases and what
// was computed from them.
type wganTraining struct {
	*wganPlan
	distilling
	rows    float64        // noisy number of rows, at least 1
	bought  map[string]any // settings of the marginal model
	critic  *critic.Critic
	history *gan.History
	tutor   *gan.Tutor
	fake    *gan.Pass
	mixed   matrix.Matrix
	adam    *matrix.Adam // of the critic
	// Of engine gorgonia; else nil.
	generatorGraph *gan.GeneratorGraph
	criticGraph    *gan.CriticGraph
}

// Fit runs the plan on an open session. It buys a marginal model and distils the generator from its
// rows. Then each of the steps certifies the critic and releases the mean of its gradient over the
// private rows, keeps that as a measurement, moves the critic by it, and lets the generator take
// steps towards all measurements so far and the marginal model.
func (p *wganPlan) Fit(
	ctx context.Context, s *privacy.Session, progress Progress,
) (fitted Model, err error) {
	return p.train(ctx, p.source(ctx, s, progress), progress)
}

// source is a session, which sells what the plan has reserved.
func (p *wganPlan) source(ctx context.Context, s *privacy.Session, progress Progress) Source {
	a, b := publicSeed(s)
	return Source{
		Seed:      [2]uint64{a, b},
		marginals: func() (Model, error) { return p.marginals.Fit(ctx, s, progress) },
		released:  func(t *wganTraining) (gradient.Pair, float64, error) { return t.release(s) },
	}
}

// train is Fit with what it knows of private rows from a source.
func (p *wganPlan) train(
	ctx context.Context, from Source, progress Progress,
) (fitted Model, err error) {
	t, err := p.start(from)
	if err != nil {
		return fitted, err
	}
	defer t.close()
	c := t.cfg
	steps := stepper{ctx: ctx, progress: progress, first: c.DistilSteps,
		later: c.Steps*c.GeneratorSteps + c.PostSteps}
	if err := steps.alone(&t.distilling); err != nil {
		return fitted, err
	}
	refine := func() error { return t.generatorStep(steps.rate()) }
	for k := range c.Steps {
		if p.observe != nil {
			p.observe(t.critic)
		}
		steps.tell(fmt.Sprintf("release %d of %d", k+1, c.Steps))
		released, multiplier, err := from.released(t)
		if err != nil {
			return fitted, err
		}
		gradient, err := t.remember(released.Certified, multiplier)
		if err != nil {
			return fitted, err
		}
		if err := t.criticStep(gradient, released); err != nil {
			return fitted, err
		}
		stage := fmt.Sprintf("step %d of %d, noise multiplier %.3g, certificate %.3g", k+1,
			c.Steps, t.z, released.Certificate.TotalStd())
		if err := steps.take(c.GeneratorSteps, stage, refine); err != nil {
			return fitted, err
		}
	}
	stage := fmt.Sprintf("replaying %d measurements, noise multiplier %.3g", t.history.Len(), t.z)
	if err := steps.take(c.PostSteps, stage, refine); err != nil {
		return fitted, err
	}
	t.distil.Settle()
	return Model{Params: t.released, Settings: t.settings()}, nil
}

// settings are those of the model.
func (t *wganTraining) settings() map[string]any {
	c := t.cfg
	out := map[string]any{
		"certificate": c.Mode, "steps": c.Steps, "rate": c.Rate,
		"marginal_share": c.MarginalShare, "noise_multiplier": t.z, "hidden": c.Hidden,
		"engine":          c.Engine,
		"generator_steps": c.DistilSteps + c.Steps*c.GeneratorSteps + c.PostSteps,
	}
	for _, key := range []string{"marginals", "tree", "parties"} { // which were chosen, and whose
		if x, ok := t.bought[key]; ok {
			out[key] = x
		}
	}
	if c.Target != "" {
		out["target"] = c.Target
	}
	if p := t.penalty(); p.Share > 0 {
		out["penalty_share"], out["penalty_reach"] = p.Share, p.Reach
	}
	return out
}

// What the generator and the critic are trained with.
const (
	fakes       = 4096 // generated rows that a step of the critic looks at
	snapshots   = 4    // measurements that it looks at
	weightLimit = 1    // of each layer's spectral norm, or of every weight
)

// start buys the marginal model and makes the networks.
func (p *wganPlan) start(from Source) (*wganTraining, error) {
	t := &wganTraining{wganPlan: p}
	t.u = rand.New(rand.NewPCG(from.Seed[0], from.Seed[1]))
	model, err := from.marginals()
	if err != nil {
		return nil, err
	}
	t.rows, t.bought = max(1, model.Params.Total()), model.Settings
	if err = t.begin(p.schema, model.Params.(*release.Marginal)); err == nil {
		t.critic, err = critic.New(t.encoder, critic.Options{Hidden: t.cfg.Hidden}, t.u)
	}
	if err != nil {
		return nil, err
	}
	t.history = gan.NewHistory(t.critic)
	t.fake = t.generator.NewPass(fakes, gan.Head{Hard: true})
	t.mixed = matrix.New(fakes, t.encoder.Cells())
	t.tutor = gan.NewTutor(t.critic, fakes)
	if t.cfg.Engine == gorgonia {
		t.generatorGraph = t.pass.Graph() // the graphs share the parameters of the networks
		t.criticGraph = gan.NewCriticGraph(t.critic, fakes, t.freeWeight(), true)
	}
	t.adam = matrix.NewAdam(len(t.critic.Parameters()), .5, .9)
	return t, nil
}

// release buys the critic's gradient sum, with the noise multiplier that has.
func (t *wganTraining) release(s *privacy.Session) (gradient.Pair, float64, error) {
	p, beside := t.wganPlan.sum(), t.penalty()
	multiplier := beside.GradientMultiplier(t.z)
	if !p.Mode.Clipped() && beside.Share == 0 {
		sum, err := gradient.CertifiedSum(s, p, t.critic.Network())
		return gradient.Pair{Certified: sum}, multiplier, err
	}
	if beside.Share > 0 {
		beside.Generated = t.fake.Forward(t.u).Data
	}
	released, err := gradient.ClippedSum(s, p, beside, t.critic.Network())
	return released, multiplier, err
}

// generatorStep moves the generator towards agreement with a random few of the measurements, and
// towards the pairs of the marginal model, at the given learning rate. It is post-processing.
func (t *wganTraining) generatorStep(rate float64) error {
	picks := make([]int, min(snapshots, t.history.Len()))
	rows := t.pass.Forward(t.u)
	for i := range picks {
		picks[i] = t.u.IntN(t.history.Len())
	}
	t.history.GradientTo(t.down, rows, picks)
	gradient, err := t.generatorGradient()
	if err != nil {
		return err
	}
	for i, g := range t.distil.Gradient(t.u) {
		gradient[i] += g
	}
	t.distil.Update(gradient, rate)
	return nil
}
