package wgan

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/internal/kernels"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/synth"
)

// critic shows a gan.Critic to the gate.
type critic struct{ *gan.Critic }

// Network shows the weights.
func (c critic) Network() bounds.Network[float32] {
	n := bounds.Network[float32]{Slope: c.Slope()}
	for l := range c.Layers() {
		w, b := c.Layer(l)
		n.Layers = append(n.Layers, bounds.Layer[float32]{Weights: w, Bias: b})
	}
	return n
}

// training is the state of a fit. Nothing in it has seen a private row: it holds releases and what was computed from them.
type training struct {
	cfg       Config
	u         *rand.Rand
	rows      float64 // noisy number of rows, at least 1
	rowsError float64 // its relative standard deviation
	inputs    []float32
	inputSDs  []float32
	generator *gan.Generator
	critic    *gan.Critic
	replay    *gan.Replay
	pass      *gan.Pass
	tutor     *gan.Tutor
	fake      *gan.Pass
	judge     *gan.Tutor // without replay: the critic's score of the generator's batch
	mixed     kernels.Matrix
	down      kernels.Matrix
	adamG     *kernels.Adam
	average   []float32 // moving average of the generator's parameters: what is released
	adamC     *kernels.Adam
	size      float64 // of the last certificate
}

// Fit runs the plan on an open session.
func (p *plan) Fit(ctx context.Context, s *privacy.Session, progress synth.Progress) (synth.Model, error) {
	var fitted synth.Model
	progress.Report("counting", 0)
	if err := ctx.Err(); err != nil {
		return fitted, err
	}
	t, err := p.start(s)
	if err != nil {
		return fitted, err
	}
	c := p.cfg
	total := float64(c.Steps*c.GeneratorSteps + c.PostSteps)
	done := 0
	generate := func(steps int, stage string, decay float64) error {
		for k := range steps {
			if err := ctx.Err(); err != nil {
				return err
			}
			t.generatorStep(c.GeneratorRate * (1 - decay*float64(k)/float64(steps)))
			if done++; done%16 == 0 {
				progress.Report(stage, float64(done)/total)
			}
		}
		return nil
	}
	for k := range c.Steps {
		release, err := s.CertifiedSum("critic gradient", p.sum(), critic{t.critic})
		if err != nil {
			return fitted, err
		}
		if err := t.learn(release, p.z); err != nil {
			return fitted, err
		}
		stage := fmt.Sprintf("step %d of %d, noise multiplier %.3g, certificate %.3g", k+1, c.Steps, p.z, t.size)
		if err := generate(c.GeneratorSteps, stage, 0); err != nil {
			return fitted, err
		}
	}
	if err := generate(c.PostSteps, "replaying measurements", .9); err != nil {
		return fitted, err
	}
	copy(t.generator.Parameters(), t.average)
	fitted.Params = &release.Generator{Net: t.generator, Rows: t.rows}
	fitted.Settings = map[string]any{
		"certificate": c.Mode.String(), "steps": c.Steps, "rate": c.Rate, "noise_multiplier": p.z, "hidden": c.Hidden,
		"total_sigma": p.total, "one_way_sigma": p.oneWay, "generator_steps": c.Steps*c.GeneratorSteps + c.PostSteps,
	}
	return fitted, nil
}

// start buys the number of rows and the one-way marginals, and makes the networks.
func (p *plan) start(s *privacy.Session) (*training, error) {
	c := p.cfg
	e, err := gan.NewEncoder(p.schema)
	if err != nil {
		return nil, err
	}
	t := &training{cfg: c, u: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))}
	n, err := s.Total("number of rows", p.total)
	if err != nil {
		return nil, err
	}
	t.rows = max(1, float64(n))
	t.rowsError = p.total / t.rows
	if t.generator, err = gan.NewGenerator(e, gan.GeneratorOptions{}, t.u); err != nil {
		return nil, err
	}
	if !c.ColdStart {
		start, err := p.marginals(s, t)
		if err != nil {
			return nil, err
		}
		t.generator.SetMarginals(start, .5)
	}
	if t.critic, err = gan.NewCritic(e, gan.CriticOptions{Hidden: []int{c.Hidden}, Slope: float32(c.Slope)}, t.u); err != nil {
		return nil, err
	}
	t.replay = gan.NewReplay(e, c.Hidden, float32(c.Slope))
	t.pass = t.generator.NewPass(c.Batch, gan.Head{Hard: true})
	t.down = kernels.New(c.Batch, e.Cells())
	const fakes = 4096
	t.tutor = t.critic.NewTutor(fakes)
	t.fake = t.generator.NewPass(fakes, gan.Head{Hard: true})
	t.mixed = kernels.New(fakes, e.Cells())
	if c.NoReplay {
		t.judge = t.critic.NewTutor(c.Batch)
	}
	t.adamG = kernels.NewAdam(len(t.generator.Parameters()), .5, .9)
	t.average = slices.Clone(t.generator.Parameters())
	t.adamC = kernels.NewAdam(len(t.critic.Parameters()), .5, .9)
	return t, nil
}

