package gan

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/internal/kernels"
)

// Snapshot is one measurement: a critic with one hidden layer, D(x) = wᵀφ(xᵀW + b) + const, and the
// noisy mean over private rows of its gradient, which the gate released. With P = φ'(xᵀW + b),
// means over rows are measured of
//
//	x_i·P_j·w_j   (∇W),    P_j·w_j   (∇b),    φ(s_j)   (∇w).
//
// With predictors, as in the residual mode of package bounds, the mean of x itself is measured too
// and what it predicts is taken off:
//
//	x_i    x_i·(P_j·w_j − M_ij),    P_j·w_j,    φ(s_j) − Σ_i L_ij·x_i.
//
// (From a bounds.Certificate: M and L are minus the parts of the inputs in its EncodeMeanTo, and a
// released mean is the released sum times Grid over the public number of rows, plus Centre.)
//
// A standard deviation of +Inf marks what was not measured: a critic whose units look at some
// columns only has no more.
type Snapshot struct {
	Slope                          float32   // of φ, LeakyReLU
	Weights                        []float32 // W, cells × units, row-major
	Bias, Output                   []float32 // b, w: units
	MeanWeights, MeanBias, MeanOut []float32 // released means, shaped like Weights, Bias, Output
	SDWeights, SDBias, SDOut       []float32 // their standard deviations, > 0

	PredictWeights, PredictOut []float32 // M, L: shaped like Weights; nil for none
	// released mean of x and its standard deviations, one a cell; nil for not measured
	MeanInputs, SDInputs []float32
}

// memory is a snapshot as the loss needs it: 1/sd in place of sd, 0 where nothing was measured.
type memory struct {
	Snapshot
	count float32 // of what was measured
}

// Replay remembers measurements of critics with a common number of hidden units and slope. It is
// for one goroutine at a time.
type Replay struct {
	cells, units int
	slope        float32
	snapshots    []memory
	tables       *tables        // nil for none
	w, m, m2     kernels.Matrix // cells × picks·units
	b            []float32
	hot          [][]int32      // of each row of a hard batch, the cells that are 1
	s, p         kernels.Matrix // batch × picks·units
	sumP, sumX   []float32      // column sums of P and φ(s), of either half
	sumP2, sumX2 []float32
	mean, mean2  []float32 // of the rows of either half
	pull, pull2  []float32 // gradient that all rows of a half share
}

// minSD is what smaller standard deviations are raised to: float32 means are not more exact.
const minSD = 1e-6

// NewReplay returns an empty memory for rows of the given encoder, and critics of units hidden
// units with slope in [0, 1].
func NewReplay(e *Encoder, units int, slope float32) *Replay {
	if units < 1 || !(slope >= 0 && slope <= 1) {
		panic(fmt.Sprintf("gan: replay of %d units with slope %v", units, slope))
	}
	return &Replay{cells: e.Inputs(), units: units, slope: slope}
}

// Len is the number of snapshots.
func (r *Replay) Len() int { return len(r.snapshots) }

