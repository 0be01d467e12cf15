package wgan

import (
	"math"
	"slices"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/privacy"
)

// keep adds a release to the measurements and returns the mean gradient that it says.
func (t *training) keep(r privacy.Certified) ([]float64, error) {
	cert, batch := r.Certificate, t.cfg.Rate*t.rows
	t.size = cert.TotalStd()
	gradient := make([]float64, cert.Parameters())
	var inputs []float64
	if cert.Inputs() > 0 {
		inputs = make([]float64, cert.Inputs())
	}
	cert.DecodeTo(gradient, inputs, r.Released, batch)
	for k := range gradient {
		gradient[k] /= batch
	}
	for k := range inputs {
		inputs[k] /= batch
	}
	return gradient, t.remember(cert, gradient, inputs, t.penalty().GradientMultiplier(t.z)/batch)
}

// learn keeps a release and takes the critic's step.
func (t *training) learn(r privacy.Certified) error {
	gradient, err := t.keep(r)
	if err != nil {
		return err
	}
	c := t.cfg
	if c.FreshCritics {
		fresh, err := t.newCritic()
		if err != nil {
			return err
		}
		copy(t.critic.Parameters(), fresh.Parameters())
		return nil
	}
	x := t.seen(&t.folded, t.fake.Forward(t.u))
	got, err := t.criticGradient(x)
	if err != nil {
		return err
	}
	if c.Lipschitz == interpolates {
		penalty := make([]float64, len(got))
		r.Penalty.Certificate.DecodeTo(penalty, r.Penalty.Released)
		for k := range got {
			got[k] += float32(c.Penalty / (c.Rate * t.rows) * penalty[k])
		}
	}
	for k := range got {
		got[k] -= float32(gradient[k])
	}
	t.adamC.Update(t.critic.Parameters(), got, float32(c.CriticRate))
	switch c.Lipschitz {
	case "spectral":
		t.tutor.LimitSpectral(c.Limit, 3)
	case "clip":
		t.critic.Clip(float32(c.Limit))
	}
	return nil
}

// remember adds a release to the replay: means in units of the data, less what the inputs predict,
// and their standard deviations. Mode residual predicts from the inputs what the first layer's
// weights tell, and with one hidden layer also what the last's do.
func (t *training) remember(cert *bounds.Certificate, gradient, inputs []float64,
	zPerRow float64) error {
	w, b := t.critic.Layer(0)
	scales := cert.Scales()[cert.Inputs():]
	sds := make([]float32, len(gradient))
	for k := range gradient {
		sds[k] = t.deviation(scales[k]*zPerRow, gradient[k], cert.Factor())
	}
	means := slices.Clone(gradient)
	meanInputs, sdInputs := t.inputs, slices.Clone(t.inputSDs)
	var p predictor
	if cert.Inputs() > 0 {
		p = predictor{make([]float64, len(w)), make([]float64, len(w))}
		cert.PredictorTo(p.weights, p.output)
		p.takeOff(means, inputs)
		meanInputs, sdInputs = narrow(inputs), make([]float32, len(inputs))
		for k, c := range cert.Scales()[:cert.Inputs()] {
			sdInputs[k] = t.deviation(c*zPerRow, inputs[k], 0)
		}
	}
	t.asSeen(sds, sdInputs, p)
	if t.deep != nil {
		return t.deep.Add(gan.DeepSnapshot{Critic: t.critic, Means: narrow(means), SDs: sds,
			Predict: narrow(p.weights), MeanInputs: meanInputs, SDInputs: sdInputs})
	}
	out, _ := t.critic.Layer(1)
	s := gan.Snapshot{Slope: t.critic.Slope(), Weights: w, Bias: b, Output: out,
		PredictWeights: narrow(p.weights), PredictOut: narrow(p.output), MeanInputs: meanInputs,
		SDInputs: sdInputs}
	cut := func(x []float32) (weights, bias, output []float32) {
		return x[:len(w)], x[len(w) : len(w)+len(b)], x[len(w)+len(b):][:len(out)]
	}
	s.MeanWeights, s.MeanBias, s.MeanOut = cut(narrow(means))
	s.SDWeights, s.SDBias, s.SDOut = cut(sds)
	return t.flat.Add(s)
}

// deviation is the standard deviation of a mean: that of its noise, of the noisy number of rows it
// was divided by, and of the grid that the gate rounds factors to and the generator does not.
// Without the last two a coordinate that hardly needs noise would drown all others.
func (t *training) deviation(noise, mean, grid float64) float32 {
	scale := mean * t.rowsError
	return float32(math.Sqrt(noise*noise + scale*scale + grid*grid))
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
