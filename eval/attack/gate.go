package attack

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
	"github.com/decoy-dp/decoy/privacy/mech/gradient"
	"github.com/decoy-dp/decoy/privacy/mech/logistic"
	"github.com/decoy-dp/decoy/privacy/mech/vote"
)

// gateCall is one mechanism of the gate, as an audit calls it.
type gateCall struct {
	name     string
	gaussian bool // needs δ > 0
	// event is the mechanism's event at a noise scale; a larger scale is more private.
	event func(nb privacy.Neighbours, scale float64) accountant.Event
	// call runs it at that scale and returns what it released.
	call  func(g gateRun, s *privacy.Session) ([]float64, error)
	count int // of such events in a call
}

// gateRun is what a call may use: public knowledge.
type gateRun struct {
	pair  *Pair
	nb    privacy.Neighbours
	scale float64
	col   int // the column that is counted: the first with more than one code
	sizes []int
}

var gateCalls = []gateCall{
	{"total", true, func(nb privacy.Neighbours, z float64) accountant.Event {
		return nb.MeasureEvent(privacy.Total{}, z)
	}, func(g gateRun, s *privacy.Session) ([]float64, error) {
		return g.counts(s.Measure(privacy.Total{}, g.scale))
	}, 1},
	{"counts", true, func(nb privacy.Neighbours, z float64) accountant.Event {
		return nb.MeasureEvent(privacy.Marginal{}, z)
	}, func(g gateRun, s *privacy.Session) ([]float64, error) {
		return g.counts(s.Measure(privacy.Marginal{Cols: []int{g.col}}, g.scale))
	}, 1},
	{"answer", false, func(nb privacy.Neighbours, z float64) accountant.Event {
		return nb.LaplaceEvent(privacy.Where{}, z)
	}, func(g gateRun, s *privacy.Session) ([]float64, error) {
		allow := make([]bool, g.sizes[g.col])
		allow[g.pair.Target[g.col]] = true
		where := privacy.Where{Expr: table.Condition{Column: g.col, Allow: allow}}
		return g.counts(s.MeasureLaplace(where, g.scale))
	}, 1},
	{"select", false, func(nb privacy.Neighbours, z float64) accountant.Event {
		return nb.SelectEvent(1 / z)
	}, func(g gateRun, s *privacy.Session) ([]float64, error) {
		i, err := s.Select(g.candidates(), 1/g.scale)
		return []float64{float64(i)}, err
	}, 1},
	{"certified-sum", true, func(nb privacy.Neighbours, scale float64) accountant.Event {
		return gradient.Event(certifiedPlan(scale))
	},
		func(g gateRun, s *privacy.Session) ([]float64, error) {
			c, err := gradient.CertifiedSum(s, certifiedPlan(g.scale), g.linear())
			if err != nil {
				return nil, err
			}
			return g.cells(c.Released), nil
		}, 1},
	{"logistic", true, func(nb privacy.Neighbours, scale float64) accountant.Event {
		return logistic.GradientEvent(nb, logistic.Problem{Columns: []int{0}, Classes: []int{0, 1}},
			scale)
	}, gateRun.logisticGradient, 1},
	{"minimum", true, func(nb privacy.Neighbours, scale float64) accountant.Event {
		return logistic.MinimumEvent(nb, logistic.Problem{Columns: []int{0}, Classes: []int{0, 1}},
			minimumAt(scale))
	}, gateRun.logisticMinimum, 1},
	{"vote", true, func(nb privacy.Neighbours, scale float64) accountant.Event {
		answer, _ := vote.Events(vote.Aggregator{Sigma: scale}, voteBallot.Classes)
		return answer
	}, gateRun.vote, 1},
	{"blocks", true, func(_ privacy.Neighbours, scale float64) accountant.Event {
		return vote.BlockEvents(scale, scale)[0].Event
	}, gateRun.blocks, 2},
}

// counts are one released count, or of those of the column the target's and the corner's.
func (g gateRun) counts(counts []int64, err error) ([]float64, error) {
	switch {
	case err != nil:
		return nil, err
	case len(counts) == 1:
		return []float64{float64(counts[0])}, nil
	}
	return []float64{float64(counts[g.pair.Target[g.col]]), float64(counts[g.pair.Corner[g.col]])}, nil
}

