package gan

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/internal/kernels"
)

// DeepSnapshot is one measurement with a critic of any number of hidden layers: the noisy mean over
// private rows of its gradient
//
//	x^{l-1}_i·δ^l_j   (∇W^l),    δ^l_j   (∇b^l),    δ^l = ∇_{s^l} D,
//
// where x⁰ is the row. As in the residual mode of package bounds the mean of the row itself may be
// measured too; then x⁰_i·(δ¹_j − M_ij) is what was measured of W¹. A standard deviation of +Inf
// marks what was not measured.
type DeepSnapshot struct {
	Critic               *Critic
	Means, SDs           []float32 // in the order of Parameters; standard deviations > 0
	Predict              []float32 // M, shaped like W¹; nil for none
	MeanInputs, SDInputs []float32 // one a cell; nil for not measured
}

// deepMemory is a snapshot as the loss needs it: 1/sd in place of sd.
type deepMemory struct {
	DeepSnapshot
	count float32
}

// DeepReplay is [Replay] for critics with several hidden layers, all of one shape and slope. It is
// for one goroutine at a time.
type DeepReplay struct {
	shape     *Critic
	snapshots []deepMemory
	tables    *tables
	tutor     *Tutor       // of the batch, shown one critic after the other
	h         [2][]float32 // of either half: the mean gradient, then its residuals in units of sd²
	parts     [2][]affine  // views of h
	mean      [2][]float32 // of the rows of either half
	pull      [2][]float32 // gradient that all rows of the other half share
	down      []kernels.Matrix
}

// NewDeepReplay returns an empty memory for critics of the shape and slope of c.
func NewDeepReplay(c *Critic) *DeepReplay {
	r := &DeepReplay{shape: c.Clone()}
	for side := range 2 {
		r.h[side] = make([]float32, len(c.parameters))
		r.parts[side] = c.views(r.h[side])
		r.mean[side], r.pull[side] = make([]float32, c.sizes[0]), make([]float32, c.sizes[0])
	}
	return r
}

// Len is the number of snapshots.
func (r *DeepReplay) Len() int { return len(r.snapshots) }

// SetTables adds the tables to what the replay compares, as [Replay.SetTables] does.
func (r *DeepReplay) SetTables(e *Encoder, t Tables) (err error) {
	r.tables, err = newTables(e, r.shape.sizes[0], t)
	return err
}

// Add remembers a copy of s. It panics if a shape does not fit, and returns an error unless all
// numbers are finite and all standard deviations positive.
func (r *DeepReplay) Add(s DeepSnapshot) error {
	cells := r.shape.sizes[0]
	if s.Predict == nil {
		s.Predict = make([]float32, len(r.shape.layers[0].w.Data))
	}
	if s.MeanInputs == nil && s.SDInputs == nil {
		s.MeanInputs, s.SDInputs = make([]float32, cells), make([]float32, cells)
		for i := range s.SDInputs {
			s.SDInputs[i] = float32(math.Inf(1))
		}
	}
	if fmt.Sprint(s.Critic.sizes, s.Critic.slope) != fmt.Sprint(r.shape.sizes, r.shape.slope) {
		panic(fmt.Sprintf("gan: snapshot of a critic of %d units in a replay of %d", s.Critic.sizes,
			r.shape.sizes))
	}
	if n := len(r.shape.parameters); len(s.Means) != n || len(s.SDs) != n ||
		len(s.Predict) != len(r.shape.layers[0].w.Data) || len(s.MeanInputs) != cells ||
		len(s.SDInputs) != cells {
		panic(fmt.Sprintf(
			"gan: snapshot with %d means, %d standard deviations and %d predictors of %d parameters", len(s.Means), len(s.SDs), len(s.Predict), n))
	}
	m := deepMemory{DeepSnapshot: s}
	m.Critic = s.Critic.Clone()
	for _, part := range []*[]float32{&m.Critic.parameters, &m.Means, &m.Predict, &m.MeanInputs} {
		for _, x := range *part {
			if x-x != 0 {
				return fmt.Errorf("gan: snapshot %d holds a number that is not finite",
					len(r.snapshots)+1)
			}
		}
	}
	m.Means, m.Predict, m.MeanInputs = append([]float32(nil), s.Means...),
		append([]float32(nil), s.Predict...), append([]float32(nil), s.MeanInputs...)
	for _, part := range []*[]float32{&m.SDs, &m.SDInputs} {
		inverse := make([]float32, len(*part))
		for i, sd := range *part {
			if !(sd > 0) {
				return fmt.Errorf("gan: snapshot %d holds a standard deviation of %v",
					len(r.snapshots)+1, sd)
			}
			if inverse[i] = 1 / max(sd, minSD); inverse[i] > 0 {
				m.count++
			}
		}
		*part = inverse
	}
	if m.count == 0 {
		return fmt.Errorf("gan: snapshot %d measures nothing", len(r.snapshots)+1)
	}
	r.snapshots = append(r.snapshots, m)
	return nil
}

