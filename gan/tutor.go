package gan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/internal/kernels"
	"github.com/decoy-dp/decoy/internal/matrix"
)

// Tutor differentiates a critic at generated rows: the part of its training that touches no private
// row. It is for one goroutine at a time.
type Tutor struct {
	layers   []matrix.Affine
	slope    float32
	batch    int
	s, x     []Matrix // of every layer
	delta    []Matrix // ∇_{s^l} D
	up       []Matrix // scratch of the penalty, shaped like delta
	input    Matrix   // ∇_x D, then the gradient of the penalty with respect to it
	gradient []float32
	parts    []matrix.Affine
	spectral [][]float32 // approximate right singular vectors of W^l
}

// views cuts parameters of a critic, or a gradient, into its layers.
func views(c *critic.Critic, p []float32) (out []matrix.Affine) {
	for l, layer := range c.Views(p) {
		in, units := c.Sizes()[l], len(layer.Bias)
		out = append(out, matrix.Affine{W: matrix.Dense(in, units, layer.Weights), B: layer.Bias})
	}
	return out
}

// NewTutor returns a tutor of c for batches of the given number of rows, at least 1.
func NewTutor(c *critic.Critic, batch int) *Tutor {
	if batch < 1 {
		panic(fmt.Sprintf("gan: a tutor of %d rows", batch))
	}
	t := newTutor(views(c, c.Parameters()), c.Slope(), batch)
	t.gradient = make([]float32, len(c.Parameters()))
	t.parts = views(c, t.gradient)
	return t
}

// newTutor returns a tutor of layers that runs, but has no room for a gradient.
func newTutor(layers []matrix.Affine, slope float32, batch int) *Tutor {
	t := &Tutor{layers: layers, slope: slope, batch: batch,
		input: matrix.New(batch, layers[0].W.Rows)}
	for _, layer := range layers {
		units := len(layer.B)
		t.s = append(t.s, matrix.New(batch, units))
		t.x = append(t.x, matrix.New(batch, units))
		t.delta = append(t.delta, matrix.New(batch, units))
		t.up = append(t.up, matrix.New(batch, units))
		v := slices.Repeat([]float32{1}, units)
		normalise(v)
		t.spectral = append(t.spectral, v)
	}
	return t
}

// forward runs the critic on dense rows and sets delta.
func (t *Tutor) forward(rows Matrix) {
	if rows.Rows != t.batch || rows.Cols != t.input.Cols {
		panic(fmt.Sprintf("gan: %d × %d cells for a tutor of %d × %d", rows.Rows, rows.Cols,
			t.batch, t.input.Cols))
	}
	in, last := rows, len(t.s)-1
	for l, layer := range t.layers {
		layer.To(t.s[l], in)
		kernels.LeakyReLUTo(t.x[l].Data, t.s[l].Data, t.slope)
		in = t.x[l]
	}
	for i := range t.delta[last].Data {
		t.delta[last].Data[i] = 1
	}
	for l := last - 1; l >= 0; l-- {
		matrix.MulTo(t.delta[l], 1, t.delta[l+1], t.layers[l+1].W.T(), 0)
		kernels.DescendTo(t.delta[l].Data, t.s[l].Data, t.slope)
	}
}

// collect sets the gradient with respect to the parameters, of rows that forward has run on.
func (t *Tutor) collect(x Matrix) {
	for l, part := range t.parts {
		collect(part, x, t.delta[l])
		x = t.x[l]
	}
}

// Gradient returns the gradient of the mean of D over the rows, relaxed or hard cells, with respect
// to the critic's parameters, and that mean. The result is the tutor's own and starts anew with
// this call; the other methods add to it.
func (t *Tutor) Gradient(rows Matrix) (gradient []float32, mean float64) {
	t.forward(rows)
	t.collect(rows)
	scale := 1 / float32(t.batch)
	for i := range t.gradient {
		t.gradient[i] *= scale
	}
	for _, v := range t.s[len(t.s)-1].Data {
		mean += float64(v)
	}
	return t.gradient, mean / float64(t.batch)
}