// candidates are two estimates of one marginal of which a target row makes the one worse and the
// other better, as much as either can. The first is right about Out; the second is wrong by so much
// that the first is chosen about once in eight times, where the odds move by nearly e^ε.
func (g gateRun) candidates() []privacy.Candidate {
	counts := g.pair.Out.Counts(g.col)
	right, wrong := make([]float64, len(counts)), make([]float64, len(counts))
	for i, n := range counts {
		right[i], wrong[i] = float64(n), float64(n)
	}
	k := float64(g.nb.MaxRowsPerUnit)
	gap := math.Ceil(max(2, 4*g.scale) * k)
	wrong[g.pair.Target[g.col]] += gap
	if g.nb.Adjacency == accountant.ReplaceOne {
		wrong[g.pair.Corner[g.col]] -= gap
	}
	m := privacy.Marginal{Cols: []int{g.col}}
	return []privacy.Candidate{{Query: m, Estimate: right}, {Query: m, Estimate: wrong}}
}

// GateNames lists the mechanisms of the gate that [Gate] audits, and [Collect].
func GateNames() (names []string) {
	for _, c := range gateCalls {
		names = append(names, c.name)
	}
	return append(names, Collect)
}

// Gate is one mechanism of package privacy by itself, with all of the budget: see [GateNames].
// Nothing stands between the auditor and what it releases, and a run takes microseconds: this is
// the sharpest audit of noise, sensitivity and accounting. The Gaussian ones need δ > 0; for
// "answer" and "select" δ may be 0. "vote" and "blocks" show something on rare tables only.
func Gate(
	name string, s *schema.Schema, adj accountant.Adjacency, b accountant.Budget, shape string,
) (Mechanism, *Pair, error) {
	fail := func(err error) (Mechanism, *Pair, error) {
		return Mechanism{}, nil, fmt.Errorf("%s: %w", name, err)
	}
	at := slices.IndexFunc(gateCalls, func(c gateCall) bool { return c.name == name })
	if at < 0 {
		return fail(fmt.Errorf("the gate has no such mechanism; there is %s",
			strings.Join(GateNames(), ", ")))
	}
	if err := b.Validate(); err != nil {
		return fail(err)
	}
	g := gateCalls[at]
	if g.gaussian && b.Delta == 0 {
		return fail(fmt.Errorf("its noise is Gaussian and needs delta > 0: %w",
			accountant.ErrBudgetRange))
	}
	pair, err := neighbours(s, adj, shape, 200)
	if err != nil {
		return fail(err)
	}
	nb := privacy.NeighboursOf(s, adj)
	plan := func(scale float64) accountant.Composition {
		return accountant.Composition{{Event: g.event(nb, scale), Count: g.count}}
	}
	scale, err := accountant.ScaleFor(b, nb.Adjacency, plan, pld.RDP, pld.Epsilon)
	if err != nil {
		return fail(err)
	}
	claim, err := ClaimOf(b, nb.Adjacency, plan(scale))
	cost, bad := pld.Epsilon(plan(scale), b.Delta, adj) // once: every run reserves the same
	if err = errors.Join(err, bad); err != nil {
		return fail(err)
	}
	run := gateRun{pair: pair, nb: nb, scale: scale, sizes: s.Sizes()}
	for run.sizes[run.col] == 1 {
		run.col++
	}
	o := privacy.Options{Budget: b, Plan: plan(scale), Adjacency: nb.Adjacency, Method: name,
		Price: func(accountant.Composition, float64, accountant.Adjacency) (accountant.Bound, error) {
			return cost, nil
		}}
	return Mechanism{Name: name, Claim: claim,
		Run: func(ctx context.Context, t *table.Table) ([]float64, error) {
			return asked(ctx, t, o, func(s *privacy.Session) ([]float64, error) { return g.call(run, s) })
		}}, pair, nil
}

// certifiedPlan audits a full batch: with all rows in, noise is all that hides one.
func certifiedPlan(z float64) gradient.Plan {
	return gradient.Plan{Mode: bounds.Residual, Rate: 1, NoiseMultiplier: z}
}

