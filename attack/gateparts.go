package attack

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/blocks"
	"github.com/decoy-dp/decoy/privacy/gradient"
	"github.com/decoy-dp/decoy/privacy/logistic"
	"github.com/decoy-dp/decoy/privacy/vote"
	"github.com/decoy-dp/decoy/table"
)

// certifiedPlan audits a full batch: with all rows in, noise is all that hides one.
func certifiedPlan(z float64) gradient.CertifiedPlan {
	return gradient.CertifiedPlan{Mode: bounds.Residual, Rate: 1, NoiseMultiplier: z}
}

// linearCritic scores a row by the sum of one weight a cell. The gradient of a weight is then the
// number of rows in its cell, which is the most that rows can move it.
type linearCritic []int

func (c linearCritic) cells() (n int) {
	for _, size := range c {
		n += size
	}
	return n
}

// Network has weights of 0: the gradient of a linear critic does not depend on them.
func (c linearCritic) Network() bounds.Network {
	return bounds.Network{Layers: []bounds.Layer{{Weights: make([]float32, c.cells()),
		Bias: make([]float32, 1)}}}
}

// AddSumTo counts.
func (c linearCritic) AddSumTo(
	gradient, cells []int64, factor float64, columns []table.Codes, rows []int,
) {
	one := int64(math.Round(1 / factor))
	add := func(row int) {
		at := 0
		for i, size := range c {
			cell := at + int(columns[i].At(row))
			gradient[cell] += one * one
			if cells != nil {
				cells[cell]++
			}
			at += size
		}
		gradient[at] += one * one
	}
	if rows == nil {
		for row := range columns[0].Len() {
			add(row)
		}
	}
	for _, row := range rows {
		add(row)
	}
}

// cells are the released numbers of the target's cells and of the corner's, in the sum of the rows'
// cells, and of the bias, which comes after as many weights.
func (g gateRun) cells(released []int64) []float64 {
	var out []float64
	at := 0
	for i, size := range g.sizes {
		out = append(out, float64(released[at+int(g.pair.Target[i])]),
			float64(released[at+int(g.pair.Corner[i])]))
		at += size
	}
	return append(out, float64(released[2*at]))
}

// logisticGradient is a gradient at which the residuals of target and corner are whole.
func (g gateRun) logisticGradient(s *privacy.Session) ([]float64, error) {
	p, err := g.regression()
	if err != nil {
		return nil, err
	}
	w := make([]float64, g.sizes[p.Columns[0]])
	for i := range w {
		w[i] = 1000 // as if all were of class 1
	}
	w[g.pair.Target[p.Columns[0]]] = -1000
	sum, err := logistic.Gradient(s, p, w, g.scale)
	return g.ofRegression(p, sum), err
}

// logisticMinimum is a minimum with a penalty that leaves residuals at a half, the most that a row
// of one column moves: so it shows half of the claimed μ.
func (g gateRun) logisticMinimum(s *privacy.Session) ([]float64, error) {
	p, err := g.regression()
	if err != nil {
		return nil, err
	}
	w, err := logistic.Minimum(context.Background(), s, p, minimumAt(g.scale))
	return g.ofRegression(p, w), err
}

// minimumAt is output perturbation with noise of scale rows in a gradient.
func minimumAt(scale float64) logistic.Perturbation {
	const penalty = 1e4
	return logistic.Perturbation{Penalty: penalty, Output: scale / penalty}
}

// regression predicts whether the column that is counted has the target's code from the next one.
func (g gateRun) regression() (logistic.Problem, error) {
	from := g.col + 1
	for from < len(g.sizes) && g.sizes[from] == 1 {
		from++
	}
	if from == len(g.sizes) {
		return logistic.Problem{}, errors.New("it needs two columns with more than one code")
	}
	p := logistic.Problem{Columns: []int{from}, Target: g.col, Classes: make([]int, g.sizes[g.col])}
	p.Classes[g.pair.Target[g.col]] = 1
	return p, nil
}

// ofRegression is what was released of the target's cell and of the corner's, nil of nothing.
func (g gateRun) ofRegression(p logistic.Problem, released []float64) []float64 {
	if released == nil {
		return nil
	}
	from := p.Columns[0]
	return []float64{released[g.pair.Target[from]], released[g.pair.Corner[from]]}
}

// The audit of votes: more shards than rows meet by chance, teachers that are trained again and
// again, and one question.
const (
	voteShards    = 100
	voteTrainings = 6
)

var voteBallot = vote.Ballot{Questions: 1, Classes: 3}

// spotter votes for class 1 once it has seen a target row, else for class 0. If each row stays with
// one teacher, one row moves one vote, however often the teachers are trained.
type spotter struct {
	target []uint16
	seen   bool
}

// Train looks for the target.
func (s *spotter) Train(shard *table.Table, _ int) {
	for r := range shard.Rows() {
		s.seen = s.seen || slices.Equal(rowOf(shard, r), s.target)
	}
}

// VotesTo answers the one question.
func (s *spotter) VotesTo(votes []uint8, _ int) {
	if s.seen {
		votes[0] = 1
	}
}

// vote splits, trains and asks.
func (g gateRun) vote(s *privacy.Session) ([]float64, error) {
	shards, err := vote.Split(s, voteShards,
		func(int) vote.Teacher[int] { return &spotter{target: g.pair.Target} })
	if err != nil {
		return nil, err
	}
	for i := range voteTrainings {
		if err := shards.Train(i); err != nil {
			return nil, err
		}
	}
	t, err := shards.Vote(vote.Aggregator{Sigma: g.scale}, voteBallot, 0)
	if err != nil {
		return nil, err
	}
	return []float64{float64(t.Counts[0]), float64(t.Counts[1])}, nil
}

// blocks computes on each block whether the target is in it: at an end of the range if it is, else
// in the middle, which moves the mean by half its sensitivity and the mean square by all of it.
func (g gateRun) blocks(s *privacy.Session) ([]float64, error) {
	is := blocks.Statistic{Name: "target", Lower: 0, Upper: 1, Of: func(t *table.Table) float64 {
		one := spotter{target: g.pair.Target}
		if one.Train(t, 0); one.seen {
			return 1
		}
		return .5
	}}
	m, err := blocks.Measure(context.Background(), s, voteShards, is, g.scale, g.scale)
	return []float64{m.Mean, m.Square, m.Mean + 2*m.Square}, err
}