// AddPenalty adds the gradient of weight · mean (‖∇_x D‖₂ − 1)² over the rows to that of Gradient,
// or of mean max(‖∇_x D‖₂ − 1, 0)² if oneSided, and returns the mean without the weight (Gulrajani
// et al. 2017, arXiv 1704.00028; one-sided: Petzka et al. 2018, arXiv 1709.08894).
//
// ∇_x D = W¹δ¹ is computed explicitly and differentiated once, with φ' taken as constant in the
// weights, which it is almost everywhere; bias gradients are then 0. The rows are generated ones,
// or between generated ones: no private row enters.
func (t *Tutor) AddPenalty(rows Matrix, weight float32, oneSided bool) float64 {
	t.forward(rows)
	matrix.MulTo(t.input, 1, t.delta[0], t.layers[0].W.T(), 0)
	total := 0.
	for i := range t.batch {
		row := t.input.Row(i)
		var square float32
		for _, v := range row {
			square += v * v
		}
		norm := math.Sqrt(float64(square))
		excess := norm - 1
		if oneSided {
			excess = max(excess, 0)
		}
		total += excess * excess
		factor := float32(0)
		if norm > 0 {
			factor = float32(2 * excess / norm * float64(weight) / float64(t.batch))
		}
		for j := range row {
			row[j] *= factor
		}
	}
	// With q the gradient with respect to ∇_x D: ∇W¹ = qᵀδ¹, r¹ = φ'⊙qW¹, ∇W² = r¹ᵀδ², r² =
	// φ'⊙r¹W², ...
	from := t.input
	for l, part := range t.parts {
		matrix.MulTo(part.W, 1, from.T(), t.delta[l], 1)
		if l == len(t.parts)-1 {
			break
		}
		matrix.MulTo(t.up[l], 1, from, t.layers[l].W, 0)
		kernels.DescendTo(t.up[l].Data, t.s[l].Data, t.slope)
		from = t.up[l]
	}
	return total / float64(t.batch)
}

// InputTo sets dst to the gradient of the mean of D with respect to the rows, and returns the mean:
// what a generator trained on the critic's score descends, with the sign turned.
func (t *Tutor) InputTo(dst, rows Matrix) float64 {
	t.forward(rows)
	matrix.MulTo(dst, 1/float32(t.batch), t.delta[0], t.layers[0].W.T(), 0)
	mean := 0.
	for _, v := range t.s[len(t.s)-1].Data {
		mean += float64(v)
	}
	return mean / float64(t.batch)
}

// MixTo sets each row of dst to one between the same row of rows and another of rows, at a place
// and with a partner drawn from u: where the penalty is taken.
func MixTo(dst, rows Matrix, u *rand.Rand) {
	for i := range rows.Rows {
		e := float32(u.Float64())
		a, b, out := rows.Row(i), rows.Row(u.IntN(rows.Rows)), dst.Row(i)
		for j, v := range a {
			out[j] = e*v + (1-e)*b[j]
		}
	}
}

// GradientOf returns the gradient of Σ_i ℓ_i(D(x_i)) over the rows x_i with respect to the critic's
// parameters, for losses of a row's score given by their derivative: derivative(i, score) is
// ℓ_i'(score). Like Gradient it starts anew, and its result is the tutor's own.
func (t *Tutor) GradientOf(rows Matrix, derivative func(int, float32) float32) []float32 {
	t.forward(rows)
	scores := t.s[len(t.s)-1]
	for i := range t.batch {
		d := derivative(i, scores.Row(i)[0])
		for l := range t.delta {
			row := t.delta[l].Row(i)
			for j := range row {
				row[j] *= d
			}
		}
	}
	t.collect(rows)
	return t.gradient
}
