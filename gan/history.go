package gan

import (
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/internal/kernels"
	"github.com/decoy-dp/decoy/internal/matrix"
)

// Measurement is the noisy mean over private rows of the gradient of a critic's score, which the
// gate released: with δ^l = ∇_{s^l} D and x⁰ the row
//
//	x^{l−1}_i·δ^l_j   (∇W^l),    δ^l_j   (∇b^l).
//
// In mode residual of package bounds the mean of the row itself is measured too, and what it
// predicts is taken off: of W¹ x⁰_i·(δ¹_j − M_ij) was measured, and of W² with one hidden layer
// x¹_j − Σ_i L_ij·x⁰_i. A standard deviation of +Inf marks what was not measured.
type Measurement struct {
	Critic               *critic.Critic
	Means, SDs           []float32 // in the order of Parameters; standard deviations > 0
	Predict, PredictOut  []float32 // M and L, shaped like W¹; nil for none
	MeanInputs, SDInputs []float32 // one an input; nil for not measured
}

// measured is a Measurement as the loss needs it: 1/sd in place of sd, 0 where nothing was
// measured. The last bias, whose gradient is 1 whatever the row, is left out.
type measured struct {
	Measurement
	layers    []matrix.Affine
	mean, inv []matrix.Affine // of each layer, the means and 1/sd
	// With one hidden layer w = W², of which D is linear. Else D is taken as the sum of δ¹_j·s¹_j:
	// w is 1, nothing is measured of W², and what lies above is compared by History.above.
	output, meanOut, invOut []float32
	count                   float32 // of what was measured
}

// History is the measurement history of a training: measurements of critics of one shape. It is for
// one goroutine at a time.
type History struct {
	shape         *critic.Critic
	inputs, units int
	list          []measured
	w             Matrix       // W¹ of the picks, side by side: inputs × picks·units
	b             []float32    // b¹
	m             [2]Matrix    // of either half of the rows, the mean of xᵀP; then H
	s, p, x       Matrix       // batch × picks·units: s¹, P = φ'(s¹) or δ¹, φ(s¹)
	sumP, sumX    [2][]float32 // column sums of P and φ(s¹)
	mean          [2][]float32 // of the rows
	pull          [2][]float32 // gradient that all rows of the other half share
	upper         *upper       // nil with one hidden layer
}

// minSD is what smaller standard deviations are raised to: float32 means are not more exact.
const minSD = 1e-6

// NewHistory returns an empty history for critics of the shape and slope of c, and the rows that
// c's encoder is for.
func NewHistory(c *critic.Critic) *History {
	sizes := c.Sizes()
	h := &History{shape: c.Clone(), inputs: sizes[0], units: sizes[1]}
	for side := range 2 {
		h.mean[side], h.pull[side] = make([]float32, sizes[0]), make([]float32, sizes[0])
	}
	if len(sizes) > 3 {
		h.upper = newUpper(c)
	}
	return h
}

// Len is the number of measurements.
func (h *History) Len() int { return len(h.list) }

// Add remembers a copy of m. It panics if a shape does not fit, and returns an error unless all
// numbers are finite and all standard deviations positive.
func (h *History) Add(m Measurement) error {
	weights := h.inputs * h.units
	if m.Predict == nil {
		m.Predict = make([]float32, weights)
	}
	if m.PredictOut == nil {
		m.PredictOut = make([]float32, weights)
	}
	if m.MeanInputs == nil && m.SDInputs == nil {
		m.MeanInputs = make([]float32, h.inputs)
		m.SDInputs = slices.Repeat([]float32{float32(math.Inf(1))}, h.inputs)
	}
	n := len(h.shape.Parameters())
	got := []int{len(m.Means), len(m.SDs), len(m.Predict), len(m.PredictOut), len(m.MeanInputs),
		len(m.SDInputs)}
	if !slices.Equal(m.Critic.Sizes(), h.shape.Sizes()) || m.Critic.Slope() != h.shape.Slope() ||
		!slices.Equal(got, []int{n, n, weights, weights, h.inputs, h.inputs}) {
		panic(fmt.Sprintf("gan: a measurement of %d numbers of a critic of %d units, slope %v, "+
			"in a history of %d, slope %v", got, m.Critic.Sizes(), m.Critic.Slope(),
			h.shape.Sizes(), h.shape.Slope()))
	}
	m.Critic = m.Critic.Clone()
	for _, part := range []*[]float32{&m.Means, &m.Predict, &m.PredictOut, &m.MeanInputs} {
		*part = slices.Clone(*part)
	}
	for _, part := range [][]float32{m.Critic.Parameters(), m.Means, m.Predict, m.PredictOut,
		m.MeanInputs} {
		for _, x := range part {
			if x-x != 0 {
				return fmt.Errorf("measurement %d holds a number that is not finite",
					len(h.list)+1)
			}
		}
	}
	out := measured{Measurement: m}
	for _, part := range []*[]float32{&out.SDs, &out.SDInputs} {
		inverse := make([]float32, len(*part))
		for i, sd := range *part {
			if !(sd > 0) {
				return fmt.Errorf("measurement %d holds a standard deviation of %v",
					len(h.list)+1, sd)
			}
			if inverse[i] = 1 / max(sd, minSD); inverse[i] > 0 && (len(*part) != n || i < n-1) {
				out.count++
			}
		}
		*part = inverse
	}
	if out.count == 0 {
		return fmt.Errorf("measurement %d measures nothing", len(h.list)+1)
	}
	out.layers, out.mean = views(m.Critic, m.Critic.Parameters()), views(m.Critic, out.Means)
	out.inv = views(m.Critic, out.SDs)
	out.output, out.meanOut, out.invOut = out.layers[1].W.Data, out.mean[1].W.Data,
		out.inv[1].W.Data
	if h.upper != nil {
		out.output = slices.Repeat([]float32{1}, h.units)
		out.meanOut, out.invOut = make([]float32, h.units), make([]float32, h.units)
	}
	h.list = append(h.list, out)
	return nil
}

