package synth

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/mech/vote"
)

// source is all that a fit learns of the private rows: the releases of the gate. A fit is a
// function of what its source returned and of a public seed; the tests replay it.
type source struct {
	marginals func() (Model, error)
	vote      func(*shown) (vote.Tally, error)
}

// source is a session, which sells what the plan has reserved.
func (p *patePlan) source(ctx context.Context, s *privacy.Session, progress Progress) source {
	var shards *vote.Shards[*shown] // made for the first vote
	return source{
		marginals: func() (Model, error) { return p.marginals.Fit(ctx, s, progress) },
		vote: func(l *shown) (tally vote.Tally, err error) {
			if shards == nil {
				shards, err = vote.Split(s, l.teachers, func(shard int) vote.Teacher[*shown] {
					return newTeacher(shard, l.offsets, teacherHidden)
				})
				if err != nil {
					return tally, err
				}
			}
			if err := shards.Train(l); err != nil {
				return tally, err
			}
			return shards.Vote(p.votes.For(l.teachers, l.student), p.ballot, l)
		},
	}
}

// training is the state of a fit. Nothing in it has seen a private row: it holds releases and what
// was computed from them. Teachers are not in it.
type pateTraining struct {
	*patePlan
	distilling
	offsets  []int // first cell of each column, one more than columns
	column   int   // the target, or the last
	teachers int
	student  *student
	field    [][]float32 // of directions
	trust    float32     // in the student, 0 to 1
}

// training is a fit that draws what is public from u.
func (p *patePlan) training(u *rand.Rand) *pateTraining {
	t := &pateTraining{patePlan: p}
	t.u = u
	return t
}

// Fit runs the plan on an open session.
func (p *patePlan) Fit(
	ctx context.Context, s *privacy.Session, progress Progress,
) (Model, error) {
	t := p.training(rand.New(rand.NewPCG(publicSeed(s))))
	return t.run(ctx, p.source(ctx, s, progress), progress)
}

// run is the algorithm of the paper, where the steps in brackets are ours:
//
//	[buy a marginal model; distil the generator from it]
//	split the rows into disjoint shards, a teacher on each
//	in each round:
//	    draw rows from the generator
//	    teachers learn to tell their shards from them, and vote on rows: noisy counts
//	    the student learns from [all] votes [so far]
//	    the generator takes steps towards the student's opinion [and the marginal model]
//	[the generator is the average of its steps]
func (t *pateTraining) run(
	ctx context.Context, from source, progress Progress,
) (out Model, err error) {
	bought, err := from.marginals()
	if err != nil {
		return out, err
	}
	if err := t.start(bought.Params.(*release.Marginal)); err != nil {
		return out, err
	}
	c := t.cfg
	steps := stepper{ctx: ctx, progress: progress, first: c.DistilSteps,
		later: c.Rounds * c.GeneratorSteps}
	if err := steps.alone(&t.distilling); err != nil {
		return out, err
	}
	for round := range c.Rounds {
		rows := t.show()
		votes, err := from.vote(rows)
		if err != nil {
			return out, err
		}
		t.learn(rows, votes)
		stage := fmt.Sprintf("vote %d of %d, %d teachers", round+1, c.Rounds, t.teachers)
		err = steps.take(c.GeneratorSteps, stage, func() error {
			t.step(steps.rate())
			return nil
		})
		if err != nil {
			return out, err
		}
	}
	t.distil.Settle()
	out.Params = t.released
	out.Settings = map[string]any{
		"target": t.schema.Columns[t.column].Name, "teachers": t.teachers, "rounds": c.Rounds,
		"questions": c.Questions, "aggregator": c.Aggregator, "marginal_share": c.MarginalShare,
		"vote_sigma": t.votes.Scale(),
		"marginals":  bought.Settings["marginals"], "generator_steps": steps.taken,
	}
	return out, nil
}

// studentWeight is the length of the pull of a student that is fully trusted, beside that of the
// marginal model.
const studentWeight = .3

