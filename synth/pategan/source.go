package pategan

import (
	"slices"

	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/query"
	"github.com/decoy-dp/decoy/privacy/vote"
)

// source is all that a fit learns of the private rows: the releases of the gate. A fit is a
// function of what its source returned and of a public seed; the tests replay it.
type source interface {
	total() (int64, error)
	oneWay(column int) ([]int64, error)
	choose(candidates []privacy.Candidate) (int, error)
	pair(m privacy.Marginal, withTarget bool) ([]int64, error)
	split(teachers int, offsets []int)
	// noisy counts of votes for "real", one a question of l.asked; of directions the winning bin, or
	// −1 where the teachers do not agree
	vote(l *voteBatch) ([]int64, error)
}

// gate is the session as a source.
type gate struct {
	p        *plan
	s        *privacy.Session
	teachers int
	offsets  []int
	shards   *vote.Shards[*voteBatch] // made for the first vote
}

func (g *gate) total() (int64, error) {
	counts, err := g.s.Measure(query.Total{}, g.p.total)
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

func (g *gate) oneWay(column int) ([]int64, error) {
	return g.s.Measure(privacy.Marginal{Cols: []int{column}}, g.p.oneWay)
}

func (g *gate) choose(candidates []privacy.Candidate) (int, error) {
	return g.s.Select(candidates, g.p.epsilon)
}

func (g *gate) pair(m privacy.Marginal, withTarget bool) ([]int64, error) {
	sigma := g.p.pair
	if withTarget {
		sigma = g.p.targetPair
	}
	return g.s.Measure(m, sigma)
}

func (g *gate) split(teachers int, offsets []int) { g.teachers, g.offsets = teachers, offsets }

// vote trains the teachers on the batch and has them vote.
func (g *gate) vote(l *voteBatch) ([]int64, error) {
	if g.shards == nil {
		var err error
		g.shards, err = vote.Split(g.s, g.teachers, func(shard int) vote.Teacher[*voteBatch] {
			return newTeacher(shard, g.offsets, g.p.cfg.TeacherHidden)
		})
		if err != nil {
			return nil, err
		}
	}
	if err := g.shards.Train(l); err != nil {
		return nil, err
	}
	b := g.p.ballot()
	tally, err := g.shards.Vote(g.p.aggregator(), b, l)
	if err != nil {
		return nil, err
	}
	real := make([]int64, b.Questions)
	for i := range real {
		counts := tally.Counts[b.Classes*i:][:b.Classes]
		if b.Classes == 2 {
			real[i] = counts[1]
		} else if most := slices.Max(counts); most >= int64(g.teachers/2) {
			real[i] = int64(slices.Index(counts, most))
		} else {
			real[i] = -1
		}
	}
	return real, nil
}
