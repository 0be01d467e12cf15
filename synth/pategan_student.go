package synth

import (
	"math"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/internal/matrix"
)

// student learns what part of the teachers take a row for real, less a half, from noisy votes on
// generated rows. It sees nothing else.
type student struct {
	critic *critic.Critic
	tutor  *gan.Tutor // of its own batches
	judge  *gan.Tutor // of the generator's batches
	adam   *matrix.Adam
	rows   matrix.Matrix
	asked  cells
	votes  []float32 // noisy fraction of "real" less a half, one a question
	// Σ vote·forecast over the votes that were forecast before the student learnt them, each less
	// its mean in the round
	agree  float64
	square float64 // Σ forecast² over them, likewise
}

// What the student learns with.
const (
	studentHidden = 32
	studentSteps  = 200 // a round
	studentBatch  = 256
	studentRate   = .003 // Adam's learning rate, which falls to a tenth within a round
	studentPrior  = .01  // variance of a weight in its prior
)

func newStudent(e *critic.Encoder, hidden, batch int, u *rand.Rand) (*student, error) {
	c, err := critic.New(e, critic.Options{Hidden: []int{hidden}}, u)
	if err != nil {
		return nil, err
	}
	clear(c.Network().Layers[1].Weights) // it begins without an opinion
	return &student{
		critic: c, tutor: gan.NewTutor(c, studentBatch), judge: gan.NewTutor(c, batch),
		adam: matrix.NewAdam(len(c.Parameters()), .9, .999),
		rows: matrix.New(studentBatch, e.Cells()), asked: cells{columns: e.Columns()},
	}, nil
}

// keep remembers the votes of k teachers on the rows, after it has compared them with what it
// predicts of them.
func (s *student) keep(asked cells, votes []int64, teachers int) {
	forecast := s.predict(asked)
	y := make([]float32, len(votes))
	for i, v := range votes {
		y[i] = float32(v)/float32(teachers) - .5
	}
	// What all rows have in common, that teachers take few generated rows for real, is no help to a
	// generator.
	meanY, meanF := mean(y), mean(forecast)
	for i, f := range forecast {
		s.agree += float64((y[i] - meanY) * (f - meanF))
		s.square += float64((f - meanF) * (f - meanF))
	}
	s.votes = append(s.votes, y...)
	s.asked.at = append(s.asked.at, asked.at...)
}

func mean(x []float32) float32 {
	sum := float32(0)
	for _, v := range x {
		sum += v
	}
	return sum / float32(len(x))
}

// predict is the student's score of each row.
func (s *student) predict(asked cells) []float32 {
	out := make([]float32, 0, asked.rows()+studentBatch)
	for first := 0; first < asked.rows(); first += studentBatch {
		n := min(studentBatch, asked.rows()-first)
		clear(s.rows.Data)
		for i := range n {
			for _, cell := range asked.row(first + i) {
				s.rows.Row(i)[cell] = 1
			}
		}
		out = append(out, make([]float32, studentBatch)...)
		s.tutor.GradientOf(s.rows,
			func(i int, score float32) float32 { out[first+i] = score; return 0 })
	}
	return out[:asked.rows()]
}

// trust is how much of the student's opinion counts, 0 to 1: the regression coefficient of votes on
// its forecasts of them within a round, less three standard errors, sd being the noise of a vote. A
// student that only learnt noise is not heard.
func (s *student) trust(sd float64) float32 {
	if s.square == 0 {
		return 0
	}
	return float32(min(max((s.agree-3*sd*math.Sqrt(s.square))/s.square, 0), 1))
}

// learn takes steps down the squared error over all votes kept, with weights held small: votes are
// noisy, and what noise there is in a vote, sd, is known.
func (s *student) learn(steps int, sd float32, u *rand.Rand) {
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
		g := s.tutor.GradientOf(s.rows, func(i int, score float32) float32 {
			return (score - s.votes[picks[i]]) / studentBatch
		})
		for i, w := range s.critic.Parameters() {
			g[i] += decay * w
		}
		s.adam.Update(s.critic.Parameters(), g, studentRate*(1-.9*float32(k)/float32(steps)))
	}
}
