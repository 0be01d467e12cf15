package pategan

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/internal/matrix"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/synth"
)

// training is the state of a fit. Nothing in it has seen a private row: it holds releases and what
// was computed from them. Teachers are not in it.
type training struct {
	p         *plan
	u         *rand.Rand
	from      source
	encoder   *critic.Encoder
	offsets   []int
	rows      float64 // noisy number of rows, at least 1
	rowsError float64 // its relative standard deviation
	teachers  int
	oneWays   [][]int64
	chosen    [][2]int
	generator *gan.Generator
	pass      *gan.Pass
	down      matrix.Matrix
	opinion   matrix.Matrix
	adam      *matrix.Adam
	average   []float32 // moving average of the generator's parameters: what is released
	match     *matcher
	student   *student
	field     [][]float32 // of directions
	trust     float32     // in the student, 0 to 1
	loss      float64     // mean squared error of measured cells in units of their noise
	steps     int
}

// Fit runs the plan on an open session.
func (p *plan) Fit(
	ctx context.Context, s *privacy.Session, progress synth.Progress,
) (synth.Model, error) {
	t := &training{p: p, u: rand.New(rand.NewPCG(synth.Seed(s))), from: &gate{p: p, s: s}}
	return t.run(ctx, progress)
}

// run is the algorithm of the paper, where the steps in brackets are ours:
//
//	[buy the number of rows and marginals; start the generator at them]
//	split the rows into disjoint shards, a teacher on each
//	in each round:
//	    draw rows from the generator
//	    teachers learn to tell their shards from them, and vote on rows: noisy counts
//	    the student learns from [all] votes [so far]
//	    the generator takes steps towards the student's opinion [and the marginals]
//	[more steps, on what was released; the generator is the average of its steps]
func (t *training) run(ctx context.Context, progress synth.Progress) (out synth.Model, err error) {
	progress.Report("counting", 0)
	if err := ctx.Err(); err != nil {
		return out, err
	}
	if err := t.start(); err != nil {
		return out, err
	}
	c := t.p.cfg
	generate := func(steps int, stage string, decay float64) error {
		return t.generate(ctx, progress, steps, stage, decay)
	}
	if !c.ColdStart {
		if err := generate(c.WarmSteps, "warming up on marginals", 0); err != nil {
			return out, err
		}
	}
	t.from.split(t.teachers, t.offsets)
	for round := range c.Rounds {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		asked := c.Questions
		if c.Directions > 0 {
			asked /= c.Directions
		}
		rows := t.draw(asked + shownRows)
		batch := &voteBatch{seed: t.u.Uint64(), epochs: c.TeacherEpochs,
			rate: float32(c.TeacherRate), asked: rows.head(asked), fakes: rows.tail(asked),
			directions: randomDirections(c.Directions, t.encoder.Cells(), t.u)}
		votes, err := t.from.vote(batch)
		if err != nil {
			return out, err
		}
		t.teach(batch, votes)
		stage := fmt.Sprintf("vote %d of %d, %d teachers", round+1, c.Rounds, t.teachers)
		if err := generate(c.GeneratorSteps, stage, 0); err != nil {
			return out, err
		}
	}
	if err := generate(c.PostSteps, "replaying measurements", .9); err != nil {
		return out, err
	}
	copy(t.generator.Parameters(), t.average)
	out.Params = &release.Generator{Net: t.generator, Rows: t.rows}
	out.Settings = t.settings()
	return out, nil
}

// generate takes generator steps at a rate that falls by a share decay.
func (t *training) generate(
	ctx context.Context, progress synth.Progress, steps int, stage string, decay float64,
) error {
	c := t.p.cfg
	all := float64(c.WarmSteps + c.Rounds*c.GeneratorSteps + c.PostSteps)
	for k := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		t.step(float32(c.GeneratorRate * (1 - decay*float64(k)/float64(steps))))
		if t.steps%16 == 0 {
			progress.Report(stage, float64(t.steps)/all)
		}
	}
	return nil
}

// teach has the student learn from the votes on a batch.
func (t *training) teach(batch *voteBatch, votes []int64) {
	if len(batch.directions) > 0 {
		t.follow(batch, votes)
		return
	}
	t.student.keep(batch.asked, votes, t.teachers)
	sd := t.p.votes / float64(t.teachers)
	t.trust = t.student.trust(math.Hypot(sd, .5/math.Sqrt(float64(t.teachers))))
	t.student.learn(t.p.cfg.StudentSteps, .003, float32(sd), t.u)
}