// Add remembers a copy of s. It panics if a shape does not fit, and returns an error unless all
// numbers are finite and all standard deviations positive.
func (r *Replay) Add(s Snapshot) error {
	n := r.cells * r.units
	if s.PredictWeights == nil {
		s.PredictWeights = make([]float32, n)
	}
	if s.PredictOut == nil {
		s.PredictOut = make([]float32, n)
	}
	if s.MeanInputs == nil && s.SDInputs == nil {
		s.MeanInputs, s.SDInputs = make([]float32, r.cells), make([]float32, r.cells)
		for i := range s.SDInputs {
			s.SDInputs[i] = float32(math.Inf(1))
		}
	}
	for _, x := range []struct {
		got, want int
	}{{len(s.PredictWeights), n}, {len(s.PredictOut), n}, {len(s.MeanInputs), r.cells},
		{len(s.SDInputs), r.cells}, {len(s.Weights), n}, {len(s.MeanWeights), n},
		{len(s.SDWeights), n}, {len(s.Bias), r.units}, {len(s.MeanBias), r.units},
		{len(s.SDBias), r.units},
		{len(s.Output), r.units}, {len(s.MeanOut), r.units}, {len(s.SDOut), r.units}} {
		if x.got != x.want {
			panic(fmt.Sprintf("gan: snapshot with %d numbers where %d are needed", x.got, x.want))
		}
	}
	if s.Slope != r.slope {
		panic(fmt.Sprintf("gan: snapshot with slope %v in a replay of slope %v", s.Slope, r.slope))
	}
	m := memory{Snapshot: s}
	for _, part := range []*[]float32{&m.Weights, &m.Bias, &m.Output, &m.MeanWeights, &m.MeanBias,
		&m.MeanOut, &m.PredictWeights, &m.PredictOut, &m.MeanInputs} {
		*part = append([]float32(nil), *part...)
		for _, x := range *part {
			if x-x != 0 {
				return fmt.Errorf("gan: snapshot %d holds a number that is not finite",
					len(r.snapshots)+1)
			}
		}
	}
	for _, part := range []*[]float32{&m.SDWeights, &m.SDBias, &m.SDOut, &m.SDInputs} {
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

// GradientTo compares the rows of x, relaxed or hard cells, with the snapshots in picks, and sets
// dst, shaped like x, to the gradient with respect to x of
//
//	L = mean over picks t and over what t measured of (a_k − m_k)/sd_k · (b_k − m_k)/sd_k,
//
// where m_k is what was released and a, b are the means over the first and the second half of the
// rows: an unbiased estimate of the squared error of the generator's own mean. (With one mean in
// place of a and b its variance is added, and a generator learns to vary less.) φ' is taken as
// constant in x, which it is almost everywhere. It returns L. The number of rows must be even;
// picks may repeat.
func (r *Replay) GradientTo(dst, x kernels.Matrix, picks []int) float64 {
	if x.Rows%2 != 0 || x.Rows == 0 || dst.Rows != x.Rows || dst.Cols != r.cells ||
		x.Cols != r.cells || len(picks) == 0 {
		panic(fmt.Sprintf("gan: replay of %d snapshots on %d × %d cells into %d × %d", len(picks),
			x.Rows, x.Cols, dst.Rows, dst.Cols))
	}
	r.stack(picks, x.Rows)
	hard := r.findHot(x)
	for i := range r.s.Rows {
		s := r.s.Row(i)
		copy(s, r.b)
		if hard {
			for _, cell := range r.hot[i] {
				kernels.AddTo(s, r.w.Row(int(cell)))
			}
		}
	}
	if !hard {
		kernels.MulTo(r.s, 1, x, r.w, 1)
	}
	kernels.SlopesTo(r.p.Data, r.s.Data, r.slope)
	kernels.LeakyReLUTo(r.s.Data, r.s.Data, r.slope)
	half := x.Rows / 2
	scale := 1 / float32(half)
	means := [2]kernels.Matrix{r.m, r.m2}
	xs, pulls := [2][]float32{r.mean, r.mean2}, [2][]float32{r.pull, r.pull2}
	sumP, sumX := [2][]float32{r.sumP, r.sumP2}, [2][]float32{r.sumX, r.sumX2}
	for side := range 2 {
		part := rows(r.p, side*half, half)
		if hard {
			sumHot(means[side], scale, part, r.hot[side*half:])
		} else {
			kernels.MulTo(means[side], scale, rows(x, side*half, half).T(), part, 0)
		}
		columnSums(sumP[side], part)
		columnSums(sumX[side], rows(r.s, side*half, half))
		columnSums(xs[side], rows(x, side*half, half))
		for i := range xs[side] {
			xs[side][i] *= scale
			pulls[side][i] = 0
		}
	}
	loss := r.residuals(picks, scale)
	for side := range 2 { // residuals of one half weigh the rows of the other
		part, pull := rows(dst, side*half, half), pulls[1-side]
		for i := range pull {
			pull[i] *= scale
		}
		for i := range half {
			copy(part.Row(i), pull)
		}
		kernels.MulTo(part, scale, rows(r.p, side*half, half), means[1-side].T(), 1)
	}
	if r.tables != nil {
		loss += r.tables.addTo(dst, x)
	}
	return loss
}

// findHot lists the cells of each row that are 1 and reports whether all others are 0: products
// with such rows are sums of a few rows.
func (r *Replay) findHot(x kernels.Matrix) bool {
	if len(r.hot) < x.Rows {
		r.hot = make([][]int32, x.Rows)
	}
	for i := range x.Rows {
		hot := r.hot[i][:0]
		for c, v := range x.Row(i) {
			if bits := math.Float32bits(v); bits != 0 { // −0 counts as another number
				if v != 1 {
					return false
				}
				hot = append(hot, int32(c))
			}
		}
		r.hot[i] = hot
	}
	return true
}

// sumHot sets dst to scale·xᵀp, where hot lists the cells of x that are 1.
func sumHot(dst kernels.Matrix, scale float32, p kernels.Matrix, hot [][]int32) {
	clear(dst.Data)
	for i := range p.Rows {
		row := p.Row(i)
		for _, cell := range hot[i] {
			kernels.AddTo(dst.Row(int(cell)), row)
		}
	}
	for i := range dst.Data {
		dst.Data[i] *= scale
	}
}

// stack lays the weights of the picks side by side and makes room.
func (r *Replay) stack(picks []int, batch int) {
	wide := len(picks) * r.units
	if r.w.Cols != wide {
		r.w, r.m, r.m2, r.b = kernels.New(r.cells, wide), kernels.New(r.cells, wide),
			kernels.New(r.cells, wide), make([]float32, wide)
		r.sumP, r.sumX, r.sumP2, r.sumX2 = make([]float32, wide), make([]float32, wide),
			make([]float32, wide), make([]float32, wide)
	}
	if r.mean == nil {
		r.mean, r.mean2, r.pull, r.pull2 = make([]float32, r.cells), make([]float32, r.cells),
			make([]float32, r.cells), make([]float32, r.cells)
	}
	if r.s.Cols != wide || r.s.Rows != batch {
		r.s, r.p = kernels.New(batch, wide), kernels.New(batch, wide)
	}
	for t, pick := range picks {
		m := &r.snapshots[pick]
		copy(r.b[t*r.units:], m.Bias)
		for i := range r.cells {
			copy(r.w.Row(i)[t*r.units:], m.Weights[i*r.units:][:r.units])
		}
	}
}

// residuals returns the loss and turns m and m2, the means of xᵀP of either half, into matrices H,
// and sets pull and pull2, such that P·Hᵀ + pull is the gradient with respect to the rows of the
// other half, but for the factor scale = 1/half:
//
//	H_ij = w_j·r_ij/sd_ij + W_ij·ρ_j/sd_j,    pull_i = ι_i/sd_i − Σ_j M_ij·r_ij/sd_ij − Σ_j L_ij·ρ_j/sd_j
//
// with r, ρ and ι the residuals of ∇W, ∇w and x in units of sd. (∇b has no gradient, as φ' is
// constant.)
func (r *Replay) residuals(picks []int, scale float32) float64 {
	loss := 0.
	for t, pick := range picks {
		m := &r.snapshots[pick]
		at := t * r.units
		norm := 1 / (m.count * float32(len(picks)))
		outA, outB := r.sumX[at:][:r.units], r.sumX2[at:][:r.units]
		for j := range outA {
			outA[j], outB[j] = outA[j]*scale-m.MeanOut[j], outB[j]*scale-m.MeanOut[j]
		}
		for i, x := range r.mean {
			y := r.mean2[i]
			for j, p := range m.PredictOut[i*r.units:][:r.units] {
				outA[j] -= p * x
				outB[j] -= p * y
			}
		}
		var sum float32
		pA, pB := r.sumP[at:][:r.units], r.sumP2[at:][:r.units]
		for j, w := range m.Output {
			inverse := m.SDBias[j]
			sum += (pA[j]*scale*w - m.MeanBias[j]) * inverse * (pB[j]*scale*w - m.MeanBias[j]) * inverse
			inverse = m.SDOut[j]
			a, b := outA[j]*inverse, outB[j]*inverse
			sum += a * b
			outA[j], outB[j] = a*inverse*norm, b*inverse*norm
		}
		loss += float64(sum * norm)
		for i := range r.cells {
			loss += float64(r.cell(m, i, at, norm) * norm)
		}
	}
	return loss
}

// cell is the part of residuals that belongs to cell i, and returns its part of the loss. at is the
// first column of snapshot m.
func (r *Replay) cell(m *memory, i, at int, norm float32) float32 {
	from, n := i*r.units, r.units
	x, y := r.mean[i], r.mean2[i]
	target, inverse, weights := m.MeanWeights[from:][:n], m.SDWeights[from:][:n],
		m.Weights[from:][:n]
	predict, predictOut := m.PredictWeights[from:][:n], m.PredictOut[from:][:n]
	rowA, rowB := r.m.Row(i)[at:][:n], r.m2.Row(i)[at:][:n]
	outA, outB := r.sumX[at:][:n], r.sumX2[at:][:n]
	inv := m.SDInputs[i]
	a, b := (x-m.MeanInputs[i])*inv, (y-m.MeanInputs[i])*inv
	sum, pullA, pullB := a*b, a*inv*norm, b*inv*norm
	for j, w := range m.Output[:n] {
		inv, p, q := inverse[j], predict[j], predictOut[j]
		a, b := (rowA[j]*w-p*x-target[j])*inv, (rowB[j]*w-p*y-target[j])*inv
		sum += a * b
		a, b = a*inv*norm, b*inv*norm
		rowA[j], rowB[j] = a*w+weights[j]*outA[j], b*w+weights[j]*outB[j]
		pullA -= p*a + q*outA[j]
		pullB -= p*b + q*outB[j]
	}
	r.pull[i] += pullA
	r.pull2[i] += pullB
	return sum
}

// rows views n rows of m from the given one.
func rows(m kernels.Matrix, first, n int) kernels.Matrix {
	return kernels.Dense(n, m.Cols, m.Data[first*m.Cols:(first+n)*m.Cols])
}

func columnSums(dst []float32, m kernels.Matrix) {
	clear(dst)
	for i := range m.Rows {
		kernels.AddTo(dst, m.Row(i))
	}
}
