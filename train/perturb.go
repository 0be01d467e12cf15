package train

import (
	"context"
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/logistic"
)

// perturb takes one noisy minimiser of a table of about n rows.
func (p *Plan) perturb(
	_ context.Context, s *privacy.Session, n float64, report func(string, float64),
) ([]float64, error) {
	if limit := p.problem.RowLimit(p.sizes); n > limit/2 {
		return nil, fmt.Errorf("train: about %.0f rows, %s perturbation is proved for %.0f: %s has no "+
			"such limit", n, p.by, limit/2, Descent)
	}
	report("training", 0)
	lambda := p.penalty()
	if p.by == Perturbed {
		return logistic.Perturbed(s, p.problem, lambda, p.call)
	}
	one := logistic.OutputEvent(p.nb, p.problem, lambda, 1).(accountant.Gaussian).NoiseMultiplier
	return logistic.Output(s, p.problem, lambda, 1/(one*math.Sqrt(s.FilterLeft())*(1-1e-9)))
}

// penalty is the public rule for λ of the summed loss: as many times the noise of its gradient,
// Δ/μ, as was best on Adult, so that the noise of a weight, at most Δ/(λ·μ), is a tenth or a sixth.
// Objective perturbation also needs a λ that leaves it room.
func (p *Plan) penalty() float64 {
	unit := logistic.GradientEvent(p.nb, p.problem, 1).(accountant.Gaussian).NoiseMultiplier // 1/Δ
	lambda := outputPenalty / (p.mu * unit)
	if p.by == Output {
		return lambda
	}
	lambda = objectivePenalty / (p.mu * unit)
	for range 100 {
		if _, err := logistic.NewObjective(p.nb, p.problem, p.sizes, lambda, p.call); err == nil {
			break
		}
		lambda *= 1.5
	}
	return lambda
}

const (
	outputPenalty    = 10
	objectivePenalty = 6
)
