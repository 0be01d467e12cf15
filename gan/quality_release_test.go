package gan

import (
	"math"
	"math/rand/v2"
)

// release sums, adds noise with the scales of a sketched certificate, blocks or residual, and
// returns the measurement, the mean gradient it gives of W, b, w, and the root of the total
// variance.
func (q *problem) release(s settings, c *Critic, visible []bool, z, n float64,
	u *rand.Rand) (Snapshot, []float32, float64) {
	e, h := q.e, s.H
	w, b := c.Layer(0)
	out, _ := c.Layer(1)
	cells := e.Cells()
	sums, inputs := make([]int64, len(c.Parameters())), make([]int64, cells)
	const factor = 0x1p-16
	c.AddSumTo(sums, inputs, factor, q.columns, nil)
	mean := make([]float64, len(sums))
	for i, v := range sums {
		mean[i] = float64(v) * factor * factor / n
	}
	meanX := make([]float64, cells)
	for i, v := range inputs {
		meanX[i] = float64(v) / n
	}

	// intervals
	lo, hi := make([]float64, h), make([]float64, h)
	for j := range h {
		lo[j], hi[j] = float64(b[j]), float64(b[j])
		for k := range e.Columns() {
			least, most := math.Inf(1), math.Inf(-1)
			for i := e.offsets[k]; i < e.offsets[k+1]; i++ {
				least, most = min(least, float64(w[i*h+j])), max(most, float64(w[i*h+j]))
			}
			lo[j] += least
			hi[j] += most
		}
	}
	phi := func(x float64) float64 { return max(x, s.Slope*x) }
	predict, predictOut := make([]float64, cells*h), make([]float64, cells*h)
	half, level := make([]float64, h), make([]float64, h) // of δ
	chordOf := make([]float64, h)
	outHalf := make([]float64, h)
	for j := range h {
		p0, p1 := s.Slope, 1.
		if lo[j] > 0 {
			p0 = 1
		}
		if hi[j] < 0 {
			p1 = s.Slope
		}
		o := float64(out[j])
		half[j], level[j] = (p1-p0)/2*math.Abs(o), o*(p0+p1)/2
		outHalf[j] = (phi(hi[j]) - phi(lo[j])) / 2
		if s.Residual == 1 {
			chordOf[j] = s.Slope
			if hi[j] > lo[j] {
				chordOf[j] = (phi(hi[j]) - phi(lo[j])) / (hi[j] - lo[j])
			}
			rest := func(x float64) float64 { return phi(x) - chordOf[j]*x }
			outHalf[j] = (rest(hi[j]) - rest(max(lo[j], min(hi[j], 0)))) / 2
		}
	}
	size := 0.
	omega := make([]float64, cells)
	for j := range h {
		size += s.Out * (half[j] + outHalf[j])
		for k := range e.Columns() {
			first, m := e.offsets[k], float64(e.offsets[k+1]-e.offsets[k])
			if !visible[first*h+j] {
				continue
			}
			d := half[j]
			if s.Residual == 0 {
				d = max(math.Abs(level[j]+half[j]), math.Abs(level[j]-half[j]))
			}
			size += math.Sqrt(m) * d
			if s.Residual == 1 {
				average := 0.
				for i := first; i < first+int(m); i++ {
					average += float64(w[i*h+j]) / m
				}
				for i := first; i < first+int(m); i++ {
					predict[i*h+j] = level[j]
					predictOut[i*h+j] = chordOf[j] * float64(w[i*h+j])
					l := chordOf[j] * (float64(w[i*h+j]) - average)
					omega[i] += level[j]*level[j] + l*l
				}
			}
		}
	}
	inputE := make([]float64, e.Columns())
	if s.Residual == 1 {
		for k := range inputE {
			sum := 0.
			for i := e.offsets[k]; i < e.offsets[k+1]; i++ {
				sum += omega[i]
			}
			inputE[k] = math.Sqrt(sum) * s.Boost
			size += inputE[k] * math.Sqrt(1-1/float64(e.offsets[k+1]-e.offsets[k]))
		}
	}

	snap := Snapshot{Slope: float32(s.Slope), Weights: w, Bias: b, Output: out,
		MeanWeights: make([]float32, cells*h), SDWeights: make([]float32, cells*h),
		MeanBias: make([]float32, h), SDBias: make([]float32, h),
		MeanOut: make([]float32, h), SDOut: make([]float32, h)}
	noisy := func(value, scale float64) (float32, float32) {
		if scale == 0 {
			return 0, float32(math.Inf(1)) // known
		}
		sd := z * scale / n
		return float32(value + sd*u.NormFloat64()), float32(sd)
	}
	gradient := make([]float32, len(c.Parameters()))
	noisyX := make([]float64, cells)
	if s.Residual == 1 {
		snap.PredictWeights, snap.PredictOut = make([]float32, cells*h), make([]float32, cells*h)
		snap.MeanInputs, snap.SDInputs = make([]float32, cells), make([]float32, cells)
		for i := range predict {
			snap.PredictWeights[i], snap.PredictOut[i] = float32(predict[i]), float32(predictOut[i])
		}
		for k := range inputE {
			q := math.Sqrt(1 - 1/float64(e.offsets[k+1]-e.offsets[k]))
			for i := e.offsets[k]; i < e.offsets[k+1]; i++ {
				snap.MeanInputs[i], snap.SDInputs[i] = noisy(meanX[i],
					math.Sqrt(size*q/max(inputE[k], 1e-9)))
				noisyX[i] = float64(snap.MeanInputs[i])
			}
		}
	}
	for j := range h {
		rest := mean[cells*h+h+j]
		for i := range cells {
			rest -= predictOut[i*h+j] * meanX[i]
		}
		snap.MeanOut[j], snap.SDOut[j] = noisy(rest, math.Sqrt(size*outHalf[j]/s.Out))
		snap.MeanBias[j], snap.SDBias[j] = noisy(mean[cells*h+j], math.Sqrt(size*half[j]/s.Out))
		gradient[cells*h+j] = snap.MeanBias[j]
		gradient[cells*h+h+j] = snap.MeanOut[j]
		for i := range cells {
			gradient[cells*h+h+j] += float32(predictOut[i*h+j] * noisyX[i])
		}
		for k := range e.Columns() {
			first, m := e.offsets[k], float64(e.offsets[k+1]-e.offsets[k])
			d := half[j]
			if s.Residual == 0 {
				d = max(math.Abs(level[j]+half[j]), math.Abs(level[j]-half[j]))
			}
			for i := first; i < first+int(m); i++ {
				x := i*h + j
				if !visible[x] {
					snap.SDWeights[x] = float32(math.Inf(1))
					continue
				}
				snap.MeanWeights[x], snap.SDWeights[x] = noisy(mean[x]-predict[x]*meanX[i],
					math.Sqrt(size*d/math.Sqrt(m)))
				gradient[x] = snap.MeanWeights[x] + float32(predict[x]*noisyX[i])
			}
		}
	}
	return snap, gradient, size
}
