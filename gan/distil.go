package gan

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/decoy-dp/decoy/internal/matrix"
	"github.com/decoy-dp/decoy/model/marginal"
)

// What a generator is distilled with. Chosen on adult at ε = 1, where more latent numbers or units,
// larger batches and smaller rates cost time and bring nothing.
const (
	keepWeights = .5   // is left of the random weights of its last layer at the start
	lastFloor   = .003 // of the shares that weigh, which falls from 1
	distilBatch = 256  // generated rows of a step
	distilRate  = .015 // Adam's learning rate, which rises for a start and falls along a cosine
	averageRate = .01  // weight of the newest parameters in the average of all steps
)

// Distillation trains a generator. It compares its rows, as their probabilities given the latent
// noise, with the pairs of columns of public rows, and moves it towards these, or towards these and
// what else a caller has gradients of. What is kept is the moving average of the generator's
// parameters, which takes the noise of single steps off. It is for one goroutine at a time.
type Distillation struct {
	generator *Generator
	pairs     *pairLoss
	pass      *Pass
	down      Matrix
	adam      *matrix.Adam
	average   []float32
}

// Distil starts the generator at the columns of p.
func (g *Generator) Distil(p *marginal.Pairs) *Distillation {
	d := &Distillation{generator: g, pairs: newPairLoss(p),
		pass: g.NewPass(distilBatch, Head{Mean: true}), down: matrix.New(distilBatch, g.encoder.Cells()),
		adam: matrix.NewAdam(len(g.parameters), .9, .99)}
	g.setMarginals(p.Ones, keepWeights)
	d.average = slices.Clone(g.parameters)
	return d
}

// Step moves the generator towards the pairs; share is that of the steps that are done. All cells
// weigh the same at first, and in the end by their shares.
func (d *Distillation) Step(share float64, u *rand.Rand) {
	d.pairs.floor = float32(math.Pow(lastFloor, min(1, share/.4)))
	rate := distilRate * (.02 + .49*(1+math.Cos(math.Pi*share))) * min(1, .02+50*share)
	d.Update(d.Gradient(u), rate)
}

// Gradient is that of the generator's error in pairs, with respect to its parameters. It is the
// distillation's own memory.
func (d *Distillation) Gradient(u *rand.Rand) []float32 {
	x := d.pass.Forward(u)
	clear(d.down.Data)
	d.pairs.AddTo(d.down, x, 1, u)
	return d.pass.Backward(d.down)
}

// Update moves the generator against the gradient, and the average with it.
func (d *Distillation) Update(gradient []float32, rate float64) {
	d.adam.Update(d.generator.parameters, gradient, float32(rate))
	for i, w := range d.generator.parameters {
		d.average[i] += averageRate * (w - d.average[i])
	}
}

// Settle makes the average the generator's parameters.
func (d *Distillation) Settle() { copy(d.generator.parameters, d.average) }

// Work is how many multiplications a generator of the default size does for a row of so many cells,
// forward and back, and how many a step of its distillation takes.
func Work(cells int) (row, step float64) {
	row = 3 * defaultHidden * float64(cells+defaultHidden+64)
	compared := float64(min(cells, maxPairCells))
	return row, distilBatch * (row + 2*compared*compared)
}
