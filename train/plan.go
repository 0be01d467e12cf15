package train

import (
	"context"
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/accountant/calibrate"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/laplace"
	"github.com/decoy-dp/decoy/privacy/logistic"
	"github.com/decoy-dp/decoy/privacy/query"
	"github.com/decoy-dp/decoy/schema"
)

// Plan is a training that has been paid for on paper. By descent and by output perturbation, one
// filter of the largest μ that the budget allows pays for all: for the number of rows, unless it is
// public, and for what follows from it. By objective perturbation the number of rows is bought with
// Laplace noise, and the rest of ε, with δ, goes to one call.
type Plan struct {
	by      string
	problem logistic.Problem
	sizes   []int
	cells   int // weights of an output
	nb      privacy.Neighbours
	mu      float64
	call    accountant.Budget // of objective perturbation
	count   float64           // scale of the Laplace noise of the number of rows; 0: it is public
}

const (
	rowsShare    = .02 // of μ² buys the number of rows
	epsilonShare = .05 // of ε, by objective perturbation
)

// NewPlan plans from public knowledge only. Of the options, Budget, Target, Drop, Rows and By are
// used.
func NewPlan(s *schema.Schema, nb privacy.Neighbours, o Options) (*Plan, error) {
	t, err := newTask(s, o.Target, o.Drop)
	if err != nil {
		return nil, err
	}
	p := &Plan{by: o.By, problem: t.problem, sizes: s.Sizes(), nb: nb}
	p.cells = t.problem.Cells(p.sizes)
	switch {
	case p.by == "":
		p.by = Descent
	case p.by != Descent && p.by != Output && p.by != Perturbed:
		return nil, fmt.Errorf("train: by %q: want %s, %s or %s: %w", o.By, Descent, Output, Perturbed,
			ErrTarget)
	case p.by != Descent && len(t.classes) > 2:
		return nil, fmt.Errorf("train: column %q has %d classes, and %s perturbation takes two: %w",
			o.Target, len(t.classes), p.by, ErrTarget)
	}
	if p.mu, err = calibrate.Mu(o.Budget); err != nil {
		return nil, err
	}
	p.call = o.Budget
	if p.by == Perturbed && o.Rows == 0 {
		p.call.Epsilon *= 1 - epsilonShare
		unit := laplace.Event(nb, query.Total{}, 1).(accountant.Laplace).Epsilon
		p.count = unit / (o.Budget.Epsilon - p.call.Epsilon) * (1 + 1e-9)
	}
	return p, nil
}

// Composition is what a session must reserve.
func (p *Plan) Composition() accountant.Composition {
	if p.by != Perturbed {
		return accountant.Composition{{Event: accountant.GDPFilter{Mu: p.mu}, Count: 1}}
	}
	out := accountant.Composition{{Event: logistic.PerturbedEvent(p.call), Count: 1}}
	if p.count > 0 {
		out = append(out, accountant.Charge{Event: laplace.Event(p.nb, query.Total{}, p.count), Count: 1})
	}
	return out
}

// rows is the number of rows: public, or bought.
func (p *Plan) rows(s *privacy.Session, public int) (float64, error) {
	var total []int64
	var err error
	switch {
	case public > 0:
		return float64(public), nil
	case p.count > 0:
		total, err = laplace.Measure(s, query.Total{}, p.count)
	default:
		unit := p.nb.MeasureEvent(query.Total{}, 1).(accountant.Gaussian).NoiseMultiplier
		total, err = s.Measure(query.Total{}, 1/(p.mu*math.Sqrt(rowsShare)*unit))
	}
	if err != nil {
		return 0, err
	}
	return max(1, float64(total[0])), nil
}

// fit buys what the plan says. The result has coefficients and the number of rows.
func (p *Plan) fit(ctx context.Context, s *privacy.Session, o Options) (*Classifier, error) {
	report := func(stage string, fraction float64) {
		if o.Progress != nil {
			o.Progress(stage, fraction)
		}
	}
	report("counting", 0)
	n, err := p.rows(s, o.Rows)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	train := p.descend
	if p.by != Descent {
		train = p.perturb
	}
	w, err := train(ctx, s, n, report)
	if err != nil {
		return nil, err
	}
	c := &Classifier{By: p.by, Rows: n, Intercept: make([]float64, p.problem.Outputs())}
	for at := 0; at < len(w); at += p.cells {
		c.Coefficients = append(c.Coefficients, w[at:at+p.cells:at+p.cells])
	}
	return c, nil
}
