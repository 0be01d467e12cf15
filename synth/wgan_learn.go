package synth

import (
	"math"
	"slices"

	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/privacy/mech/gradient"
)

// remember adds a release, with noise of that multiplier, to the measurements and returns the mean
// gradient that it says. A measurement is of means in units of the data, less what the inputs
// predict, with their standard deviations. Mode residual predicts from the inputs what the first
// layer's weights tell, and with one hidden layer also what the last's do.
func (t *wganTraining) remember(r gradient.Certified, multiplier float64) ([]float64, error) {
	cert, batch := r.Certificate, t.cfg.Rate*t.rows
	gradient, inputs := make([]float64, cert.Parameters()), make([]float64, cert.Inputs())
	cert.DecodeTo(gradient, inputs, r.Released, batch)
	for k := range gradient {
		gradient[k] /= batch
	}
	for k := range inputs {
		inputs[k] /= batch
	}
	// A mean has the noise of its sum, and that of the grid which the gate rounds factors to.
	scales, zPerRow := cert.Scales(), multiplier/batch
	sds := make([]float32, len(gradient))
	for k, scale := range scales[cert.Inputs():] {
		sds[k] = float32(math.Hypot(scale*zPerRow, cert.Factor()))
	}
	m := gan.Measurement{Critic: t.critic, SDs: sds}
	means := slices.Clone(gradient)
	var p predictor
	if cert.Inputs() > 0 {
		first := len(t.critic.Network().Layers[0].Weights)
		p = predictor{make([]float64, first), make([]float64, first)}
		cert.PredictorTo(p.weights, p.output)
		p.takeOff(means, inputs)
		m.MeanInputs, m.SDInputs = narrow(inputs), make([]float32, len(inputs))
		for k, scale := range scales[:cert.Inputs()] {
			m.SDInputs[k] = float32(scale * zPerRow)
		}
	}
	t.asSeen(sds, m.SDInputs, p)
	m.Means, m.Predict = narrow(means), narrow(p.weights)
	if len(t.cfg.Hidden) == 1 {
		m.PredictOut = narrow(p.output)
	}
	return gradient, t.history.Add(m)
}

// criticStep moves the critic by its mean gradient over private rows less that over generated ones,
// and holds it Lipschitz, if that takes a released penalty by what was released.
func (t *wganTraining) criticStep(gradient []float64, released gradient.Pair) error {
	c := t.cfg
	got, err := t.criticGradient(t.fake.Forward(t.u))
	if err != nil {
		return err
	}
	if c.Lipschitz == interpolates {
		paid := make([]float64, len(got))
		released.Penalty.DecodeTo(paid, released.ReleasedPenalty)
		for k := range got {
			got[k] += float32(t.penaltyWeight / (c.Rate * t.rows) * paid[k])
		}
	}
	for k := range got {
		got[k] -= float32(gradient[k])
	}
	t.adam.Update(t.critic.Parameters(), got, t.criticRate)
	switch c.Lipschitz {
	case "spectral":
		t.tutor.LimitSpectral(weightLimit, 3)
	case "clip":
		gan.Clip(t.critic, weightLimit)
	}
	return nil
}

func narrow(x []float64) []float32 {
	if x == nil {
		return nil
	}
	out := make([]float32, len(x))
	for k, v := range x {
		out[k] = float32(v)
	}
	return out
}