// maxTeachers bounds memory and time; teachers beyond it would add little.
const maxTeachers = 2000

// start makes the networks.
func (t *pateTraining) start(marginals *release.Marginal) (err error) {
	if err := t.begin(t.schema, marginals); err != nil {
		return err
	}
	for k := range t.encoder.Columns() + 1 {
		t.offsets = append(t.offsets, t.encoder.Offset(k))
	}
	if t.column = t.schema.Index(t.cfg.Target); t.column < 0 {
		t.column = t.encoder.Columns() - 1
	}
	t.teachers = t.cfg.teachers(t.released.Rows)
	t.student, err = newStudent(t.encoder, studentHidden, batch, t.u)
	return err
}

// teachers is their number for a noisy number of rows.
func (c PATEGAN) teachers(rows float64) int {
	return int(min(max(math.Round(rows/float64(c.ShardRows)), 1), maxTeachers))
}

// shownRows is how many generated rows teachers learn from in a round; each looks at as many as its
// shard has, times its passes.
const shownRows = 2048

// show draws what teachers are shown in a round.
func (t *pateTraining) show() *shown {
	asked := t.ballot.Questions / max(1, t.cfg.Directions)
	codes := t.generator.Sample(asked+shownRows, t.u)
	rows := cells{columns: len(codes), at: make([]int32, (asked+shownRows)*len(codes))}
	for k, column := range codes {
		for i, code := range column {
			rows.at[i*rows.columns+k] = int32(t.offsets[k]) + int32(code)
		}
	}
	l := &shown{teachers: t.teachers, offsets: t.offsets, seed: t.u.Uint64(),
		asked: rows.part(0, asked), fakes: rows.part(asked, asked+shownRows),
		directions: randomDirections(t.cfg.Directions, t.encoder.Cells(), t.u)}
	if t.cfg.Aggregator == vote.Interactive {
		for _, f := range t.student.predict(l.asked) {
			p := min(1, max(0, .5+float64(f)))
			l.student = append(l.student, 1-p, p)
		}
	}
	return l
}

// learn has the student learn from the votes on what was shown, or follows the directions.
func (t *pateTraining) learn(l *shown, votes vote.Tally) {
	if len(l.directions) > 0 {
		t.follow(l, votes)
		return
	}
	var asked cells
	var real []int64
	for q, answered := range votes.Answered {
		if answered {
			asked.columns, asked.at = l.asked.columns, append(asked.at, l.asked.row(q)...)
			real = append(real, votes.Counts[2*q+1])
		}
	}
	if len(real) == 0 {
		return
	}
	t.student.keep(asked, real, t.teachers)
	sd := t.votes.Scale() / float64(t.teachers)
	t.trust = t.student.trust(math.Hypot(sd, .5/math.Sqrt(float64(t.teachers))))
	t.student.learn(studentSteps, float32(sd), t.u)
}

// step moves the generator towards the marginal model and the student's good opinion. It is
// post-processing.
func (t *pateTraining) step(rate float64) {
	gradient := t.distil.Gradient(t.u)
	if t.trust > 0 {
		x := t.pass.Forward(t.u)
		if t.field != nil {
			t.fieldTo(t.down, x)
		} else {
			t.student.judge.InputTo(t.down, x)
		}
		pull(gradient, t.pass.Backward(t.down), studentWeight*t.trust)
	}
	t.distil.Update(gradient, rate)
}

// pull takes the opinion's gradient off the marginal model's, made as long as it and then w times:
// their units are shares of rows and parts of the teachers, and have nothing to do with each other.
func pull(gradient, opinion []float32, w float32) {
	if length := square(opinion); length > 0 {
		w *= float32(math.Sqrt(square(gradient) / length))
	}
	for i, g := range opinion {
		gradient[i] -= w * g
	}
}

// square is the sum of squares.
func square(x []float32) (sum float64) {
	for _, v := range x {
		sum += float64(v * v)
	}
	return sum
}
