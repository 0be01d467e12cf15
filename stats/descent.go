package stats

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/mech/logistic"
)

// plan is a training that has been paid for on paper. For noisy descent on all rows, one filter of
// the largest μ that the budget allows pays for the number of rows, unless it is public, and for
// the gradients, whose number follows from it; for a minimum, there is one call.
type plan struct {
	*task
	o      Training
	cells  int // weights of an output
	nb     privacy.Neighbours
	mu     float64
	at     logistic.Perturbation // of a minimum; 0 for a descent
	taught taught                // of a student
}

// newPlan plans from public knowledge only.
func newPlan(
	s *schema.Schema, nb privacy.Neighbours, o Training, b accountant.Budget,
) (*plan, error) {
	t, err := newTask(s, o.Target, o.Drop)
	if err != nil {
		return nil, err
	}
	o.By = cmp.Or(o.By, Descent)
	p := &plan{task: t, o: o, cells: t.problem.Cells(s.Sizes()), nb: nb}
	if p.mu, err = accountant.MuFor(b); err != nil {
		return nil, err
	}
	switch o.By {
	case Descent:
	case PATE:
		return p, p.ballots(b)
	default:
		return p, p.perturb(b)
	}
	// the most noise that a descent may have, in steps of a gradient's grid
	moved := unit(logistic.GradientEvent(nb, p.problem, 1))
	if sigma := math.Sqrt(maxSteps/(1-rowsShare)) * moved / p.mu; sigma > 1<<27 {
		return nil, fmt.Errorf("epsilon %v needs noise of %.2g rows in a gradient, beyond "+
			"what is drawn: %w", b.Epsilon, sigma, accountant.ErrBudgetRange)
	}
	return p, nil
}

// composition is what a session must reserve.
func (p *plan) composition() accountant.Composition {
	if p.o.By == PATE {
		return p.taught.cost
	}
	if p.at.Penalty > 0 {
		return accountant.Composition{{Event: logistic.MinimumEvent(p.nb, p.problem, p.at), Count: 1}}
	}
	return pool(p.mu)
}

// steps are those of a descent. Every one moves by Size against a gradient with noise of standard
// deviation Sigma in each coordinate.
type steps struct {
	Count int
	Size  float64 // times the gradient of the mean loss
	Sigma float64 // of the gradient of the summed loss, whose size a row changes by √columns at most
}

const (
	momentum = .8
	minSteps = 100
	maxSteps = 400
)

// steps is the public rule: how long to go down follows from how far the summed gradient can stand
// out of the noise, s = rows·μ/Δ. In a time τ (the steps times their size, with momentum) the noise
// moves a weight by about τ/s, and the loss is fitted in directions of curvature above 1/τ: τ is
// .4·s, and less where s is small. More steps cost no privacy, for they share one μ; so they are
// as many as a size needs that is stable whatever the rows, 100 to 400.
func (p *plan) steps(rows, mu float64) steps {
	moved := unit(logistic.GradientEvent(p.nb, p.problem, 1)) // Δ
	s := max(1, rows) * mu / moved
	tau := .4 * s * s / (s + 30)
	// The Hessian of a row is at most m/4, with several outputs m/2; Nesterov's iteration with this
	// momentum is stable up to 1.35 over it.
	largest := 4.8 / float64(len(p.problem.Columns))
	if p.problem.Outputs() > 1 {
		largest /= 2
	}
	at := steps{Count: minSteps}
	if n := math.Ceil(tau * (1 - momentum) / largest); n > minSteps {
		at.Count = int(min(n, maxSteps))
	}
	at.Size = min(largest, tau*(1-momentum)/float64(at.Count))
	at.Sigma = math.Sqrt(float64(at.Count)) * moved / mu
	return at
}

// fit buys the number of rows and goes down. The result has coefficients and the number of rows.
func (p *plan) fit(
	ctx context.Context, s *privacy.Session, report func(string, float64),
) (c *Classifier, err error) {
	if p.o.By == PATE {
		return p.teach(ctx, s, report)
	}
	if p.at.Penalty > 0 { // which does not need the number of rows
		report("training", 0)
		w, err := logistic.Minimum(ctx, s, p.problem, p.at)
		return p.coefficients(w, float64(p.o.Rows)), err
	}
	report("counting", 0)
	n, err := countRows(s, p.mu, p.o.Rows)
	if err != nil {
		return nil, err
	}
	steps := p.steps(n, math.Sqrt(s.Left().Mu2)*below)
	size := p.cells * p.problem.Outputs()
	w, v, look, mean := make([]float64, size), make([]float64, size), make([]float64, size),
		make([]float64, size)
	for k := range steps.Count {
		report("training", float64(k)/float64(steps.Count))
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for j := range look {
			look[j] = limited(w[j] + momentum*v[j])
		}
		g, err := logistic.Gradient(s, p.problem, look, steps.Sigma)
		if err != nil {
			return nil, err
		}
		for j := range w {
			v[j] = momentum*v[j] - steps.Size*g[j]/n
			w[j] = limited(w[j] + v[j])
			if second := steps.Count - steps.Count/2; k >= steps.Count-second {
				mean[j] += w[j] / float64(second)
			}
		}
	}
	return p.coefficients(mean, n), nil
}

// limited keeps a weight, which noise alone may drive on, in the range of a gradient.
func limited(w float64) float64 { return max(-1000, min(1000, w)) }
