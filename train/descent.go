package train

import (
	"context"
	"math"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/logistic"
)

// Steps are those of a descent. Every one moves by Size against a gradient with noise of standard
// deviation Sigma in each coordinate.
type Steps struct {
	Count int
	Size  float64 // times the gradient of the mean loss
	Sigma float64 // of the gradient of the summed loss, whose size a row changes by √columns at most
}

const (
	momentum = .8
	minSteps = 100
	maxSteps = 400
)

// Expected are the steps for a table of that many rows, of which it is said whether they are
// public.
func (p *Plan) Expected(rows int, public bool) Steps {
	if public {
		return p.steps(float64(rows), p.mu)
	}
	return p.steps(float64(rows), p.mu*math.Sqrt(1-rowsShare))
}

// steps is the public rule: how long to go down follows from how far the summed gradient can stand
// out of the noise, s = rows·μ/Δ. In a time τ (the steps times their size, with momentum) the noise
// moves a weight by about τ/s, and the loss is fitted in directions of curvature above 1/τ: τ is
// .4·s, and less where s is small. More steps cost no privacy, for they share one μ; so they are
// as many as a size needs that is stable whatever the rows, 100 to 400.
func (p *Plan) steps(rows, mu float64) Steps {
	unit := logistic.GradientEvent(p.nb, p.problem, 1).(accountant.Gaussian).NoiseMultiplier // 1/Δ
	s := max(1, rows) * mu * unit
	tau := .4 * s * s / (s + 30)
	// The Hessian of a row is at most m/4, with several outputs m/2; Nesterov's iteration with this
	// momentum is stable up to 1.35 over it.
	largest := 4.8 / float64(len(p.problem.Columns))
	if p.problem.Outputs() > 1 {
		largest /= 2
	}
	at := Steps{Count: minSteps}
	if n := math.Ceil(tau * (1 - momentum) / largest); n > minSteps {
		at.Count = int(min(n, maxSteps))
	}
	at.Size = min(largest, tau*(1-momentum)/float64(at.Count))
	at.Sigma = math.Sqrt(float64(at.Count)) / (mu * unit)
	return at
}

// descend goes down for n rows.
func (p *Plan) descend(
	ctx context.Context, s *privacy.Session, n float64, report func(string, float64),
) ([]float64, error) {
	// a hair less than is left, so that the steps' shares fit in after rounding
	steps := p.steps(n, math.Sqrt(s.FilterLeft())*(1-1e-9))
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
	return mean, nil
}

// limited keeps a weight, which noise alone may drive on, in the range of a gradient.
func limited(w float64) float64 { return max(-1000, min(1000, w)) }
