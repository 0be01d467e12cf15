package gan

import "github.com/decoy-dp/decoy/internal/kernels"

// GradientOf returns the gradient of Σ_i ℓ_i(D(x_i)) over the rows x_i with respect to the critic's
// parameters, for losses of a row's score given by their derivative: derivative(i, score) is
// ℓ_i'(score). Like Gradient it starts anew, and its result is the tutor's own.
func (t *Tutor) GradientOf(rows kernels.Matrix, derivative func(i int,
	score float32) float32) []float32 {
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
	x := rows
	for l, part := range t.parts {
		part.collect(x, t.delta[l])
		x = t.x[l]
	}
	return t.gradient
}
