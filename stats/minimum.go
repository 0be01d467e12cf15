package stats

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/mech/logistic"
)

// The ways to train, beside PATE. Two find the minimum of a penalised loss, and add noise to it or
// to what is minimised.
const (
	Descent     = "descent"
	byOutput    = "output"
	byObjective = "objective"
)

// Ways are the ways to train; the first is the default.
var Ways = []string{Descent, byOutput, byObjective, PATE}

// penalty is the rule for both: Λ = penalty·√m·Δ/μ, with Δ what a unit moves a gradient by. Noise
// on the minimum then moves the log odds of a row by about 1/penalty. It was chosen on Adult, and
// does not need the number of rows.
const penalty = 2

// perturb plans a minimum with noise for the whole budget.
func (p *plan) perturb(b accountant.Budget) error {
	moved := unit(logistic.GradientEvent(p.nb, p.problem, 1)) // Δ
	m := float64(len(p.problem.Columns))
	p.at.Penalty = max(1./(1<<10), penalty*math.Sqrt(m)*moved/p.mu)
	p.at.Output = 1
	event := func() accountant.Event { return logistic.MinimumEvent(p.nb, p.problem, p.at) }
	switch p.o.By {
	case byOutput:
		p.at.Output = (1 + 1e-12) * unit(event()) / p.mu
	case byObjective:
		rows, curvature := float64(max(1, p.nb.MaxRowsPerUnit)), m/4
		if p.problem.Outputs() > 1 {
			curvature = m
		}
		// of ε, curvature may take an eighth
		p.at.Penalty = max(p.at.Penalty, 8*rows*curvature/b.Epsilon)
		p.at.Epsilon = b.Epsilon
		within := func(sigma float64) bool {
			// what covers that the minimum is not exact costs 1/64 of μ²
			p.at.Objective, p.at.Output = sigma, 16*logistic.Gap/p.at.Penalty*sigma/moved
			return event().(accountant.Approx).Delta <= b.Delta
		}
		low, high := moved/p.mu, float64(1<<17)
		if !within(high) {
			return fmt.Errorf("epsilon %v needs noise of more than %.2g rows in a gradient, beyond "+
				"what is drawn: %w", b.Epsilon, high, accountant.ErrBudgetRange)
		}
		for high > low*(1+1e-9) {
			if mid := math.Sqrt(low * high); within(mid) {
				high = mid
			} else {
				low = mid
			}
		}
		within(high)
	default:
		return fmt.Errorf("by %q: there is %q", p.o.By, Ways)
	}
	if p.at.Reachable(p.cells*p.problem.Outputs()) != nil {
		return fmt.Errorf("epsilon %v is too small for --by %s, where a unit has up to %d "+
			"rows: %w", b.Epsilon, p.o.By, max(1, p.nb.MaxRowsPerUnit), accountant.ErrBudgetRange)
	}
	return nil
}

// coefficients is a classifier of weights, output after output.
func (p *plan) coefficients(w []float64, rows float64) *Classifier {
	c := &Classifier{By: p.o.By, Rows: rows, Intercept: make([]float64, p.problem.Outputs())}
	for at := 0; at < len(w); at += p.cells {
		c.Coefficients = append(c.Coefficients, w[at:at+p.cells:at+p.cells])
	}
	return c
}
