package wgan

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/gan/critic"
	sums "github.com/decoy-dp/decoy/gan/critic/clipped"
	"github.com/decoy-dp/decoy/internal/matrix"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/gradient"
	"github.com/decoy-dp/decoy/privacy/gradient/clipped"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/synth"
)

// training is the state of a fit. Nothing in it has seen a private row: it holds releases and what
// was computed from them.
type training struct {
	*plan
	encoder   *critic.Encoder
	u         *rand.Rand
	rows      float64        // noisy number of rows, at least 1
	bought    map[string]any // settings of the marginal model
	distil    *distillation
	released  *release.Generator
	generator *gan.Generator
	critic    *critic.Critic
	history   *gan.History
	pass      *gan.Pass
	tutor     *gan.Tutor
	fake      *gan.Pass
	judge     *gan.Tutor // without replay: the critic's score of the generator's batch
	mixed     matrix.Matrix
	down      matrix.Matrix
	folded    matrix.Matrix // generated rows as the critic sees them, with scaled columns
	adamG     *matrix.Adam
	average   []float32 // moving average of the generator's parameters: what is released
	adamC     *matrix.Adam
	// Of engine gorgonia; else nil.
	generatorGraph *gan.GeneratorGraph
	criticGraph    *gan.CriticGraph
}

// Fit runs the plan on an open session. It buys a marginal model and distils the generator from its
// rows. Then each of the steps certifies the critic and releases the mean of its gradient over the
// private rows, keeps that as a measurement, moves the critic by it, and lets the generator take
// steps towards all measurements so far and the marginal model.
func (p *plan) Fit(
	ctx context.Context, s *privacy.Session, progress synth.Progress,
) (fitted synth.Model, err error) {
	return p.train(ctx, p.source(ctx, s, progress), progress)
}

// source is a session, which sells what the plan has reserved.
func (p *plan) source(ctx context.Context, s *privacy.Session, progress synth.Progress) Source {
	a, b := synth.Seed(s)
	return Source{
		Seed:      [2]uint64{a, b},
		Marginals: func() (synth.Model, error) { return p.marginals.Fit(ctx, s, progress) },
		released:  func(t *training) (clipped.Released, float64, error) { return t.release(s) },
	}
}

// train is Fit with what it knows of private rows from a source.
func (p *plan) train(
	ctx context.Context, from Source, progress synth.Progress,
) (fitted synth.Model, err error) {
	t, err := p.start(from)
	if err != nil {
		return fitted, err
	}
	defer t.close()
	c := t.cfg
	trained := c.Steps*c.GeneratorSteps + c.PostSteps
	done := 0
	generate := func(steps int, stage string, step func(k int) error) error {
		for k := range steps {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := step(k); err != nil {
				return err
			}
			if done++; done%16 == 0 {
				progress.Report(stage, float64(done)/float64(c.DistilSteps+trained))
			}
		}
		return nil
	}
	if err := generate(c.DistilSteps, "distilling the marginal model", func(k int) error {
		t.distilStep(float64(k) / float64(c.DistilSteps))
		return nil
	}); err != nil {
		return fitted, err
	}
	copy(t.generator.Parameters(), t.average)
	first := done
	refine := func(int) error {
		fall := float64(done-first) / float64(trained)
		return t.generatorStep(c.GeneratorRate * (1 - .9*fall))
	}
	for k := range c.Steps {
		if p.observe != nil {
			p.observe(t.critic)
		}
		progress.Report(fmt.Sprintf("release %d of %d", k+1, c.Steps),
			float64(done)/float64(c.DistilSteps+trained))
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
		if err := generate(c.GeneratorSteps, stage, refine); err != nil {
			return fitted, err
		}
	}
	stage := fmt.Sprintf("replaying %d measurements, noise multiplier %.3g", t.history.Len(), t.z)
	if err := generate(c.PostSteps, stage, refine); err != nil {
		return fitted, err
	}
	copy(t.generator.Parameters(), t.average)
	if c.Unsteered {
		t.released = &release.Generator{Net: t.generator, Rows: t.rows}
	}
	fitted.Params = t.released
	fitted.Settings = map[string]any{
		"certificate": c.Mode, "steps": c.Steps, "rate": c.Rate,
		"marginal_share": c.MarginalShare, "noise_multiplier": t.z, "hidden": c.Hidden,
		"generator_units": c.GeneratorUnits, "engine": c.Engine,
		"generator_steps": c.DistilSteps + trained,
	}
	for _, key := range []string{"marginals", "tree", "parties"} { // which were chosen, and whose
		if x, ok := t.bought[key]; ok {
			fitted.Settings[key] = x
		}
	}
	if c.Unsteered {
		fitted.Settings["unsteered"] = true
	}
	if c.Target != "" {
		fitted.Settings["target"] = c.Target
	}
	if c.Lipschitz == interpolates {
		fitted.Settings["penalty_share"] = c.PenaltyShare
		fitted.Settings["penalty_reach"] = c.PenaltyReach
	}
	return fitted, nil
}