// GradientTo is [Replay.GradientTo] with the same loss. With H^l the residuals of ∇W^l in units of
// sd², from the other half of the rows, a row has
//
//	∇x^{l-1} = H^lδ^l + W^l(φ'(s^l)⊙∇x^l),    ∇x^L = 0,    and at l = 1 also ι_i/sd_i² − Σ_j M_ij·H¹_ij,
//
// as δ and φ' are constant in x almost everywhere; ι are the residuals of the mean row.
func (r *DeepReplay) GradientTo(dst, x kernels.Matrix, picks []int) float64 {
	cells := r.shape.sizes[0]
	if x.Rows%2 != 0 || x.Rows == 0 || dst.Rows != x.Rows || dst.Cols != cells || x.Cols != cells ||
		len(picks) == 0 {
		panic(fmt.Sprintf("gan: replay of %d snapshots on %d × %d cells into %d × %d", len(picks),
			x.Rows, x.Cols, dst.Rows, dst.Cols))
	}
	half := x.Rows / 2
	if r.tutor == nil || r.tutor.batch != x.Rows {
		r.tutor, r.down = r.shape.NewTutor(x.Rows), nil
		for _, units := range r.shape.sizes[1 : len(r.shape.sizes)-1] {
			r.down = append(r.down, kernels.New(half, units))
		}
	}
	scale := 1 / float32(half)
	for side := range 2 {
		columnSums(r.mean[side], rows(x, side*half, half))
		for i := range r.mean[side] {
			r.mean[side][i] *= scale
		}
	}
	clear(dst.Data)
	loss := 0.
	for _, pick := range picks {
		m := &r.snapshots[pick]
		r.tutor.c = m.Critic
		r.tutor.forward(x)
		for side := range 2 {
			in := rows(x, side*half, half)
			for l, part := range r.parts[side] {
				part.collect(in, rows(r.tutor.delta[l], side*half, half))
				in = rows(r.tutor.x[l], side*half, half)
			}
		}
		loss += r.residuals(m, scale, 1/(m.count*float32(len(picks))))
		for side := range 2 {
			r.descend(rows(dst, side*half, half), m.Critic, side, scale)
		}
	}
	if r.tables != nil {
		loss += r.tables.addTo(dst, x)
	}
	return loss
}

// residuals returns the loss of a snapshot times norm, and turns the summed gradients h into H·norm
// and pull into what all rows share.
func (r *DeepReplay) residuals(m *deepMemory, scale, norm float32) float64 {
	loss, units := 0., r.shape.sizes[1]
	for i, inverse := range m.SDInputs {
		a, b := (r.mean[0][i]-m.MeanInputs[i])*inverse, (r.mean[1][i]-m.MeanInputs[i])*inverse
		loss += float64(a * b)
		r.pull[0][i], r.pull[1][i] = a*inverse*norm, b*inverse*norm
	}
	for k, inverse := range m.SDs {
		a, b := r.h[0][k]*scale-m.Means[k], r.h[1][k]*scale-m.Means[k]
		i := k / units
		if k < len(m.Predict) {
			a -= m.Predict[k] * r.mean[0][i]
			b -= m.Predict[k] * r.mean[1][i]
		}
		a, b = a*inverse, b*inverse
		loss += float64(a * b)
		a, b = a*inverse*norm, b*inverse*norm
		r.h[0][k], r.h[1][k] = a, b
		if k < len(m.Predict) {
			r.pull[0][i] -= m.Predict[k] * a
			r.pull[1][i] -= m.Predict[k] * b
		}
	}
	return loss * float64(norm)
}

// descend adds the gradient with respect to the rows of one half.
func (r *DeepReplay) descend(dst kernels.Matrix, c *Critic, side int, scale float32) {
	half, h := dst.Rows, r.parts[1-side]
	for l := len(h) - 1; l >= 0; l-- {
		to, factor, keep := dst, scale, float32(1)
		if l > 0 {
			to, factor, keep = r.down[l-1], 1, 0
		}
		kernels.MulTo(to, factor, rows(r.tutor.delta[l], side*half, half), h[l].w.T(), keep)
		if l < len(h)-1 {
			kernels.MulTo(to, factor, r.down[l], c.layers[l].w.T(), 1)
		}
		if l > 0 {
			kernels.DescendTo(to.Data, rows(r.tutor.s[l-1], side*half, half).Data, c.slope)
		}
	}
	pull := r.pull[1-side]
	for i := range half {
		row := dst.Row(i)
		for k, p := range pull {
			row[k] += scale * p
		}
	}
}