// GradientTo compares x, rows of cells, relaxed or hard, with the measurements in picks, and sets
// dst, shaped like x, to the gradient with respect to them of
//
//	L = mean over picks t and over what t measured of (a_k − m_k)/sd_k · (b_k − m_k)/sd_k,
//
// where m_k is what was released and a, b are the means over the first and the second half of the
// rows: an unbiased estimate of the squared error of the generator's own mean. (With one mean in
// place of a and b its variance is added, and a generator learns to vary less.) δ and φ' are taken
// as constant in the rows, which they are almost everywhere. It returns L. The number of rows
// must be even; picks may repeat.
func (h *History) GradientTo(dst, x Matrix, picks []int) float64 {
	if x.Rows%2 != 0 || x.Rows == 0 || dst.Rows != x.Rows || dst.Cols != h.inputs ||
		x.Cols != h.inputs || len(picks) == 0 {
		panic(fmt.Sprintf("gan: a history compares %d measurements of %d × %d cells into %d × %d",
			len(picks), x.Rows, x.Cols, dst.Rows, dst.Cols))
	}
	h.stack(picks, x.Rows)
	h.forward(x)
	half := x.Rows / 2
	scale, loss := 1/float32(half), 0.
	for t, pick := range picks {
		if h.upper != nil {
			loss += h.above(&h.list[pick], t, scale, 1/float32(len(picks)))
		}
	}
	for side := range 2 {
		part := rows(h.p, side*half, half)
		matrix.MulTo(h.m[side], scale, rows(x, side*half, half).T(), part, 0)
		columnSums(h.sumP[side], part)
		columnSums(h.sumX[side], rows(h.x, side*half, half))
		columnSums(h.mean[side], rows(x, side*half, half))
		for i := range h.mean[side] {
			h.mean[side][i] *= scale
			h.pull[side][i] = 0
		}
	}
	loss += h.residuals(picks, scale)
	for side := range 2 { // residuals of one half weigh the rows of the other
		part, pull := rows(dst, side*half, half), h.pull[1-side]
		for i := range pull {
			pull[i] *= scale
		}
		for i := range half {
			copy(part.Row(i), pull)
		}
		matrix.MulTo(part, scale, rows(h.p, side*half, half), h.m[1-side].T(), 1)
	}
	if h.upper != nil {
		matrix.MulTo(dst, scale, h.upper.wide, h.w.T(), 1)
	}
	return loss
}

// stack lays the first layers of the picks side by side and makes room.
func (h *History) stack(picks []int, batch int) {
	wide := len(picks) * h.units
	if h.w.Cols != wide {
		h.w, h.b = matrix.New(h.inputs, wide), make([]float32, wide)
		for side := range 2 {
			h.m[side] = matrix.New(h.inputs, wide)
			h.sumP[side], h.sumX[side] = make([]float32, wide), make([]float32, wide)
		}
	}
	if h.s.Cols != wide || h.s.Rows != batch {
		h.s, h.p, h.x = matrix.New(batch, wide), matrix.New(batch, wide), matrix.New(batch, wide)
	}
	for t, pick := range picks {
		first := h.list[pick].layers[0]
		copy(h.b[t*h.units:], first.B)
		for i := range h.inputs {
			copy(h.w.Row(i)[t*h.units:], first.W.Row(i))
		}
	}
}