// marginals buys the one-way marginals, keeps them as measurements of the inputs, and returns the probabilities of all cells.
func (p *plan) marginals(s *privacy.Session, t *training) (start []float64, err error) {
	for i := range p.schema.Columns {
		m, err := s.Counts("one-way marginal", privacy.Marginal{Cols: []int{i}}, p.oneWay)
		if err != nil {
			return nil, err
		}
		probabilities := make([]float64, len(m.Counts))
		sum := 0.0
		for k, x := range m.Counts {
			t.inputs = append(t.inputs, float32(float64(x)/t.rows))
			t.inputSDs = append(t.inputSDs, t.deviation(p.oneWay/t.rows, float64(x)/t.rows, 0))
			probabilities[k] = max(float64(x), 0)
			sum += probabilities[k]
		}
		for k := range probabilities {
			if sum > 0 {
				probabilities[k] /= sum
			} else {
				probabilities[k] = 1 / float64(len(probabilities))
			}
		}
		start = append(start, probabilities...)
	}
	return start, nil
}

// learn keeps a release as a measurement and takes the critic's step.
func (t *training) learn(r privacy.Certified, z float64) error {
	cert, batch := r.Certificate, t.cfg.Rate*t.rows
	t.size = cert.TotalStd()
	gradient := make([]float64, cert.Parameters())
	var inputs []float64
	if cert.Inputs() > 0 {
		inputs = make([]float64, cert.Inputs())
	}
	cert.DecodeTo(gradient, inputs, r.Released, batch)
	for k := range gradient {
		gradient[k] /= batch
	}
	for k := range inputs {
		inputs[k] /= batch
	}
	if err := t.replay.Add(t.snapshot(cert, gradient, inputs, z*1/batch)); err != nil {
		return err
	}
	x := t.fake.Forward(t.u)
	got, _ := t.tutor.Gradient(x)
	gan.MixTo(t.mixed, x, t.u)
	t.tutor.AddPenalty(t.mixed, float32(t.cfg.Penalty), true)
	for k := range got {
		got[k] -= float32(gradient[k])
	}
	t.adamC.Update(t.critic.Parameters(), got, float32(t.cfg.CriticRate))
	return nil
}

// snapshot is a release as the replay takes it: means in units of the data, less what the inputs predict, and their standard deviations.
func (t *training) snapshot(cert *bounds.Certificate, gradient, inputs []float64, zPerRow float64) gan.Snapshot {
	w, b := t.critic.Layer(0)
	out, _ := t.critic.Layer(1)
	scales := cert.Scales()[cert.Inputs():]
	sds := make([]float32, len(gradient))
	means := make([]float32, len(gradient))
	for k := range gradient {
		sds[k] = t.deviation(scales[k]*zPerRow, gradient[k], cert.Factor())
		means[k] = float32(gradient[k])
	}
	s := gan.Snapshot{Slope: t.critic.Slope(), Weights: w, Bias: b, Output: out, MeanInputs: t.inputs, SDInputs: t.inputSDs}
	if cert.Inputs() > 0 {
		weights, output := make([]float64, len(w)), make([]float64, len(w))
		cert.PredictorTo(weights, output)
		s.PredictWeights, s.PredictOut = narrow(weights), narrow(output)
		h := len(b)
		for i, x := range inputs {
			for j := range h {
				means[i*h+j] -= float32(weights[i*h+j] * x)
				means[len(w)+h+j] -= float32(output[i*h+j] * x)
			}
		}
		s.MeanInputs = narrow(inputs)
		s.SDInputs = make([]float32, len(inputs))
		for k, c := range cert.Scales()[:cert.Inputs()] {
			s.SDInputs[k] = t.deviation(c*zPerRow, inputs[k], 0)
		}
	}
	cut := func(x []float32) (weights, bias, output []float32) {
		return x[:len(w)], x[len(w) : len(w)+len(b)], x[len(w)+len(b):][:len(out)]
	}
	s.MeanWeights, s.MeanBias, s.MeanOut = cut(means)
	s.SDWeights, s.SDBias, s.SDOut = cut(sds)
	return s
}

// deviation is the standard deviation of a mean: that of its noise, of the noisy number of rows it was divided by, and of the grid that the gate rounds
// factors to and the generator does not. Without the last two a coordinate that hardly needs noise would drown all others.
func (t *training) deviation(noise, mean, grid float64) float32 {
	scale := mean * t.rowsError
	return float32(math.Sqrt(noise*noise + scale*scale + grid*grid))
}

func narrow(x []float64) []float32 {
	out := make([]float32, len(x))
	for k, v := range x {
		out[k] = float32(v)
	}
	return out
}

// generatorStep moves the generator towards agreement with a random few of the measurements, or without replay towards a better
// score of the critic, at the given learning rate. It is post-processing.
func (t *training) generatorStep(rate float64) {
	if t.cfg.NoReplay {
		t.judge.InputTo(t.down, t.pass.Forward(t.u))
		for i := range t.down.Data {
			t.down.Data[i] *= -1
		}
	} else {
		t.replay.GradientTo(t.down, t.pass.Forward(t.u), t.picks())
	}
	t.adamG.Update(t.generator.Parameters(), t.pass.Backward(t.down), float32(rate))
	for i, w := range t.generator.Parameters() {
		t.average[i] += averageRate * (w - t.average[i])
	}
}

// picks draws the measurements of a generator step.
func (t *training) picks() []int {
	picks := make([]int, min(t.cfg.Snapshots, t.replay.Len()))
	for i := range picks {
		picks[i] = t.u.IntN(t.replay.Len())
	}
	return picks
}

// averageRate is the weight of the newest parameters in the moving average, which takes the noise of single steps off.
const averageRate = .01