// fakes is how many generated rows a step of the critic looks at.
const fakes = 4096

// start buys the marginal model and makes the networks.
func (p *plan) start(from Source) (*training, error) {
	e, err := critic.NewEncoder(p.schema)
	if err != nil {
		return nil, err
	}
	t := &training{plan: p, u: rand.New(rand.NewPCG(from.Seed[0], from.Seed[1]))}
	t.encoder = e
	if p.scaled != nil {
		if t.encoder, err = e.Scaled(p.scaled); err != nil {
			return nil, err
		}
	}
	model, err := from.Marginals()
	if err != nil {
		return nil, err
	}
	t.rows, t.bought = max(1, model.Params.Total()), model.Settings
	t.plan = p.sized(t.rows)
	c := t.cfg
	if t.generator, err = gan.NewGenerator(e, gan.GeneratorOptions{Latent: latent,
		Hidden: c.GeneratorUnits}, t.u); err != nil {
		return nil, err
	}
	marginals := model.Params.(*release.Marginal)
	t.released = &release.Generator{Net: t.generator, Rows: t.rows, Toward: &release.Marginal{
		Model: marginals.Model, Grouping: marginals.Grouping}}
	t.distil = newDistillation(t.released)
	if t.critic, err = t.newCritic(); err != nil {
		return nil, err
	}
	t.history = gan.NewHistory(t.critic)
	t.pass = t.generator.NewPass(c.Batch, gan.Head{Hard: c.Head == straightThrough,
		Temperature: float32(c.Temperature)})
	t.down = matrix.New(c.Batch, e.Cells())
	t.fake = t.generator.NewPass(fakes, gan.Head{Hard: true})
	t.mixed = matrix.New(fakes, t.encoder.Inputs())
	t.average = slices.Clone(t.generator.Parameters())
	t.tutor = gan.NewTutor(t.critic, fakes)
	if c.NoReplay {
		t.judge = gan.NewTutor(t.critic, c.Batch)
	}
	if c.Engine == gorgonia {
		t.graphs()
	}
	t.adamG = matrix.NewAdam(len(t.generator.Parameters()), .9, .99)
	t.adamC = matrix.NewAdam(len(t.critic.Parameters()), .5, .9)
	return t, nil
}

// release certifies the critic and buys its gradient sum, with the noise multiplier that has.
func (t *training) release(s *privacy.Session) (clipped.Released, float64, error) {
	p, multiplier := t.plan.sum(), t.penalty().GradientMultiplier(t.z)
	if !p.Mode.Clipped() && p.Penalty.Share == 0 {
		sum, err := gradient.CertifiedSum(s, p.CertifiedPlan, t.critic)
		return clipped.Released{Certified: sum}, multiplier, err
	}
	shown := sums.Critic{Critic: t.critic}
	if p.Penalty.Share > 0 {
		shown.Generated = t.seen(&t.folded, t.fake.Forward(t.u)).Data
	}
	released, err := clipped.Sum(s, p, shown)
	return released, multiplier, err
}

func (t *training) newCritic() (*critic.Critic, error) {
	return critic.New(t.encoder, critic.Options{Hidden: t.cfg.Hidden,
		Slope: float32(t.cfg.Slope)}, t.u)
}

// generatorStep moves the generator towards agreement with a random few of the measurements, or
// without replay towards a better score of the critic, and towards the pairs of the marginal model,
// at the given learning rate. It is post-processing.
func (t *training) generatorStep(rate float64) error {
	if t.cfg.NoReplay {
		t.judgeTo(t.down, t.pass.Forward(t.u))
		for i := range t.down.Data {
			t.down.Data[i] *= -1
		}
	} else {
		t.history.GradientTo(t.down, t.pass.Forward(t.u), t.picks())
	}
	gradient, err := t.generatorGradient()
	if err != nil {
		return err
	}
	for i, g := range t.distil.gradient(t.cfg.TableWeight, t.u) {
		gradient[i] += g
	}
	t.update(gradient, rate)
	return nil
}

// update moves the generator and the average of its parameters.
func (t *training) update(gradient []float32, rate float64) {
	t.adamG.Update(t.generator.Parameters(), gradient, float32(rate))
	for i, w := range t.generator.Parameters() {
		t.average[i] += averageRate * (w - t.average[i])
	}
}

// picks draws the measurements of a generator step.
func (t *training) picks() []int {
	picks := make([]int, min(t.cfg.Snapshots, t.history.Len()))
	for i := range picks {
		picks[i] = t.u.IntN(t.history.Len())
	}
	return picks
}

// averageRate is the weight of the newest parameters in the moving average, which takes the noise
// of single steps off.
const averageRate = .01