// linear scores a row by the sum of one weight a cell. The gradient of a weight is then the number
// of rows in its cell, which is the most that rows can move it, whatever the weights: 0.
func (g gateRun) linear() bounds.Network {
	cells := 0
	for _, size := range g.sizes {
		cells += size
	}
	return bounds.Network{Layers: []bounds.Layer{{Weights: make([]float32, cells),
		Bias: make([]float32, 1)}}}
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
	return g.regression(func(p logistic.Problem, target int) ([]float64, error) {
		w := slices.Repeat([]float64{1000}, g.sizes[p.Columns[0]]) // as if all were of class 1
		w[target] = -1000
		return logistic.Gradient(s, p, w, g.scale)
	})
}

// logisticMinimum is a minimum with a penalty that leaves residuals at a half, the most that a row
// of one column moves: so it shows half of the claimed μ.
func (g gateRun) logisticMinimum(s *privacy.Session) ([]float64, error) {
	return g.regression(func(p logistic.Problem, _ int) ([]float64, error) {
		return logistic.Minimum(context.Background(), s, p, minimumAt(g.scale))
	})
}

// minimumAt is output perturbation with noise of scale rows in a gradient.
func minimumAt(scale float64) logistic.Perturbation {
	const penalty = 1e4
	return logistic.Perturbation{Penalty: penalty, Output: scale / penalty}
}

// regression predicts whether the column that is counted has the target's code from the next one.
// What was released of the target's cell and of the corner's is returned.
func (g gateRun) regression(
	release func(p logistic.Problem, target int) ([]float64, error),
) ([]float64, error) {
	from := g.col + 1
	for from < len(g.sizes) && g.sizes[from] == 1 {
		from++
	}
	if from == len(g.sizes) {
		return nil, errors.New("it needs two columns with more than one code")
	}
	p := logistic.Problem{Columns: []int{from}, Target: g.col, Classes: make([]int, g.sizes[g.col])}
	p.Classes[g.pair.Target[g.col]] = 1
	out, err := release(p, int(g.pair.Target[from]))
	if err != nil {
		return nil, err
	}
	return []float64{out[g.pair.Target[from]], out[g.pair.Corner[from]]}, nil
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
	is := vote.Statistic{Name: "target", Lower: 0, Upper: 1, Of: func(t *table.Table) float64 {
		one := spotter{target: g.pair.Target}
		if one.Train(t, 0); one.seen {
			return 1
		}
		return .5
	}}
	m, err := vote.Blocks(context.Background(), s, voteShards, is, g.scale, g.scale)
	return []float64{m.Mean, m.Square, m.Mean + 2*m.Square}, err
}

// Collect is the name of an answer of 'decoy collect', as [Respondent] audits it.
const Collect = "collect"

// Respondent is one answer to a form, with the local claim of its ε, and the two rows that answers
// tell apart best: the first code in every column, and the last. In every question one is the first
// cell and the other the last, and e^ε is how much likelier the one row makes an answer that names
// its own cell and not the other's, whichever question was drawn and however it is answered. answer
// gives the cells that an answer about a table of one row names, of so many; errors are its own.
func Respondent(
	s *schema.Schema, epsilon float64,
	answer func(ctx context.Context, t *table.Table) (named []int, cells int, err error),
) (Mechanism, *Pair, error) {
	claim, err := ClaimOf(accountant.Budget{Epsilon: epsilon}, accountant.ReplaceOne,
		accountant.Composition{{Event: accountant.Laplace{Epsilon: epsilon}, Count: 1}})
	if err != nil {
		return Mechanism{}, nil, err
	}
	pair, err := neighbours(s, accountant.ReplaceOne, rare, 0)
	if err != nil {
		return Mechanism{}, nil, err
	}
	pair.Name = "one row"
	pair.In = pair.In.Select([]int{pair.In.Rows() - 1})
	pair.Out = pair.Out.Select([]int{0})
	pair.Strong, pair.Strength = pair.In, 1
	return Mechanism{Name: Collect, Claim: claim,
		Run: func(ctx context.Context, t *table.Table) ([]float64, error) {
			named, cells, err := answer(ctx, t)
			score := 0.0
			for _, cell := range named {
				switch cell {
				case 0:
					score--
				case cells - 1:
					score++
				}
			}
			return []float64{score}, err
		}}, pair, nil
}
