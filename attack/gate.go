package attack

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/accountant/calibrate"
	"github.com/decoy-dp/decoy/accountant/pld"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/blocks"
	"github.com/decoy-dp/decoy/privacy/gradient"
	"github.com/decoy-dp/decoy/privacy/logistic"
	"github.com/decoy-dp/decoy/privacy/vote"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
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
	},
		func(g gateRun, s *privacy.Session) ([]float64, error) {
			return g.first(s.Measure(privacy.Total{}, g.scale))
		}, 1},
	{"counts", true, func(nb privacy.Neighbours, z float64) accountant.Event {
		return nb.MeasureEvent(privacy.Marginal{}, z)
	},
		func(g gateRun, s *privacy.Session) ([]float64, error) {
			counts, err := s.Measure(privacy.Marginal{Cols: []int{g.col}}, g.scale)
			if err != nil {
				return nil, err
			}
			return []float64{float64(counts[g.pair.Target[g.col]]),
				float64(counts[g.pair.Corner[g.col]])}, nil
		}, 1},
	{"answer", false, func(nb privacy.Neighbours, z float64) accountant.Event {
		return nb.LaplaceEvent(privacy.Where{}, z)
	},
		func(g gateRun, s *privacy.Session) ([]float64, error) {
			allow := make([]bool, g.sizes[g.col])
			allow[g.pair.Target[g.col]] = true
			where := privacy.Where{Expr: table.Condition{Column: g.col, Allow: allow}}
			return g.first(s.MeasureLaplace(where, g.scale))
		}, 1},
	{"select", false,
		func(nb privacy.Neighbours, z float64) accountant.Event { return nb.SelectEvent(1 / z) },
		func(g gateRun, s *privacy.Session) ([]float64, error) {
			i, err := s.Select(g.candidates(), 1/g.scale)
			return []float64{float64(i)}, err
		}, 1},
	{"certified-sum", true, func(nb privacy.Neighbours, scale float64) accountant.Event {
		return gradient.CertifiedEvent(certifiedPlan(scale))
	},
		func(g gateRun, s *privacy.Session) ([]float64, error) {
			c, err := gradient.CertifiedSum(s, certifiedPlan(g.scale), linearCritic(g.sizes))
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
		return blocks.Events(scale, scale)[0].Event
	}, gateRun.blocks, 2},
}

// first is a released number.
func (gateRun) first(counts []int64, err error) ([]float64, error) {
	if err != nil {
		return nil, err
	}
	return []float64{float64(counts[0])}, nil
}

// candidates are two estimates of one marginal of which a target row makes the one worse and the
// other better, as much as either can. The first is right about Out; the second is wrong by so much
// that the first is chosen about once in eight times, where the odds move by nearly e^ε.
func (g gateRun) candidates() []privacy.Candidate {
	counts := make([]int64, g.sizes[g.col])
	g.pair.Out.CountTo(counts, []int{g.col})
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
		return Mechanism{}, nil, fmt.Errorf("attack: %s: %w", name, err)
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
	pair, err := Neighbours(s, adj, shape, 200)
	if err != nil {
		return fail(err)
	}
	nb := privacy.NeighboursOf(s, adj)
	plan := func(scale float64) accountant.Composition {
		return accountant.Composition{{Event: g.event(nb, scale), Count: g.count}}
	}
	scale, err := calibrate.Scale(b, nb.Adjacency, plan, pld.RDP, pld.Epsilon)
	if err != nil {
		return fail(err)
	}
	claim, err := ClaimOf(b, nb.Adjacency, plan(scale))
	if err != nil {
		return fail(err)
	}
	run := gateRun{pair: pair, nb: nb, scale: scale, sizes: s.Sizes()}
	for run.sizes[run.col] == 1 {
		run.col++
	}
	return Mechanism{Name: name, Claim: claim,
		Run: func(ctx context.Context, t *table.Table) ([]float64, error) {
			session, err := privacy.Open(ctx, privacy.FromTable(t),
				privacy.Options{Budget: b, Plan: plan(scale), Adjacency: nb.Adjacency, Method: name,
					Price: pld.Epsilon,
					Tool:  "audit"})
			if err != nil {
				return nil, err
			}
			x, err := g.call(run, session)
			return x, errors.Join(err, session.Finish(nil, nil))
		}}, pair, nil
}