// forward runs the first layers of the picks.
func (h *History) forward(x Matrix) {
	for i := range h.s.Rows {
		copy(h.s.Row(i), h.b)
	}
	matrix.MulTo(h.s, 1, x, h.w, 1)
	for i := range h.p.Data {
		h.p.Data[i] = 1
	}
	kernels.DescendTo(h.p.Data, h.s.Data, h.shape.Slope())
	kernels.LeakyReLUTo(h.x.Data, h.s.Data, h.shape.Slope())
}

// residuals returns the loss and turns m, the means of xᵀP of either half, into matrices H, and
// sets pull, such that P·Hᵀ + pull is the gradient with respect to the rows of the other half, but
// for the factor scale = 1/half:
//
//	H_ij = w_j·r_ij/sd_ij + W_ij·ρ_j/sd_j
//	pull_i = ι_i/sd_i − Σ_j M_ij·r_ij/sd_ij − Σ_j L_ij·ρ_j/sd_j
//
// with r, ρ and ι the residuals of ∇W¹, ∇w and x in units of sd. (∇b¹ has no gradient, as φ' is
// constant.)
func (h *History) residuals(picks []int, scale float32) float64 {
	loss := 0.
	for t, pick := range picks {
		m := &h.list[pick]
		at := t * h.units
		norm := 1 / (m.count * float32(len(picks)))
		outA, outB := h.sumX[0][at:][:h.units], h.sumX[1][at:][:h.units]
		for j := range outA {
			outA[j], outB[j] = outA[j]*scale-m.meanOut[j], outB[j]*scale-m.meanOut[j]
		}
		for i, x := range h.mean[0] {
			y := h.mean[1][i]
			for j, p := range m.PredictOut[i*h.units:][:h.units] {
				outA[j] -= p * x
				outB[j] -= p * y
			}
		}
		var sum float32
		pA, pB := h.sumP[0][at:][:h.units], h.sumP[1][at:][:h.units]
		for j, w := range m.output {
			inverse, mean := m.inv[0].B[j], m.mean[0].B[j]
			sum += (pA[j]*scale*w - mean) * inverse * (pB[j]*scale*w - mean) * inverse
			inverse = m.invOut[j]
			a, b := outA[j]*inverse, outB[j]*inverse
			sum += a * b
			outA[j], outB[j] = a*inverse*norm, b*inverse*norm
		}
		loss += float64(sum * norm)
		for i := range h.inputs {
			loss += float64(h.input(m, i, at, norm) * norm)
		}
	}
	return loss
}

// input is the part of residuals that belongs to input i, and returns its part of the loss. at is
// the first column of measurement m.
func (h *History) input(m *measured, i, at int, norm float32) float32 {
	n := h.units
	x, y := h.mean[0][i], h.mean[1][i]
	target, inverse, weights := m.mean[0].W.Row(i), m.inv[0].W.Row(i), m.layers[0].W.Row(i)
	predict, predictOut := m.Predict[i*n:][:n], m.PredictOut[i*n:][:n]
	rowA, rowB := h.m[0].Row(i)[at:][:n], h.m[1].Row(i)[at:][:n]
	outA, outB := h.sumX[0][at:][:n], h.sumX[1][at:][:n]
	inv := m.SDInputs[i]
	a, b := (x-m.MeanInputs[i])*inv, (y-m.MeanInputs[i])*inv
	sum, pullA, pullB := a*b, a*inv*norm, b*inv*norm
	for j, w := range m.output[:n] {
		inv, p, q := inverse[j], predict[j], predictOut[j]
		a, b := (rowA[j]*w-p*x-target[j])*inv, (rowB[j]*w-p*y-target[j])*inv
		sum += a * b
		a, b = a*inv*norm, b*inv*norm
		rowA[j], rowB[j] = a*w+weights[j]*outA[j], b*w+weights[j]*outB[j]
		pullA -= p*a + q*outA[j]
		pullB -= p*b + q*outB[j]
	}
	h.pull[0][i] += pullA
	h.pull[1][i] += pullB
	return sum
}

// rows views n rows of m from the given one.
func rows(m Matrix, first, n int) Matrix {
	return matrix.Dense(n, m.Cols, m.Data[first*m.Cols:(first+n)*m.Cols])
}

func columnSums(dst []float32, m Matrix) {
	clear(dst)
	for i := range m.Rows {
		kernels.AddTo(dst, m.Row(i))
	}
}
