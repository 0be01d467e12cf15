package gan

import (
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/internal/kernels"
	"github.com/decoy-dp/decoy/internal/matrix"
)

// upper is what a History needs of critics with several hidden layers, above the first.
type upper struct {
	layers  []matrix.Affine // of the shape, above the first
	first   int             // parameter that W² begins with
	tutor   *Tutor          // of these layers, on rows of x¹
	x, down Matrix          // x¹ of a measurement's critic; ∇_{x¹} D
	h       [2][]float32    // of either half of the rows: the mean gradient, then its residuals
	parts   [2][]matrix.Affine
	back    []Matrix // ∇x of each layer for half of the rows
	wide    Matrix   // φ'(s¹) ⊙ ∇x¹: batch × picks·units
}

func newUpper(c *critic.Critic) *upper {
	all := views(c, c.Parameters())
	u := &upper{layers: all[1:], first: len(all[0].W.Data) + len(all[0].B)}
	for side := range 2 {
		whole := make([]float32, len(c.Parameters()))
		u.h[side], u.parts[side] = whole[u.first:], views(c, whole)[1:]
	}
	return u
}

// above adds to the gradient what measurement m, the t-th of the picks, says of the layers above
// the first, and returns its part of the loss, times share. It turns P into δ¹. With H^l the
// residuals of ∇W^l in units of sd², from the other half of the rows, a row has
//
//	∇x^{l−1} = H^lδ^l + W^l(φ'(s^l)⊙∇x^l),    ∇x^L = 0.
func (h *History) above(m *measured, t int, scale, share float32) float64 {
	u, batch, at := h.upper, h.x.Rows, t*h.units
	half := batch / 2
	if u.tutor == nil || u.tutor.batch != batch {
		u.tutor = newTutor(u.layers, h.shape.Slope(), batch)
		u.x, u.down, u.back = matrix.New(batch, h.units), matrix.New(batch, h.units), nil
		for _, layer := range u.layers {
			u.back = append(u.back, matrix.New(half, layer.W.Rows))
		}
	}
	if u.wide.Rows != batch || u.wide.Cols != h.p.Cols {
		u.wide = matrix.New(batch, h.p.Cols)
	}
	for i := range batch {
		copy(u.x.Row(i), h.x.Row(i)[at:])
	}
	u.tutor.layers = m.layers[1:]
	u.tutor.forward(u.x)
	matrix.MulTo(u.down, 1, u.tutor.delta[0], m.layers[1].W.T(), 0)
	for side := range 2 {
		in := rows(u.x, side*half, half)
		for l, part := range u.parts[side] {
			collect(part, in, rows(u.tutor.delta[l], side*half, half))
			in = rows(u.tutor.x[l], side*half, half)
		}
	}
	loss, norm := 0., share/m.count
	last := len(u.h[0]) - 1
	for k, inverse := range m.SDs[u.first:][:last] {
		mean := m.Means[u.first+k]
		a, b := (u.h[0][k]*scale-mean)*inverse, (u.h[1][k]*scale-mean)*inverse
		loss += float64(a * b)
		u.h[0][k], u.h[1][k] = a*inverse*norm, b*inverse*norm
	}
	for side := range 2 {
		u.descend(side, h.shape.Slope())
		for i := range half {
			p := h.p.Row(side*half + i)[at:][:h.units]
			wide, delta := u.wide.Row(side*half + i)[at:], u.down.Row(side*half+i)
			for j, x := range u.back[0].Row(i) {
				wide[j] = p[j] * x
				p[j] *= delta[j]
			}
		}
	}
	return loss * float64(norm)
}

// descend sets back to ∇x^l of the rows of one half.
func (u *upper) descend(side int, slope float32) {
	half := u.back[0].Rows
	for l := len(u.back) - 1; l >= 0; l-- {
		delta := rows(u.tutor.delta[l], side*half, half)
		matrix.MulTo(u.back[l], 1, delta, u.parts[1-side][l].W.T(), 0)
		if l == len(u.back)-1 {
			continue
		}
		next := u.back[l+1]
		kernels.DescendTo(next.Data, rows(u.tutor.s[l], side*half, half).Data, slope)
		matrix.MulTo(u.back[l], 1, next, u.tutor.layers[l].W.T(), 1)
	}
}