// start buys the number of rows and the marginals, and makes the networks.
func (t *training) start() (err error) {
	p, c := t.p, t.p.cfg
	if t.encoder, err = critic.NewEncoder(p.schema); err != nil {
		return err
	}
	for k := range t.encoder.Columns() + 1 {
		t.offsets = append(t.offsets, t.encoder.Offset(k))
	}
	n, err := t.from.total()
	if err != nil {
		return err
	}
	t.rows, t.rowsError = max(1, float64(n)), p.total/max(1, float64(n))
	if !c.ColdStart {
		if err := t.measureColumns(); err != nil {
			return err
		}
	}
	t.teachers = c.teachers(t.rows)
	if t.generator, err = gan.NewGenerator(t.encoder, gan.GeneratorOptions{}, t.u); err != nil {
		return err
	}
	t.match = newMatcher(t.offsets)
	if !c.ColdStart {
		if err := t.buy(); err != nil {
			return err
		}
	}
	t.pass = t.generator.NewPass(c.Batch, gan.Head{Hard: true})
	t.down, t.opinion = matrix.New(c.Batch, t.encoder.Cells()),
		matrix.New(c.Batch, t.encoder.Cells())
	t.adam = matrix.NewAdam(len(t.generator.Parameters()), .5, .9)
	t.average = slices.Clone(t.generator.Parameters())
	t.student, err = newStudent(t.encoder, c.StudentHidden, c.Batch, t.u)
	return err
}

// maxTeachers bounds memory and time; teachers beyond it would add little.
const maxTeachers = 2000

// teachers is their number for a noisy number of rows.
func (c Config) teachers(rows float64) int {
	return int(min(max(math.Round(rows/float64(c.ShardRows)), 1), maxTeachers))
}

// shownRows is how many generated rows teachers are shown a round; each looks at as many as its
// shard has, times its passes.
const shownRows = 2048

// draw is n rows of the generator.
func (t *training) draw(n int) cells {
	codes := t.generator.Sample(n, t.u)
	out := cells{columns: len(codes), at: make([]int32, n*len(codes))}
	for k, column := range codes {
		for i, code := range column {
			out.at[i*out.columns+k] = int32(t.offsets[k]) + int32(code)
		}
	}
	return out
}

// step moves the generator towards the measured marginals and the student's good opinion. It is
// post-processing.
func (t *training) step(rate float32) {
	x := t.pass.Forward(t.u)
	clear(t.down.Data)
	loss := t.match.gradientTo(t.down, x)
	t.loss += .01 * (loss - t.loss)
	if w := float32(t.p.cfg.StudentWeight) * t.trust; w > 0 {
		if t.field != nil {
			t.fieldTo(t.opinion, x)
		} else {
			t.student.judge.InputTo(t.opinion, x)
		}
		pull(t.down.Data, t.opinion.Data, w)
	}
	t.adam.Update(t.generator.Parameters(), t.pass.Backward(t.down), rate)
	for i, w := range t.generator.Parameters() {
		t.average[i] += averageRate * (w - t.average[i])
	}
	t.steps++
}

// pull takes the opinion's gradient off the measurements', made as long as it and then w times:
// their units are the noise of measurements and parts of the teachers, and have nothing to do with
// each other. Without measurements the opinion is left as long as it is.
func pull(down, opinion []float32, w float32) {
	if d, o := square(down), square(opinion); d > 0 && o > 0 {
		w *= float32(math.Sqrt(d / o))
	}
	for i, g := range opinion {
		down[i] -= w * g
	}
}

// square is the sum of squares.
func square(x []float32) (sum float64) {
	for _, v := range x {
		sum += float64(v * v)
	}
	return sum
}

// averageRate is the weight of the newest parameters in the moving average, which takes the noise
// of single steps off.
const averageRate = .01

func (t *training) settings() map[string]any {
	c, p := t.p.cfg, t.p
	pairs := make([]any, len(t.chosen))
	for i, e := range t.chosen {
		pairs[i] = []any{p.schema.Columns[e[0]].Name, p.schema.Columns[e[1]].Name}
	}
	return map[string]any{
		"target": p.schema.Columns[p.target].Name, "teachers": t.teachers, "rounds": c.Rounds,
		"questions": c.Questions, "vote_sigma": p.votes,
		"total_sigma": p.total, "one_way_sigma": p.oneWay, "target_pair_sigma": p.targetPair,
		"pair_sigma": p.pair, "pair_epsilon": p.epsilon, "pairs": pairs,
		"generator_steps": t.steps,
	}
}
