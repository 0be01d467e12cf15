package pategan

import (
	"math/rand/v2"

	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/internal/kernels"
)

// student learns what part of the teachers take a row for real, less a half, from noisy votes on generated rows. It sees nothing else.
type student struct {
	critic *gan.Critic
	tutor  *gan.Tutor // of its own lessons
	judge  *gan.Tutor // of the generator's batches
	adam   *kernels.Adam
	rows   kernels.Matrix
	asked  cells
	votes  []float32 // noisy fraction of "real" less a half, one a question
}

const studentBatch = 256

func newStudent(e *gan.Encoder, hidden, batch int, u *rand.Rand) (*student, error) {
	c, err := gan.NewCritic(e, gan.CriticOptions{Hidden: []int{hidden}}, u)
	if err != nil {
		return nil, err
	}
	out, _ := c.Layer(1)
	clear(out) // it begins without an opinion
	return &student{
		critic: c, tutor: c.NewTutor(studentBatch), judge: c.NewTutor(batch), adam: kernels.NewAdam(len(c.Parameters()), .9, .999),
		rows: kernels.New(studentBatch, e.Cells()), asked: cells{columns: e.Columns()},
	}, nil
}

// keep remembers the votes on the rows, of k teachers.
func (s *student) keep(asked cells, votes []int64, teachers int) {
	s.asked.at = append(s.asked.at, asked.at...)
	for _, v := range votes {
		s.votes = append(s.votes, float32(v)/float32(teachers)-.5)
	}
}

// learn takes steps down the squared error over all votes kept, with weights held small: votes are noisy, and what noise there is in a
// vote, sd, is known.
func (s *student) learn(steps int, rate, sd float32, u *rand.Rand) {
	n := s.asked.rows()
	picks := make([]int, studentBatch)
	decay := sd * sd / float32(n) / studentPrior
	for k := range steps {
		clear(s.rows.Data)
		for i := range picks {
			picks[i] = u.IntN(n)
			row := s.rows.Row(i)
			for _, cell := range s.asked.row(picks[i]) {
				row[cell] = 1
			}
		}
		g := s.tutor.GradientOf(s.rows, func(i int, score float32) float32 { return (score - s.votes[picks[i]]) / studentBatch })
		for i, w := range s.critic.Parameters() {
			g[i] += decay * w
		}
		s.adam.Update(s.critic.Parameters(), g, rate*(1-.9*float32(k)/float32(steps)))
	}
}

// studentPrior is the variance of a weight in the student's prior.
const studentPrior = .01
