package synth

import (
	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/internal/matrix"
)

// freeWeight is the weight of the penalty at generated points.
func (p *wganPlan) freeWeight() float32 {
	if p.cfg.Lipschitz != freePenalty {
		return 0
	}
	return float32(p.penaltyWeight)
}

// close releases what Gorgonia holds.
func (t *wganTraining) close() {
	if t.generatorGraph != nil {
		t.generatorGraph.Close()
		t.criticGraph.Close()
	}
}

// criticGradient is the gradient of the critic's loss at the generated rows x, and with the free
// penalty between them. It is the engine's own memory.
func (t *wganTraining) criticGradient(x matrix.Matrix) ([]float32, error) {
	weight := t.freeWeight()
	if weight > 0 {
		gan.MixTo(t.mixed, x, t.u)
	}
	if t.criticGraph != nil {
		gradient, _, _, err := t.criticGraph.Gradient(x, t.mixed)
		return gradient, err
	}
	gradient, _ := t.tutor.Gradient(x)
	if weight > 0 {
		t.tutor.AddPenalty(t.mixed, weight, true)
	}
	return gradient, nil
}

// generatorGradient is the gradient with respect to the generator's parameters, from that with
// respect to the rows of its last batch. It is the engine's own memory.
func (t *wganTraining) generatorGradient() ([]float32, error) {
	if t.generatorGraph != nil {
		gradient, _, err := t.generatorGraph.Gradient(t.down)
		return gradient, err
	}
	return t.pass.Backward(t.down), nil
}
