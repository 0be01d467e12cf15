package wgan

import (
	"math"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/internal/matrix"
	"github.com/decoy-dp/decoy/release"
)

// What a generator is distilled with. Chosen on adult at ε = 1, where more latent numbers or units,
// larger batches and smaller rates cost time and bring nothing.
const (
	latent      = 16   // numbers of the generator
	keepWeights = .5   // is left of the random weights of its last layer at the start
	lastFloor   = .003 // of the shares that weigh, which falls from 1
	distilBatch = 256  // generated rows of a step
	distilRate  = .015 // Adam's learning rate, which rises for a start and falls along a cosine
)

// distillation compares the rows of a generator, as their probabilities given the latent noise,
// with the pairs of columns of a marginal model.
type distillation struct {
	pairs *gan.Pairs
	pass  *gan.Pass
	down  matrix.Matrix
}

// newDistillation starts the generator at the columns of the marginal model.
func newDistillation(m *release.Generator) *distillation {
	g := m.Net
	d := &distillation{pairs: gan.NewPairs(m.Pairs()),
		pass: g.NewPass(distilBatch, gan.Head{Mean: true}),
		down: matrix.New(distilBatch, g.Encoder().Cells())}
	g.SetMarginals(d.pairs.Shares(), keepWeights)
	return d
}

// gradient is that of weight times the generator's error in pairs, with respect to its parameters.
// It is the distillation's own memory.
func (d *distillation) gradient(weight float64, u *rand.Rand) []float32 {
	x := d.pass.Forward(u)
	clear(d.down.Data)
	d.pairs.AddTo(d.down, x, float32(weight), u)
	return d.pass.Backward(d.down)
}

// distilStep moves the generator towards the pairs of the marginal model; share is that of the
// steps that are done. All cells weigh the same at first, and in the end by their shares.
func (t *training) distilStep(share float64) {
	t.distil.pairs.Floor = float32(math.Pow(lastFloor, min(1, share/.4)))
	rate := distilRate * (.02 + .49*(1+math.Cos(math.Pi*share))) * min(1, .02+50*share)
	t.update(t.distil.gradient(1, t.u), rate)
}
